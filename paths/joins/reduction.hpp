// SPDX-License-Identifier: Apache-2.0
// paths/joins/reduction.hpp — what a collective combines, as the settings of a wrapper declare it.
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

/// A large value is folded in parts of that size, which fit the cache of a processor. Between them
/// a service lets other services run.
inline constexpr std::size_t fold_part_bytes = std::size_t{64} << 10;

struct Plan;

/// Whether a wrapper before that one, on that path, has a reduction.
bool is_reduced_before(const Plan& plan, std::uint32_t wrapper, std::uint32_t path);

/// An operation, what it is applied to, the sign all contributions have, and what NaN and overflow
/// are. A value.
struct Reduction {
  const base::ReduceOperation* operation = nullptr;
  base::ReduceShape shape;
  base::Sign sign = base::Sign::any;
  base::Values values = base::Values::checked;
  /// For parts of a value at a time; null where only a whole one can be combined.
  base::CombineElements elements = nullptr;

  /// Why the value may not be combined: its size, a NaN, or a sign that was ruled out. Empty when
  /// it may be.
  std::string wrong(const base::Payload& value, base::Sign allowed) const;
  /// The sign that a value must have at a wrapper on that path. Only a thread's own value has one:
  /// a product of non-positive values may be positive. An earlier wrapper makes a logical value 0
  /// or 1.
  base::Sign sign_of(const Plan& plan, std::uint32_t wrapper, std::uint32_t path,
                     std::uint64_t contributions) const {
    if (sign == base::Sign::any || contributions != 1) return base::Sign::any;
    return operation->normalize && is_reduced_before(plan, wrapper, path) ? base::Sign::any : sign;
  }
  /// A thread's own value as a result would be (base::ReduceOperation::normalize).
  void normalize(Operation& contribution) const;

  /// Folds `right` into `left`. Throws base::BadValue.
  void fold(std::span<std::byte> left, std::span<const std::byte> right) const;
};

/// Reads `operation`, `template`, `contributions` and `values`: what is combined is one field, a
/// scalar or an array of fixed size, or for located operations a value and an i64. Mistakes go to
/// the reader.
Reduction read_reduction(base::MapReader& reader);
/// What settings say that were read before, and found right.
Reduction reduction_of(const base::Settings& settings);
/// What read_reduction() reads, for people.
std::vector<SettingHelp> reduction_settings();

}  // namespace paths
