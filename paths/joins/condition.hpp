// SPDX-License-Identifier: Apache-2.0
// paths/joins/condition.hpp — conditions on reduced values, and proofs from partial values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/reduce.hpp"
#include "base/scalar.hpp"
#include "base/settings.hpp"
#include "pastset/template.hpp"

namespace paths {

enum class Comparison : std::uint8_t { less, at_most, greater, at_least, equal, is_true };
std::string_view comparison_name(Comparison comparison);

/// Condition on one scalar. The constant is of the same kind of number as the scalar (signed,
/// unsigned or floating-point), so integers are compared as integers. is_true has no constant.
struct ConditionSpec {
  Comparison comparison = Comparison::less;
  base::Scalar scalar = base::Scalar::f64;
  std::variant<std::monostate, std::int64_t, std::uint64_t, double> constant;
};

/// Reads the setting `condition`, written as `{less: 0.01}` or `is_true`. Returns nullopt if the
/// setting is absent. Adds a mistake and returns nullopt if it is wrong.
std::optional<ConditionSpec> read_condition(base::MapReader& reader, base::Scalar scalar);
/// Reads the setting `contributions`: the sign that all contributions have.
base::Sign read_sign(base::MapReader& reader);
std::string_view sign_name(base::Sign sign);
/// Reads the setting `values`: how NaN and overflow are treated.
base::Values read_values(base::MapReader& reader);

/// Returns the outcome of the condition that a part of the contributions can prove; nullopt if a
/// part can prove neither outcome. `operation` is a name from base/reduce.hpp.
///
/// A sum of non-negative values and any `max` can only grow as contributions are added. If a
/// partial value is above the constant, the complete value is above it, too. A sum of non-positive
/// values and any `min` can only shrink. One true value decides an `or`, one false value decides an
/// `and`. All other results can change in both directions.
///
/// Paper: Bongo et al. 2004, §IV states these rules, without formulas.
std::optional<bool> provable_outcome(std::string_view operation, base::Sign sign,
                                     Comparison comparison);
/// Returns why a part of the contributions cannot decide the condition; "" if it can. Two of the
/// reasons apply only to Values::ieee. An integer sum that overflows may move back across the
/// constant. And a NaN that arrives later makes every comparison false, so a part can prove only
/// that a comparison fails.
std::string why_not_provable(std::string_view operation, base::Sign sign, Comparison comparison,
                             base::Scalar scalar, base::Values values);
/// Returns why a result of the operation cannot have a condition with this comparison; empty if it
/// can.
std::string why_no_condition(std::string_view operation, Comparison comparison);

/// Returns whether a complete result satisfies the condition. `value` has the bytes of one
/// `spec.scalar`. NaN satisfies no comparison.
bool holds(const ConditionSpec& spec, std::span<const std::byte> value);
/// Returns whether `part`, the combined value of a part of the contributions, proves the outcome
/// that provable_outcome() returns. Returns false if there is no such outcome.
bool proves(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
            std::span<const std::byte> part);

/// Returns whether `left` is closer than `right` to proving the outcome that provable_outcome()
/// returns. Both are combined values of a part of the contributions.
bool is_nearer(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
               std::span<const std::byte> left, std::span<const std::byte> right);

}  // namespace paths
