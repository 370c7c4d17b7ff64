// SPDX-License-Identifier: Apache-2.0
// groups/layout.hpp — who is in a group, host by host, and what each gives and gets.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/task.hpp"
#include "groups/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// The members of a group: threads, in the order of their hosts. Schedules send between hosts, one
/// participant for all members of each.
/// Sharing: never changes; anybody may read it.
class Layout {
 public:
  /// `threads`: ranks of the plan's threads, rising; null: all of them. Throws: UsageError where
  /// they are not rising, or none.
  Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads);
  /// The same object for all of this process who have such a group: one of all of very many
  /// threads is large.
  static std::shared_ptr<const Layout> of(const paths::Plan& plan,
                                          const std::vector<std::uint32_t>* threads);

  std::uint32_t size() const { return first_.back(); }
  /// Hosts of the plan, by participant.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  std::uint32_t first_on(std::uint32_t participant) const { return first_[participant]; }
  std::uint32_t members_on(std::uint32_t participant) const {
    return first_[participant + 1] - first_[participant];
  }
  std::uint32_t participant_of(std::uint32_t rank) const;
  /// Every host has one member.
  bool has_one_each() const { return size() == hosts_.size(); }
  /// Every host has as many.
  bool is_even() const { return is_even_; }
  /// The thread of the plan.
  std::uint32_t thread(std::uint32_t rank) const {
    return threads_.empty() ? rank : threads_[rank];
  }
  /// Of which members; null: of all threads of the plan.
  bool has(const std::vector<std::uint32_t>* threads) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<std::uint32_t> threads_;  // none: all of the plan
  bool is_even_ = true;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> first_;  // rank of the first member, and behind the last one
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
  /// Of what schedules move between hosts, and its name.
  collectives::Counts between_hosts(const Layout& layout) const;
  std::string text() const;

 private:
  const Call& call_;
  const std::uint32_t size_;
  bool is_even_ = true;
  std::uint64_t each_ = 0, total_ = 0;
  std::vector<std::uint64_t> counts_, begins_, row_, column_;
};

}  // namespace groups
