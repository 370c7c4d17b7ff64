// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree.hpp — multilevel trees over groups: parents and children.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "collectives/schedule/topology.hpp"

namespace collectives {

/// The shape of a tree over nodes 0 to size-1 with root 0.
struct Shape {
  std::string name = "binomial";  ///< name of the shape: one of shape_words(), or no_shape
  Count arity = 2;  ///< arity of the shapes kary and knomial; binomial is knomial with 2
  /// Latency of the shape `postal`: the number of messages that a node can send until the first
  /// one arrives. With latency 1 the tree is a binomial tree, except for the order of its nodes.
  /// Paper: Bar-Noy and Kipnis 1994.
  Count latency = 1;

  struct Node {
    std::size_t parent = 0;             ///< undefined for node 0
    std::vector<std::size_t> children;  ///< numbers of the children, in the order of sending
  };
  Node node(std::size_t size, std::size_t at) const;
  /// Whether the nodes of each subtree have consecutive numbers.
  bool keeps_order() const { return name != "kary" && name != "postal"; }
};
std::vector<std::string> shape_words();
/// Word in place of a shape, for a level whose groups the tree ignores.
inline constexpr std::string_view no_shape = "none";

/// A multilevel tree. At each level, every group has a tree whose nodes are the groups inside it.
/// A group is represented by the root if it contains the root, otherwise by its first member. The
/// nodes of a tree are in config order, rotated to begin with the root's group. A participant that
/// represents groups of several levels sends at the outermost level first.
/// Paper: Karonis et al. 2002.
class Tree {
 public:
  /// Builds the tree over all levels that have a shape, with shapes from the outermost level
  /// inwards. The last shape applies to all further levels and must not be `no_shape`.
  Tree(const Topology& topology, std::vector<Shape> shapes, Rank root);
  /// Builds the tree over the participants in order and ignores all groups.
  static Tree of_one_level(const Topology& topology, Shape shape, Rank root);

  Rank root() const { return root_; }
  struct Child {
    Rank rank;
    std::size_t level;  ///< level of the edge to the child; 0 = outermost
  };
  struct Node {
    Rank parent = 0;        ///< rank of the parent; the own rank at the root
    std::size_t level = 0;  ///< level of the edge to the parent
    std::vector<Child> children;
  };
  Node node(Rank rank) const;
  /// Returns the participant and all participants below it: first itself, then each child's
  /// subtree.
  std::vector<Rank> subtree(Rank rank) const;
  /// Whether a sum up the tree has its operands in config order. is_canonical() requires in
  /// addition that the operands are grouped as in the topology.
  bool keeps_order() const;
  bool is_canonical() const;

 private:
  bool is_flat() const;
  Rank representative(std::size_t level, std::size_t group) const;
  const Shape& shape(std::size_t step) const;

  const Topology* topology_;
  std::vector<Shape> shapes_;
  // Numbers of the topology's levels that the tree uses, outermost level (the clusters) first.
  std::vector<std::size_t> levels_;
  Rank root_;
};

}  // namespace collectives
