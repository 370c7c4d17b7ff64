// SPDX-License-Identifier: Apache-2.0
// groups/local.hpp — inputs and outputs of the members on one host, combined in shared memory.
#pragma once
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "groups/call.hpp"
#include "groups/fold.hpp"
#include "groups/layout.hpp"

namespace groups {

/// The `in` and `out` arrays of a schedule on one host, built from those of its members. Values are
/// folded in the order of threads; blocks are concatenated. A host with one member uses that
/// member's memory, unless its `in` and `out` are the same.
///
/// Owns:        the arrays that it had to build; borrows everything else.
/// Thread-safe: no; one context at a time.
/// Order:       Schedules work on hosts in the plan's order. If ranks have another order, blocks
///              are copied into rank order. Scans and noncommutative operations are then gathered
///              and folded here.
class Local {
 public:
  /// `calls` are those of the members of participant `me`, in their order. Folds their inputs.
  /// Throws: WrongContribution.
  Local(const Layout& layout, std::uint32_t me, const std::vector<const Call*>& calls,
        const CallCounts& counts, Fold& fold, std::size_t element_bytes);

  /// Returns the collective that the schedule runs between hosts. A scan becomes an exclusive scan
  /// of the hosts before if some host has several members. Values that must be folded here by rank
  /// are gathered.
  static collectives::Collective between_hosts(const Call& call, const Layout& layout);
  std::span<std::byte> in() { return in_; }
  std::span<std::byte> out() { return out_; }
  /// Returns whether the schedule must check the parts of `in` that it sends or copies: a lone
  /// member's values, which no fold has checked here.
  bool is_in_unchecked() const;
  /// Names the contributor after a schedule found a wrong value. Throws: WrongContribution if a
  /// lone member contributed it.
  void name_contributor() const;
  /// Gives members their results after the schedule has ended. Throws: WrongContribution.
  void distribute();

 private:
  const Call& first() const { return *calls_.front(); }
  const Call* root_here() const;
  bool has_values() const { return first().has_values; }
  std::span<std::byte> made(base::Buffer& buffer, std::size_t bytes) const;
  void put(std::span<std::byte> to, std::span<const std::byte> from) const;
  /// Returns whether hosts exchange all contributions and fold them themselves.
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
  std::span<const std::byte> given_;  // values of a lone member, in its order
};

}  // namespace groups
