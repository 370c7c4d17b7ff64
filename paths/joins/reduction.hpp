// SPDX-License-Identifier: Apache-2.0
// paths/joins/reduction.hpp — reduction of a collective, as the settings of a wrapper declare it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "base/reduce.hpp"
#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/operation.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Size in bytes of the parts in which large values are combined. A part fits in the cache of a
/// processor. Between parts, a service context lets other fibers run.
inline constexpr std::size_t fold_part_bytes = std::size_t{64} << 10;

struct Plan;

/// Returns whether `path` passes a wrapper with a reduction before it reaches `wrapper`.
bool is_reduced_before(const Plan& plan, std::uint32_t wrapper, std::uint32_t path);

/// A reduction: the operation, the shape of the values, the sign of all contributions, and the
/// treatment of NaN and overflow.
struct Reduction {
  const base::ReduceOperation* operation = nullptr;
  base::ReduceShape shape;
  base::Sign sign = base::Sign::any;
  base::Values values = base::Values::checked;
  /// Function that combines a part of one value with the same part of a second value; nullptr if
  /// the operation can combine only whole values.
  base::CombineElements elements = nullptr;

  /// Returns why the value must not be combined: a wrong size, NaN, or a sign other than `allowed`.
  /// Returns "" if the value may be combined.
  std::string wrong(const base::Payload& value, base::Sign allowed) const;
  /// Returns the sign that a value must have at `wrapper` on `path`. The declared sign applies only
  /// to the value of one thread, because a product of non-positive values may be positive. The
  /// declared sign does not apply to a logical value that an earlier wrapper has turned into 0
  /// or 1.
  base::Sign sign_of(const Plan& plan, std::uint32_t wrapper, std::uint32_t path,
                     std::uint64_t contributions) const {
    if (sign == base::Sign::any || contributions != 1) return base::Sign::any;
    return operation->normalize && is_reduced_before(plan, wrapper, path) ? base::Sign::any : sign;
  }
  /// Converts the value of one thread to the form of a result by base::ReduceOperation::normalize.
  /// For example, a logical operation converts a number to 0 or 1.
  void normalize(Operation& contribution) const;

  /// Combines `right` into `left`.
  /// Throws: base::BadValue.
  void fold(std::span<std::byte> left, std::span<const std::byte> right) const;
};

/// Reads the settings `operation`, `template`, `contributions` and `values`. The template must have
/// one field: a scalar or an array of fixed size. The template of a located operation must have a
/// value and an i64. Reports mistakes to the reader.
Reduction read_reduction(base::MapReader& reader);
/// Returns the reduction that `settings` describe.
/// Requires: `settings` were checked before.
Reduction reduction_of(const base::Settings& settings);
/// Returns the documentation of the settings that read_reduction() reads.
std::vector<SettingHelp> reduction_settings();

}  // namespace paths
