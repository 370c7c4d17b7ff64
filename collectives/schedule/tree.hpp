// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree.hpp — trees over groups: who sends to whom, level by level.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "collectives/schedule/topology.hpp"

namespace collectives {

/// The shape of a tree over 0..size-1 with root 0.
struct Shape {
  std::string name = "binomial";  ///< one of shape_words(), or no_shape
  Count arity = 2;                ///< of kary and knomial; binomial is knomial with 2
  /// Of postal: how many sends of a message take as long as one to arrive (Bar-Noy and Kipnis
  /// 1994); with 1 it is the binomial tree but for the order of its nodes.
  Count latency = 1;

  struct Node {
    std::size_t parent = 0;             ///< means nothing of node 0
    std::vector<std::size_t> children;  ///< in the order in which they are sent to
  };
  Node node(std::size_t size, std::size_t at) const;
  /// Whether each subtree is a range of nodes.
  bool keeps_order() const { return name != "kary" && name != "postal"; }
};
std::vector<std::string> shape_words();
/// In place of the shape of a level: its groups are not told apart, as if there were no such level.
inline constexpr std::string_view no_shape = "none";

/// The multilevel tree of Karonis et al. 2002: at each level one tree over the groups inside a
/// group, each represented by the root if it is in it, else by its first member. They stand in the
/// order of the config, beginning with the root's group and going round. Who represents a group of
/// several levels sends at the outermost one first.
class Tree {
 public:
  /// Over all levels that have a shape; shapes outermost first, the last one, which is one, for
  /// all that follow.
  Tree(const Topology& topology, std::vector<Shape> shapes, Rank root);
  /// Over the participants in order, as if they were in no groups.
  static Tree of_one_level(const Topology& topology, Shape shape, Rank root);

  Rank root() const { return root_; }
  struct Child {
    Rank rank;
    std::size_t level;  ///< 0: outermost
  };
  struct Node {
    Rank parent = 0;        ///< of the root: itself
    std::size_t level = 0;  ///< at which the parent is
    std::vector<Child> children;
  };
  Node node(Rank rank) const;
  /// Everybody below, it first, each child's in turn.
  std::vector<Rank> subtree(Rank rank) const;
  /// Whether a sum up the tree has its operands in the order of the config; and in its grouping.
  bool keeps_order() const;
  bool is_canonical() const;

 private:
  bool is_flat() const;
  Rank representative(std::size_t level, std::size_t group) const;
  const Shape& shape(std::size_t step) const;

  const Topology* topology_;
  std::vector<Shape> shapes_;
  std::vector<std::size_t> levels_;  // of the topology: from the whole to the participants
  Rank root_;
};

}  // namespace collectives
