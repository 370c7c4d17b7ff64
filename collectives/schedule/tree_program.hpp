// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree_program.hpp — steps of a participant along the edges of a tree.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {

/// Maximum number of elements of a message, by level, outermost first (0 = no limit). The last size
/// applies to all further levels.
struct Segments {
  std::vector<Count> sizes{0};
  Count at(std::size_t level) const { return sizes[std::min(level, sizes.size() - 1)]; }
  Count largest() const;  ///< largest size; 0 (no limit) if any size is 0
  Count least() const;    ///< least size other than 0; 0 if all are 0
};

/// Returns the program of `me` for a collective along a tree. A broadcast goes down the tree and a
/// reduce goes up; allreduce and barrier go up and then down. Gather and scatter send one message
/// per edge, with all blocks of the subtree.
Program tree_program(const CollectiveSpec& task, const Tree& tree, const Segments& segments,
                     Rank me);
std::vector<Collective> tree_collectives();

/// Returns the root of the collective, or the first participant if the collective has no root.
Rank root_of(const CollectiveSpec& task);
/// Returns the order of summation of a reduction that goes up the tree.
Order tree_order(const Tree& tree);

/// Returns the parameters that select the shapes and segments of a tree.
std::vector<Parameter> shape_parameters(bool has_levels);
/// Returns the segments that the parameters select.
Segments segments_of(const Parameters& parameters);
Shape shape_named(const std::string& name, const Parameters& parameters);

}  // namespace collectives
