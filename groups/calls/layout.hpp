// SPDX-License-Identifier: Apache-2.0
// groups/calls/layout.hpp — members of a group by host, and the sizes of their blocks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "groups/calls/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// The members of a group: threads of the plan, ranked in any order. Schedules send messages
/// between hosts. All members on one host therefore form one participant. A member's place is its
/// position among the members in the plan's order of hosts and threads.
///
/// Thread-safe: yes; immutable.
class Layout {
 public:
  /// `threads` lists threads of the plan, ordered by rank in the group; nullptr = all of them.
  /// Throws: UsageError if the list is empty, repeats a thread, or names a thread that the plan
  ///         does not have.
  Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads);
  /// Returns the layout that all equal groups of this process share. They share it because a layout
  /// of many threads is large.
  static std::shared_ptr<const Layout> of(const paths::Plan& plan,
                                          const std::vector<std::uint32_t>* threads);

  std::uint32_t size() const { return first_.back(); }
  /// Returns the host of the plan for each participant.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  /// Returns whether the rank of each member equals its place (see the comment of the class).
  bool is_in_order() const { return ranks_.empty(); }
  std::uint32_t place(std::uint32_t rank) const { return is_in_order() ? rank : places_[rank]; }
  std::uint32_t rank(std::uint32_t place) const { return is_in_order() ? place : ranks_[place]; }
  /// Returns the lowest place of the members that form a participant. Their places are consecutive.
  std::uint32_t first_on(std::uint32_t participant) const { return first_[participant]; }
  std::uint32_t members_on(std::uint32_t participant) const {
    return first_[participant + 1] - first_[participant];
  }
  std::uint32_t participant_at(std::uint32_t place) const;
  /// Calls `use(first, behind)` for each run of consecutive ranks among the members that form a
  /// participant. `behind` is the rank after the last rank of the run. The calls are in the order
  /// of the members' places.
  template <class Use>
  void each_run(std::uint32_t participant, const Use& use) const {
    for (std::uint32_t at = first_on(participant); at < first_on(participant + 1);) {
      const std::uint32_t first = rank(at), begin = at++;
      if (is_in_order()) at = first_on(participant + 1);
      while (at < first_on(participant + 1) && rank(at) == first + (at - begin)) ++at;
      use(first, first + (at - begin));
    }
  }
  bool has_one_each() const { return size() == hosts_.size(); }
  /// Returns whether every host has the same number of members.
  bool is_even() const { return is_even_; }
  std::uint32_t thread(std::uint32_t rank) const {
    return threads_.empty() ? rank : threads_[rank];
  }
  std::uint32_t thread_at(std::uint32_t place) const { return thread(rank(place)); }
  /// Returns a digest of the members and their order.
  std::uint64_t digest() const;
  /// Returns whether the given threads are the members; nullptr means all threads of the plan.
  bool has(const std::vector<std::uint32_t>* threads) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  void order(std::uint32_t threads_of_plan);

  std::vector<std::uint32_t> threads_;  // thread of each rank; empty = all threads in order
  // Place of each rank, and rank of each place. Both are empty if is_in_order().
  std::vector<std::uint32_t> places_, ranks_;
  bool is_even_ = true;
  std::vector<std::uint32_t> hosts_;
  // For each participant, the lowest place of its members. An additional last entry contains the
  // number of members of the group.
  std::vector<std::uint32_t> first_;
};

/// Element counts of the blocks of one call.
class CallCounts {
 public:
  CallCounts(const Call& call, const Layout& layout);

  std::uint64_t vector() const { return total_; }  ///< number of elements of all blocks
  std::uint64_t block(std::uint32_t rank) const { return is_even_ ? each_ : counts_[rank]; }
  /// Returns the total number of elements in the blocks of all members with lower ranks.
  std::uint64_t before(std::uint32_t rank) const { return is_even_ ? each_ * rank : begins_[rank]; }
  /// Returns the number of elements that `source` sends to `target` in an alltoall.
  std::uint64_t pair(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ : counts_[std::size_t{source} * size_ + target];
  }
  std::uint64_t given_before(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ * target : row_[std::size_t{source} * (size_ + 1) + target];
  }
  std::uint64_t taken_before(std::uint32_t target, std::uint32_t source) const {
    return is_even_ ? each_ * source : column_[std::size_t{target} * (size_ + 1) + source];
  }
  /// Return the number of elements in a member's `in` and `out`.
  std::uint64_t in(std::uint32_t rank) const;
  std::uint64_t out(std::uint32_t rank) const;
  /// Returns the counts for `between`, the collective that the schedule performs between hosts.
  collectives::Counts between_hosts(const Layout& layout, collectives::Collective between) const;
  std::string text() const;

 private:
  collectives::Counts pairs_of_hosts(const Layout& layout) const;

  const Call& call_;
  const std::uint32_t size_;
  bool is_even_ = true;
  std::uint64_t each_ = 0, total_ = 0;
  std::vector<std::uint64_t> counts_, begins_, row_, column_;
};

}  // namespace groups
