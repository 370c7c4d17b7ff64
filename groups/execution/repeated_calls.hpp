// SPDX-License-Identifier: Apache-2.0
// groups/execution/repeated_calls.hpp — calls of one member that need no new validation
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "groups/calls/call.hpp"
#include "groups/calls/fold.hpp"
#include "groups/execution/prepared_call.hpp"

namespace groups {

/// A validated call of one member. The member may repeat it with other arrays of the same sizes.
struct RepeatedCall {
  Call given = {};  ///< the call as the program passed it, without its arrays
  std::size_t in_bytes = 0, out_bytes = 0;  ///< sizes of the arrays that the program passed
  std::size_t read_bytes = 0;               ///< bytes of `in` that the operation reads
  std::size_t written_bytes = 0;            ///< bytes of `out` that the operation writes
  /// The prepared call, whose schedule is known; null in an unused entry.
  std::shared_ptr<const PreparedCall> prepared = {};
  bool is_fold = false;  ///< whether the operation folds values
  Fold fold = {};
};

/// The most recent calls of one member that HostGroup::run_at_once() can repeat.
///
/// Why: to validate, compare and register a call takes longer than a small operation in shared
///      memory.
/// Thread-safe: no; used by the member's thread.
class RepeatedCalls {
 public:
  /// Returns whether a call can be kept: it has small arrays of values and at most one count.
  static bool can_keep(const Call& call);
  /// Returns a copy of a call without its arrays.
  static RepeatedCall of(const Call& call);
  /// Returns the kept call that differs from `call` in no more than the arrays' memory; nullptr if
  /// there is none. The pointer is valid until the next keep().
  RepeatedCall* find(const Call& call);
  /// Keeps a call that has been carried out in shared memory, unless it folds values by the
  /// application's code or gathers them in order to fold them. `given` is the result of of(), and
  /// `call` is the same call after validation. `rank` is the rank of the member.
  void keep(RepeatedCall given, const Call& call, std::uint32_t rank,
            std::shared_ptr<const PreparedCall> prepared);

 private:
  std::array<RepeatedCall, 4> known_;
  std::size_t oldest_ = 0;
};

}  // namespace groups
