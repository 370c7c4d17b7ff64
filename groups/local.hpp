// SPDX-License-Identifier: Apache-2.0
// groups/local.hpp — the members of one host share memory: what they give and get together.
#pragma once
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "groups/call.hpp"
#include "groups/fold.hpp"
#include "groups/layout.hpp"

namespace groups {

/// The `in` and the `out` that a schedule has at one host, made of those of its members: values are
/// folded in the order of threads, blocks lie one behind the other. A host with one member has its
/// memory, unless `in` and `out` are the same.
///
/// Order:   schedules know hosts, in the plan's order. Where that is not the order of ranks blocks
///          are copied into it, and what depends on it (scans, operations that do not commute) is
///          gathered, and folded here.
/// Owns:    what it had to put together; borrows everything else.
/// Sharing: one context's at a time.
class Local {
 public:
  /// `calls`: of the members of participant `me`, in their order. Folds what they give.
  /// Throws: WrongContribution.
  Local(const Layout& layout, std::uint32_t me, const std::vector<const Call*>& calls,
        const CallCounts& counts, Fold& fold, std::size_t element_bytes);

  /// What the schedule does between hosts: a scan is one of what all before a host have given.
  static collectives::Collective between_hosts(const Call& call, const Layout& layout);
  std::span<std::byte> in() { return in_; }
  std::span<std::byte> out() { return out_; }
  /// Whether the schedule has to check what it sends or copies of `in`: a lone member's value,
  /// which nothing here has folded.
  bool is_in_unchecked() const;
  /// For a schedule that found a wrong value. Throws WrongContribution if a lone member gave it.
  void name_contributor() const;
  /// When the schedule has ended: gives members what is theirs. Throws: WrongContribution.
  void distribute();

 private:
  const Call& first() const { return *calls_.front(); }
  const Call* root_here() const;
  bool has_values() const { return first().has_values; }
  std::span<std::byte> made(base::Buffer& buffer, std::size_t bytes) const;
  void put(std::span<std::byte> to, std::span<const std::byte> from) const;
  /// Whether all get what all give, and fold it.
  bool gathers_values() const {
    return between_ != first().collective && between_ != collectives::Collective::exscan;
  }
  void lend_in();
  void lend_out();
  void lend_out_blocks();
  void fold_in();
  void fold_into_all();
  void fold_members(std::span<std::byte> sum, std::size_t begin);
  void fold_one(std::uint32_t place, std::span<std::byte> to, std::span<const std::byte> left,
                std::span<const std::byte> given);
  bool is_checked_later() const;
  void check_given() const;
  void check(std::size_t member, std::span<const std::byte> values, std::size_t begin) const;
  [[noreturn]] void throw_not_combined(std::uint32_t place, const base::BadValue& bad,
                                       std::size_t begin) const;
  void line_up_in();
  void line_up_pairs();
  template <class Copy>
  void each_run(const Copy& copy) const;
  void order_by_host();
  void order_by_rank(std::span<std::byte> to) const;
  void fold_by_rank();
  void copy_all();
  void hand_out_blocks();
  void hand_out_pairs();
  void hand_out_prefixes();
  void normalize_prefixes();
  std::size_t bytes(std::uint64_t elements) const { return elements * element_bytes_; }
  std::uint32_t place(std::size_t member) const {
    return layout_.first_on(me_) + static_cast<std::uint32_t>(member);
  }
  std::uint32_t rank(std::size_t member) const { return layout_.rank(place(member)); }

  const Layout& layout_;
  const std::uint32_t me_;
  const std::vector<const Call*>& calls_;
  const CallCounts& counts_;
  Fold& fold_;
  const std::size_t element_bytes_;
  const collectives::Collective between_;
  base::Buffer in_made_, in_ordered_, out_made_;
  std::span<std::byte> in_, out_;
  std::span<const std::byte> given_;  // by a lone member, in its order
};

}  // namespace groups
