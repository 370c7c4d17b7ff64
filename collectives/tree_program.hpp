// SPDX-License-Identifier: Apache-2.0
// collectives/tree_program.hpp — what a participant does along the edges of a tree.
#pragma once
#include "collectives/algorithm.hpp"
#include "collectives/tree.hpp"

namespace collectives {

/// The collectives that a tree can do: broadcast down it, reduce up it, both for allreduce and
/// barrier; gather and scatter with one message for each edge, which has all blocks of the subtree.
/// No message has more than `segment` elements, unless that is 0.
Program tree_program(const Task& task, const Tree& tree, Count segment, Rank me);
std::vector<Collective> tree_collectives();

/// The root where the task names none: the first of all.
Rank root_of(const Task& task);
/// The order of a sum that goes up the tree.
Order tree_order(const Tree& tree);

/// The parameters of shapes, and what they come to.
std::vector<Parameter> shape_parameters();
Shape shape_named(const std::string& name, const Parameters& parameters);

}  // namespace collectives
