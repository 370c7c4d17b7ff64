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
  Count arity = 2;  ///< arity of the shapes kary and knomial; binomial is knomial with arity 2
  /// Latency of the shape `postal`: the number of messages that a node can send until the first of
  /// them arrives. With latency 1 the tree is a binomial tree, except for the order of its nodes.
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
/// Word that replaces the name of a shape at a level whose groups the tree ignores.
inline constexpr std::string_view no_shape = "none";

/// A multilevel tree. At each level, every group has a tree whose nodes are the groups inside it.
/// If a group contains the root, the root represents the group. Otherwise the first member of the
/// group represents it. The nodes of a tree are in config order, rotated to begin with the root's
/// group. A participant that represents groups of several levels sends at the outermost level
/// first.
/// Paper: Karonis et al. 2002.
class Tree {
 public:
  /// Builds the tree. `shapes` has one shape for each level, the shape of the outermost level
  /// first. The tree ignores levels with the shape `no_shape`. The last shape applies to all
  /// further levels, and must not be `no_shape`.
  Tree(const Topology& topology, std::vector<Shape> shapes, Rank root);
  /// Builds one tree over all participants in config order. Ignores all groups.
  static Tree of_one_level(const Topology& topology, Shape shape, Rank root);

  Rank root() const { return root_; }
  struct Child {
    Rank rank;
    std::size_t level;  ///< level of the edge to the child; 0 = outermost
  };
  struct Node {
    Rank parent = 0;        ///< rank of the parent; at the root, the root's own rank
    std::size_t level = 0;  ///< level of the edge to the parent
    std::vector<Child> children;
  };
  Node node(Rank rank) const;
  /// Returns the participant and all participants below it in the tree: first the participant
  /// itself, then the subtree of each child.
  std::vector<Rank> subtree(Rank rank) const;
  /// Whether a sum that goes up the tree has its operands in config order.
  bool keeps_order() const;
  /// Whether a sum that goes up the tree has its operands in config order and grouped as in the
  /// topology.
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
