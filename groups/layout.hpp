// SPDX-License-Identifier: Apache-2.0
// groups/layout.hpp — members of a group by host, and the sizes of their blocks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "groups/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Members of a group: threads, by rank in any order. Schedules send between hosts, so that all
/// members on one host are one participant. A member's place is the position of its thread among
/// the group's threads in the plan's order, host by host.
///
/// Thread-safe: yes; immutable.
class Layout {
 public:
  /// `threads` lists threads of the plan by rank in the group; nullptr = all of them.
  /// Throws: UsageError if the list is empty, repeats a thread, or names one that the plan does not
  ///         have.
  Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads);
  /// Returns one shared object for all equal groups of this process, because the layout of very
  /// many threads is large.
  static std::shared_ptr<const Layout> of(const paths::Plan& plan,
                                          const std::vector<std::uint32_t>* threads);

  std::uint32_t size() const { return first_.back(); }
  /// Returns the hosts of the plan, by participant.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  /// Returns whether ranks equal places.
  bool is_in_order() const { return ranks_.empty(); }
  std::uint32_t place(std::uint32_t rank) const { return is_in_order() ? rank : places_[rank]; }
  std::uint32_t rank(std::uint32_t place) const { return is_in_order() ? place : ranks_[place]; }
  /// Returns the place of the first member on a participant.
  std::uint32_t first_on(std::uint32_t participant) const { return first_[participant]; }
  std::uint32_t members_on(std::uint32_t participant) const {
    return first_[participant + 1] - first_[participant];
  }
  std::uint32_t participant_at(std::uint32_t place) const;
  /// Calls `use(first, behind)` for each run of consecutive ranks among a participant's members, in
  /// the order of places.
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
  /// Returns whether these are its members; nullptr means all threads of the plan.
  bool has(const std::vector<std::uint32_t>* threads) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  void order(std::uint32_t threads_of_plan);

  std::vector<std::uint32_t> threads_;         // indexed by rank; empty: all
  std::vector<std::uint32_t> places_, ranks_;  // inverse of each other; empty: identity
  bool is_even_ = true;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> first_;  // place of each first member; then one past the last
};

/// Element counts of the blocks of a call.
class CallCounts {
 public:
  CallCounts(const Call& call, const Layout& layout);

  std::uint64_t vector() const { return total_; }  ///< elements of all blocks
  std::uint64_t block(std::uint32_t rank) const { return is_even_ ? each_ : counts_[rank]; }
  std::uint64_t before(std::uint32_t rank) const {  ///< elements of all blocks of lower ranks
    return is_even_ ? each_ * rank : begins_[rank];
  }
  /// Returns the elements that `source` sends to `target` in an alltoall.
  std::uint64_t pair(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ : counts_[std::size_t{source} * size_ + target];
  }
  std::uint64_t given_before(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ * target : row_[std::size_t{source} * (size_ + 1) + target];
  }
  std::uint64_t taken_before(std::uint32_t target, std::uint32_t source) const {
    return is_even_ ? each_ * source : column_[std::size_t{target} * (size_ + 1) + source];
  }
  /// Return the elements of a member's `in` and `out`.
  std::uint64_t in(std::uint32_t rank) const;
  std::uint64_t out(std::uint32_t rank) const;
  /// Returns the counts of the collective `between` that schedules run between hosts.
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
