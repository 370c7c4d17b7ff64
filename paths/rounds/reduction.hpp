// SPDX-License-Identifier: Apache-2.0
// paths/rounds/reduction.hpp — what a collective combines, as the settings of a wrapper declare it.
#pragma once
#include <cstddef>
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

/// An operation, what it is applied to, the sign all contributions have, and what NaN and overflow
/// are. A value.
struct Reduction {
  const base::ReduceOperation* operation = nullptr;
  base::ReduceShape shape;
  base::Sign sign = base::Sign::any;
  base::Values values = base::Values::checked;
  /// For parts of a value at a time; null where only a whole one can be combined.
  base::CombineElements elements = nullptr;

  /// Why the payload may not be combined: its size, a NaN, or, of a thread's own value, a sign
  /// that was ruled out. Empty when it may be. (A partial result is not asked for its sign: a
  /// product of non-positive values is no longer one.)
  std::string wrong(const Operation& contribution) const {
    return wrong(contribution.payload, contribution.contributions);
  }
  std::string wrong(const base::Payload& value, std::uint64_t contributions) const;
  /// The sign that a value with as many contributions must have.
  base::Sign sign_of(std::uint64_t contributions) const {
    return contributions == 1 ? sign : base::Sign::any;
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
