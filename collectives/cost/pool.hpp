// SPDX-License-Identifier: Apache-2.0
// collectives/cost/pool.hpp — many short lists in one block of memory.
#pragma once
#include <cstdint>
#include <vector>

namespace pricing {

/// Linked lists whose nodes share one vector and are reused, so that a list needs no allocation of
/// its own.
template <class Value>
class Pool {
 public:
  /// A list, as the index of its last node. The `next` of that node is the first node. An empty
  /// list is `none`. The owner of a list must clear it with clear().
  using List = std::uint32_t;
  static constexpr List none = ~List{0};

  void add(List& list, Value value) {
    const List node = place(value);
    nodes_[node].next = list == none ? node : nodes_[list].next;
    if (list != none) nodes_[list].next = node;
    list = node;
  }
  /// Calls `see` for all values in order and empties the list.
  template <class See>
  void clear(List& list, const See& see) {
    if (list == none) return;
    const List first = nodes_[list].next;
    for (List node = first;; node = nodes_[node].next) {
      see(nodes_[node].value);
      if (node == list) break;
    }
    nodes_[list].next = vacant_;
    vacant_ = first;
    list = none;
  }

 private:
  struct Node {
    Value value;
    List next;
  };
  List place(Value value) {
    if (vacant_ == none) {
      nodes_.push_back({value, none});
      return static_cast<List>(nodes_.size() - 1);
    }
    const List node = vacant_;
    vacant_ = nodes_[node].next;
    nodes_[node].value = value;
    return node;
  }
  std::vector<Node> nodes_;
  List vacant_ = none;
};

}  // namespace pricing
