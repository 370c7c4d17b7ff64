// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree.cpp — parents and children of each tree shape, computed from node
// numbers.
#include "collectives/schedule/tree.hpp"

#include <queue>
#include <tuple>

#include "base/errors.hpp"

namespace collectives {
namespace {

using Node = Shape::Node;

Node flat_node(std::size_t size, std::size_t at) {
  Node node;
  for (std::size_t child = 1; at == 0 && child < size; ++child) node.children.push_back(child);
  return node;
}

Node kary_node(std::size_t size, std::size_t at, std::size_t arity) {
  Node node;
  node.parent = at == 0 ? 0 : (at - 1) / arity;
  for (std::size_t child = at * arity + 1; child <= at * arity + arity && child < size; ++child)
    node.children.push_back(child);
  return node;
}

/// Returns the parent and the children of node `at` in a k-nomial tree. The parent's number is the
/// node's number in base `arity`, with the lowest nonzero digit set to 0. The child with the
/// largest subtree comes first.
Node knomial_node(std::size_t size, std::size_t at, std::size_t arity) {
  Node node;
  // Weight of the lowest nonzero digit; for node 0, a weight of at least `size`.
  std::size_t weight = 1;
  while (weight < size && at % (weight * arity) == 0) weight *= arity;
  node.parent = at - at % (weight * arity);
  for (weight /= arity; weight > 0; weight /= arity)
    for (std::size_t digit = 1; digit < arity && at + digit * weight < size; ++digit)
      node.children.push_back(at + digit * weight);
  return node;
}

/// Returns all nodes of a postal tree. Each node that has the message sends it once per unit of
/// time. Nodes are numbered in the order of their arrival times.
std::vector<Node> postal_nodes(std::size_t size, std::size_t latency) {
  std::vector<Node> nodes(size);
  using Arrival = std::tuple<std::size_t, std::size_t>;  // time, number of the sender
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  arrivals.emplace(latency, 0);
  for (std::size_t next = 1; next < size; ++next) {
    const auto [when, sender] = arrivals.top();
    arrivals.pop();
    arrivals.emplace(when + 1, sender);
    arrivals.emplace(when + latency, next);
    nodes[next].parent = sender;
    nodes[sender].children.push_back(next);
  }
  return nodes;
}

/// Returns the parent and the children of node `at` in a postal tree. These depend on all nodes
/// with lower numbers, so the function builds the whole tree. It caches the tree, because callers
/// request all nodes one by one.
Node postal_node(std::size_t size, std::size_t at, std::size_t latency) {
  thread_local std::size_t latency_of_known = 0;
  thread_local std::vector<Node> known;
  if (known.size() != size || latency_of_known != latency) {
    known = postal_nodes(size, latency);
    latency_of_known = latency;
  }
  return known[at];
}

}  // namespace

std::vector<std::string> shape_words() {
  return {"flat", "chain", "kary", "knomial", "binomial", "postal"};
}

Node Shape::node(std::size_t size, std::size_t at) const {
  if (name == "flat") return flat_node(size, at);
  if (name == "chain") return kary_node(size, at, 1);
  if (name == "kary") return kary_node(size, at, arity);
  if (name == "postal") return postal_node(size, at, latency);
  return knomial_node(size, at, name == "binomial" ? 2 : arity);
}

Tree::Tree(const Topology& topology, std::vector<Shape> shapes, Rank root)
    : topology_(&topology), shapes_(std::move(shapes)), root_(root) {
  levels_.push_back(0);
  for (std::size_t level = 1; level <= topology.depth(); ++level)
    if (shape(level - 1).name != no_shape) levels_.push_back(level);
  levels_.push_back(topology.depth() + 1);
  std::erase_if(shapes_, [](const Shape& one) { return one.name == no_shape; });
}

Tree Tree::of_one_level(const Topology& topology, Shape shape, Rank root) {
  Tree tree(topology, {std::move(shape)}, root);
  tree.levels_ = {0, topology.depth() + 1};
  return tree;
}

const Shape& Tree::shape(std::size_t step) const {
  return shapes_[std::min(step, shapes_.size() - 1)];
}

Rank Tree::representative(std::size_t level, std::size_t group) const {
  return topology_->group_of(level, root_) == group ? root_
                                                    : topology_->members(level, group).front();
}

Tree::Node Tree::node(Rank rank) const {
  Node node;
  node.parent = rank;
  for (std::size_t step = 0; step + 1 < levels_.size(); ++step) {
    const std::size_t above = levels_[step];
    const std::size_t below = levels_[step + 1];
    const std::size_t own = topology_->group_of(below, rank);
    if (representative(below, own) != rank) continue;
    const std::size_t group = topology_->group_of(above, rank);
    const Topology::Inner inner = topology_->inner(above, group, below);
    const std::size_t size = inner.last - inner.first;
    const std::size_t begin =
        topology_->group_of(below, representative(above, group)) - inner.first;
    const auto rank_of = [&](std::size_t at) {
      return representative(below, inner.first + (begin + at) % size);
    };
    const std::size_t at = (own - inner.first + size - begin) % size;
    const Shape::Node place = shape(step).node(size, at);
    if (at > 0) {
      node.parent = rank_of(place.parent);
      node.level = step;
    }
    for (const std::size_t child : place.children) node.children.push_back({rank_of(child), step});
  }
  return node;
}

std::vector<Rank> Tree::subtree(Rank rank) const {
  std::vector<Rank> all{rank};
  std::vector<Child> open = node(rank).children;
  std::reverse(open.begin(), open.end());
  while (!open.empty()) {
    const Rank next = open.back().rank;
    open.pop_back();
    all.push_back(next);
    const std::vector<Child> children = node(next).children;
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return all;
}

bool Tree::keeps_order() const {
  if (is_flat()) return true;
  if (root_ != topology_->order().front()) return false;
  for (std::size_t step = 0; step + 1 < levels_.size(); ++step)
    if (!shape(step).keeps_order()) return false;
  return true;
}

bool Tree::is_canonical() const { return is_flat() && levels_.size() == topology_->depth() + 2; }

bool Tree::is_flat() const {
  for (std::size_t step = 0; step + 1 < levels_.size(); ++step)
    if (shape(step).name != "flat") return false;
  return true;
}

}  // namespace collectives
