// SPDX-License-Identifier: Apache-2.0
// paths/joins/condition.hpp — the test a program makes on a reduced value, and what a part of it
// proves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/reduce.hpp"
#include "base/scalar.hpp"
#include "base/settings.hpp"
#include "pastset/template.hpp"

namespace paths {

enum class Comparison : std::uint8_t { less, at_most, greater, at_least, equal, is_true };
std::string_view comparison_name(Comparison comparison);

/// A condition on one scalar. The constant has the kind of number that the scalar has, so that
/// integers are compared as integers; it is absent for is_true.
struct ConditionSpec {
  Comparison comparison = Comparison::less;
  base::Scalar scalar = base::Scalar::f64;
  std::variant<std::monostate, std::int64_t, std::uint64_t, double> constant;
};

/// Reads the setting `key`, written `{less: 0.01}` or `is_true`. Nothing when it is absent or
/// wrong; then a mistake was added.
std::optional<ConditionSpec> read_condition(base::MapReader& reader, std::string_view key,
                                            base::Scalar scalar);
/// Reads the setting `contributions`.
base::Sign read_sign(base::MapReader& reader, std::string_view key = "contributions");
std::string_view sign_name(base::Sign sign);
/// Reads the setting `values`.
base::Values read_values(base::MapReader& reader);

/// The one outcome that a part of the contributions can establish, if there is one (the limits that
/// Bongo et al. 2004, §IV, name in words). `operation` is a name of base/reduce.hpp.
///
/// Sums of non-negative values and every max only grow as contributions are added: a part above
/// the constant stays above it. Sums of non-positive values and every min only sink. One true
/// makes an `or`, one false breaks an `and`. Everything else may go either way.
std::optional<bool> provable_outcome(std::string_view operation, base::Sign sign,
                                     Comparison comparison);
/// Why the combination cannot be decided from a part; empty when it can. Of Values::ieee integers
/// that wrap round may come back from beyond the constant, and a NaN still to come would undo every
/// comparison that holds; one that fails it leaves failed.
std::string why_not_provable(std::string_view operation, base::Sign sign, Comparison comparison,
                             base::Scalar scalar, base::Values values);
/// Why no condition of this kind makes sense with the operation at all; empty when it does.
std::string why_no_condition(std::string_view operation, Comparison comparison);

/// The condition's value for a complete result: the bytes of one `spec.scalar`. NaN satisfies no
/// comparison.
bool holds(const ConditionSpec& spec, std::span<const std::byte> value);
/// Whether the value of a part establishes provable_outcome(); false when there is none.
bool proves(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
            std::span<const std::byte> part);

/// Whether `left` is nearer than `right` to establishing provable_outcome(), as values of parts.
bool is_nearer(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
               std::span<const std::byte> left, std::span<const std::byte> right);

}  // namespace paths
