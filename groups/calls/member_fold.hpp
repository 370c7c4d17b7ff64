// SPDX-License-Identifier: Apache-2.0
// groups/calls/member_fold.hpp — folding of contributions, with errors that name the member.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "groups/calls/call.hpp"
#include "groups/calls/fold.hpp"

namespace groups {

/// Folds the contributions of the members on one host, and finds the member whose value is wrong.
///
/// Thread-safe: no; one OS thread or fiber at a time.
class MemberFold {
 public:
  /// `calls` contains the calls of the members, ordered by place. The first member has the place
  /// `first_place`. All arguments outlive this object.
  MemberFold(Fold& fold, const Calls& calls, std::uint32_t first_place, std::size_t element_bytes)
      : fold_(fold), calls_(calls), first_place_(first_place), element_bytes_(element_bytes) {}

  /// Checks a part of a member's contribution. `begin` is the byte offset of the part in the
  /// contribution.
  /// Throws: WrongContribution.
  void check(std::size_t member, std::span<const std::byte> values, std::size_t begin) const;
  /// Folds the contributions of all members, from byte `begin` on, into `sum`. There are at least
  /// two members.
  /// Throws: WrongContribution.
  void fold_all(std::span<std::byte> sum, std::size_t begin);
  /// Combines `left` with `given`, the contribution of the member with the place `place`. Stores
  /// the result in `to`.
  /// Throws: WrongContribution.
  void fold_one(std::uint32_t place, std::span<std::byte> to, std::span<const std::byte> left,
                std::span<const std::byte> given);

 private:
  std::uint32_t place(std::size_t member) const {
    return first_place_ + static_cast<std::uint32_t>(member);
  }
  [[noreturn]] void throw_not_combined(std::uint32_t place, const base::BadValue& bad,
                                       std::size_t begin) const;

  Fold& fold_;
  const Calls& calls_;
  const std::uint32_t first_place_;
  const std::size_t element_bytes_;
};

}  // namespace groups
