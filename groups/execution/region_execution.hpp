// SPDX-License-Identifier: Apache-2.0
// groups/execution/region_execution.hpp — one operation of a group in shared memory
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "groups/calls/chunks.hpp"
#include "groups/calls/fold.hpp"
#include "groups/calls/member_arrays.hpp"
#include "groups/execution/execution.hpp"
#include "groups/execution/patience.hpp"
#include "groups/execution/tracing.hpp"
#include "paths/machine/member.hpp"

namespace groups {

/// One host's part of an operation in shared memory (the region).
struct RegionOperation {
  std::uint64_t turn;
  const OperationName& name;
  const collectives::CollectiveSpec& task;
  std::uint64_t digest;   ///< digest of the schedule, this call and all calls before it
  std::string_view text;  ///< text of the call, for error messages of other hosts
  std::size_t element_bytes;
  std::span<std::byte> in, out;
  /// Places of `in` and `out` if the members have made mapped arrays; otherwise nullptr. If one
  /// member has made mapped arrays before the operation, all members have.
  const MappedPlaces* places;
  bool is_in_unchecked;  ///< whether values of `in` must still be checked
  Fold& fold;
  Patience patience;
  ShareTrace* trace;  ///< nullptr unless the run is traced
  /// Whether the arrays are no longer valid, because their thread was stopped.
  const std::atomic<bool>& is_abandoned;
};

/// Throws: TravelError if the arrays of the operation are no longer valid.
void throw_if_abandoned(const RegionOperation& operation);

/// Exception for a value in this member's own `in` that a reduction rejects. The index in the
/// exception is the index of the value in `in`.
class OwnBadValue : public base::BadValue {
 public:
  using base::BadValue::BadValue;
};

/// Checks the given range of `in` if RegionOperation::is_in_unchecked is true. Throws: OwnBadValue.
void check_own(const RegionOperation& operation, collectives::Range range);

/// Carries out one operation in the region. Large values pass through the region in chunks.
///
/// Thread-safe: no; one OS thread or fiber at a time. Borrows its arguments.
class RegionExecution {
 public:
  /// `me` is the index of this host among the hosts of the region. `participants` contains, for
  /// each of these hosts, its number as a participant of the group.
  RegionExecution(const RegionOperation& operation, paths::Member& member, std::uint32_t me,
                  const std::vector<std::uint32_t>& participants)
      : operation_(operation), member_(member), me_(me), participants_(participants) {}
  /// Returns whether `in` and `out` may be the same array.
  static bool can_work_in_place(collectives::Collective collective);
  /// Returns whether members read values directly from mapped arrays of others (MappedExecution).
  /// Blocks: until the other members have done their part.
  /// Throws: TravelError, paths::CallsDiffer, OwnBadValue, WrongContribution, base::BadValue.
  bool run();

 private:
  /// The blocks that a member receives from other members, and whether it folds or copies them.
  struct Blocks {
    std::uint32_t first = 0, last = 0;  ///< senders of the blocks: members first to last - 1
    bool are_folded = false;
    collectives::Count first_index = 0;  ///< index in the vector of the first folded element
    /// Index in `out` of the first element of each block; empty if all are 0.
    std::vector<collectives::Count> begins = {};
  };
  static Blocks blocks_of(const collectives::CollectiveSpec& task, std::uint32_t me);
  paths::Member::Call call() const { return {operation_.digest, operation_.text, operation_.turn}; }
  std::span<const std::byte> own(collectives::Range range) const;
  void check_own(collectives::Range range) const { groups::check_own(operation_, range); }
  void fold(std::span<std::byte> into, std::span<const std::span<const std::byte>> values,
            collectives::Count first);
  bool run_mapped();
  void exchange_values();
  void broadcast();
  void reduce();
  void allreduce();
  void reduce_in_chunks(std::span<std::byte> out);
  void take_result(collectives::Range chunk, std::span<std::byte> out) const;
  void fold_share(collectives::Range chunk, collectives::Range share);
  void gather();
  std::span<const std::byte> await_posted(std::uint32_t member, std::size_t bytes);
  void exchange();
  void record_wait(std::uint32_t source);
  template <class Byte>
  std::span<Byte> part(std::span<Byte> bytes, collectives::Range range) const;

  const RegionOperation& operation_;
  paths::Member& member_;
  const std::uint32_t me_;
  const std::vector<std::uint32_t>& participants_;
  // The last member for whose posted value this root had to wait.
  std::optional<std::uint32_t> late_;
  bool is_wait_recorded_ = false;
  std::int64_t begin_nanos_ = 0;  // time at which the operation began; set only if traced
};

}  // namespace groups
