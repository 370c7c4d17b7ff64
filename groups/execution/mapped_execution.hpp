// SPDX-License-Identifier: Apache-2.0
// groups/execution/mapped_execution.hpp — one operation in arrays that all members map
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "groups/execution/region_execution.hpp"

namespace groups {

/// Carries out an allreduce or broadcast of mapped arrays (Group::mapped_array). Members read
/// directly from the arrays of other members, and write only to their own `out`.
///
/// Thread-safe: no; one OS thread or fiber at a time. Borrows its arguments.
class MappedExecution {
 public:
  /// `pass_gate` waits for the other members in Member::exchange(). The other arguments are those
  /// of RegionExecution. Requires: RegionOperation::places is set.
  MappedExecution(const RegionOperation& operation, paths::Member& member, std::uint32_t me,
                  const std::vector<std::uint32_t>& participants,
                  const std::function<void()>& pass_gate)
      : operation_(operation),
        member_(member),
        me_(me),
        participants_(participants),
        pass_gate_(pass_gate) {}
  /// Returns whether this class supports a collective on vectors of `bytes` bytes. It does not
  /// support small vectors, because these pass through shared memory with fewer waits.
  static bool supports(collectives::Collective collective, std::uint64_t bytes);
  /// Requires: supports(). Returns false if some member passes other arrays. The operation was then
  /// not carried out. All members get the same result.
  /// Blocks: until the other members have done their part.
  /// Throws: WrongContribution, base::BadValue, and what `pass_gate` throws.
  bool run();

 private:
  bool are_arrays_mapped();
  void fold_share();
  void fold_block(collectives::Range block, std::span<std::byte> own_copy);
  void name_contributor(std::span<const std::span<const std::byte>> values,
                        collectives::Count first) const;
  void copy(std::uint32_t member, collectives::Range range);
  std::span<std::byte> part(std::span<std::byte> array, collectives::Range range) const;
  std::span<std::byte> array(const MappedPlace& place, std::uint32_t member) const;

  const RegionOperation& operation_;
  paths::Member& member_;
  const std::uint32_t me_;
  const std::vector<std::uint32_t>& participants_;
  const std::function<void()>& pass_gate_;
};

/// Returns the range that a member folds of a vector of `count` elements.
collectives::Range share_of(collectives::Count count, std::uint32_t member, std::uint32_t members);

}  // namespace groups
