// SPDX-License-Identifier: Apache-2.0
// groups/layout.hpp — who is in a group, host by host, and what each gives and gets.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "groups/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// The members of a group: threads, by rank in any order. Schedules send between hosts, one
/// participant for all members of each; a member's place is where its thread stands among those of
/// the group in the plan's order, host by host.
/// Sharing: never changes; anybody may read it.
class Layout {
 public:
  /// `threads`: of the plan's, by rank in the group; null: all of them. Throws: UsageError where
  /// there is one twice, one that the plan has not, or none.
  Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads);
  /// The same object for all of this process who have such a group: one of all of very many
  /// threads is large.
  static std::shared_ptr<const Layout> of(const paths::Plan& plan,
                                          const std::vector<std::uint32_t>* threads);

  std::uint32_t size() const { return first_.back(); }
  /// Hosts of the plan, by participant.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  /// Ranks are places.
  bool is_in_order() const { return ranks_.empty(); }
  std::uint32_t place(std::uint32_t rank) const { return is_in_order() ? rank : places_[rank]; }
  std::uint32_t rank(std::uint32_t place) const { return is_in_order() ? place : ranks_[place]; }
  /// Of places.
  std::uint32_t first_on(std::uint32_t participant) const { return first_[participant]; }
  std::uint32_t members_on(std::uint32_t participant) const {
    return first_[participant + 1] - first_[participant];
  }
  std::uint32_t participant_at(std::uint32_t place) const;
  /// Calls `use(first, behind)` with the ranks of a participant's members, place after place, as
  /// many at a time as follow each other.
  template <class Use>
  void each_run(std::uint32_t participant, const Use& use) const {
    for (std::uint32_t at = first_on(participant); at < first_on(participant + 1);) {
      const std::uint32_t first = rank(at), begin = at++;
      if (is_in_order()) at = first_on(participant + 1);
      while (at < first_on(participant + 1) && rank(at) == first + (at - begin)) ++at;
      use(first, first + (at - begin));
    }
  }
  /// Every host has one member.
  bool has_one_each() const { return size() == hosts_.size(); }
  /// Every host has as many.
  bool is_even() const { return is_even_; }
  /// The thread of the plan that has a rank.
  std::uint32_t thread(std::uint32_t rank) const {
    return threads_.empty() ? rank : threads_[rank];
  }
  std::uint32_t thread_at(std::uint32_t place) const { return thread(rank(place)); }
  /// Tells groups of other members, or in another order, apart.
  std::uint64_t digest() const;
  /// Of which members; null: of all threads of the plan.
  bool has(const std::vector<std::uint32_t>* threads) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  void order(std::uint32_t threads_of_plan);

  std::vector<std::uint32_t> threads_;         // by rank; none: all of the plan
  std::vector<std::uint32_t> places_, ranks_;  // of each other; none: they are the same
  bool is_even_ = true;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> first_;  // place of the first member, and behind the last one
};

/// Elements of a call's blocks.
class CallCounts {
 public:
  CallCounts(const Call& call, const Layout& layout);

  std::uint64_t vector() const { return total_; }  ///< of all blocks
  std::uint64_t block(std::uint32_t rank) const { return is_even_ ? each_ : counts_[rank]; }
  std::uint64_t before(std::uint32_t rank) const {  ///< of all blocks of lower ranks
    return is_even_ ? each_ * rank : begins_[rank];
  }
  /// Of alltoall.
  std::uint64_t pair(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ : counts_[std::size_t{source} * size_ + target];
  }
  std::uint64_t given_before(std::uint32_t source, std::uint32_t target) const {
    return is_even_ ? each_ * target : row_[std::size_t{source} * (size_ + 1) + target];
  }
  std::uint64_t taken_before(std::uint32_t target, std::uint32_t source) const {
    return is_even_ ? each_ * source : column_[std::size_t{target} * (size_ + 1) + source];
  }
  /// Elements of the `in` and the `out` of a member.
  std::uint64_t in(std::uint32_t rank) const;
  std::uint64_t out(std::uint32_t rank) const;
  /// Of what schedules move between hosts by such a collective, and its name.
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
