// SPDX-License-Identifier: Apache-2.0
// groups/calls/local.hpp — arrays of the members on one host, combined for a schedule
#pragma once
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "groups/calls/call.hpp"
#include "groups/calls/fold.hpp"
#include "groups/calls/layout.hpp"
#include "groups/calls/member_fold.hpp"
#include "groups/calls/members.hpp"

namespace groups {

/// The `in` and `out` arrays that a schedule uses on one host, built from the arrays of the host's
/// members. Values are folded in the order of threads; blocks are concatenated. If a host has one
/// member, the schedule uses that member's arrays directly.
///
/// Owns:        the arrays that it had to build; borrows everything else.
/// Thread-safe: no; one OS thread or fiber at a time.
/// Order:       Schedules handle hosts in the plan's order. If ranks have a different order, blocks
///              are copied into rank order. For scans and noncommutative operations, each host then
///              gathers all contributions and folds them.
class Local {
 public:
  /// `me` is the number of this host as a participant. `calls` contains the calls of its members,
  /// ordered by place (Layout). The constructor folds the inputs.
  /// Throws: WrongContribution.
  Local(const Layout& layout, std::uint32_t me, const Calls& calls, const CallCounts& counts,
        Fold& fold, std::size_t element_bytes);

  /// Returns the collective that the schedule performs between hosts. If some host has several
  /// members, a scan becomes an exclusive scan over the preceding hosts. If values must be folded
  /// in rank order, the result is the collective that gathers them.
  static collectives::Collective between_hosts(const Call& call, const Layout& layout);
  /// Copies `in` if it is the same array as `out`, for schedules that write `out` before they have
  /// read all of `in`.
  void separate_in();
  std::span<std::byte> in() { return in_; }
  std::span<std::byte> out() { return out_; }
  /// Returns whether the schedule must check the values of `in` that it sends or copies. The
  /// schedule must check them if the host has only one member: this object then folds nothing, and
  /// only folding checks values.
  bool is_in_unchecked() const;
  /// Finds out whether this host's only member contributed a wrong value. The caller must call it
  /// after the schedule has found a wrong value.
  /// Throws: WrongContribution, which names the member, if the value is in that member's `in`.
  void name_contributor() const;
  /// Stores the results in the members' arrays after the schedule has ended. Throws:
  /// WrongContribution.
  void distribute();

 private:
  /// Returns whether each host gathers all contributions and folds them itself.
  bool gathers_values() const {
    return between_ != members_.first().collective && between_ != collectives::Collective::exscan;
  }
  void lend_in();
  void lend_out();
  void lend_out_blocks();
  void fold_into_all();
  bool is_checked_later() const;
  void line_up_in();
  void line_up_pairs();
  void order_by_host();
  void order_by_rank(std::span<std::byte> to) const;
  void fold_by_rank();
  void copy_all();
  void hand_out_blocks();
  void hand_out_pairs();
  void hand_out_prefixes();

  const Layout& layout_;
  const std::uint32_t me_;
  const Calls& calls_;
  const Members members_;
  const CallCounts& counts_;
  Fold& fold_;
  MemberFold member_fold_;
  const collectives::Collective between_;
  base::Buffer in_made_, in_ordered_, out_made_;
  std::span<std::byte> in_, out_;
  // Contribution of the host's only member, in the order of its array.
  std::span<const std::byte> given_;
};

}  // namespace groups
