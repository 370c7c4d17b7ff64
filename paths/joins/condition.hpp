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

/// Condition on one scalar. The constant has the same kind (signed, unsigned or floating-point) as
/// the scalar, so that integers are compared as integers. is_true uses no constant.
struct ConditionSpec {
  Comparison comparison = Comparison::less;
  base::Scalar scalar = base::Scalar::f64;
  std::variant<std::monostate, std::int64_t, std::uint64_t, double> constant;
};

/// Reads the setting `condition`, which has a form such as `{less: 0.01}` or `is_true`. Returns
/// nullopt if the setting is absent. If the setting is wrong, adds a mistake and returns nullopt.
std::optional<ConditionSpec> read_condition(base::MapReader& reader, base::Scalar scalar);
/// Reads the setting `contributions`: the sign that all contributions have.
base::Sign read_sign(base::MapReader& reader);
std::string_view sign_name(base::Sign sign);
/// Reads the setting `values`: how NaN and overflow are treated.
base::Values read_values(base::MapReader& reader);

/// Returns the outcome that a part of the contributions can prove: true if it can prove that the
/// condition holds, false if it can prove that the condition fails. Returns nullopt if a part can
/// prove neither. `operation` is a name from base/reduce.hpp.
///
/// A sum of non-negative values and any `max` can only grow when contributions are added. If such a
/// partial value is above the constant, the complete value is also above the constant. A sum of
/// non-positive values and any `min` can only shrink. One true value decides an `or`. One false
/// value decides an `and`. All other results can change in both directions.
///
/// Paper: Bongo et al. 2004, §IV, states these rules without formulas.
std::optional<bool> provable_outcome(std::string_view operation, base::Sign sign,
                                     Comparison comparison);
/// Returns why a part of the contributions cannot decide the condition; "" if a part can decide it.
/// Two reasons apply only to Values::ieee. First, an integer sum that overflows may move back
/// across the constant. Second, a NaN that arrives later makes every comparison false, so that a
/// part can never prove that a comparison holds.
std::string why_not_provable(std::string_view operation, base::Sign sign, Comparison comparison,
                             base::Scalar scalar, base::Values values);
/// Returns why a result of the operation cannot have a condition with this comparison; "" if a
/// result can have such a condition.
std::string why_no_condition(std::string_view operation, Comparison comparison);

/// Returns whether a complete result satisfies the condition. `value` is the result: the bytes of
/// one scalar of the type `spec.scalar`. NaN satisfies no comparison.
bool holds(const ConditionSpec& spec, std::span<const std::byte> value);
/// Returns whether `part` proves the outcome that provable_outcome() returns. `part` is the
/// combined value of a part of the contributions. Returns false if provable_outcome() returns
/// nullopt.
bool proves(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
            std::span<const std::byte> part);

/// Returns whether `left` is closer than `right` to proving the outcome that provable_outcome()
/// returns. `left` and `right` are each the combined value of a part of the contributions.
bool is_nearer(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
               std::span<const std::byte> left, std::span<const std::byte> right);

}  // namespace paths
