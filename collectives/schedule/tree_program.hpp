// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree_program.hpp — what a participant does along the edges of a tree.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {

/// The elements of a message at most, by level, outermost first, the last one for all that follow;
/// 0: all in one.
struct Segments {
  std::vector<Count> sizes{0};
  Count at(std::size_t level) const { return sizes[std::min(level, sizes.size() - 1)]; }
  Count largest() const;  ///< 0 if one of them is
  Count least() const;    ///< that is not 0, if there is one
};

/// The collectives that a tree can do: broadcast down it, reduce up it, both for allreduce and
/// barrier; gather and scatter with one message for each edge, which has all blocks of the subtree.
Program tree_program(const CollectiveSpec& task, const Tree& tree, const Segments& segments,
                     Rank me);
std::vector<Collective> tree_collectives();

/// The root where the task names none: the first of all.
Rank root_of(const CollectiveSpec& task);
/// The order of a sum that goes up the tree.
Order tree_order(const Tree& tree);

/// The parameters of shapes and segments, and what they come to.
std::vector<Parameter> shape_parameters(bool has_levels);
Segments segments_of(const Parameters& parameters);
Shape shape_named(const std::string& name, const Parameters& parameters);

}  // namespace collectives
