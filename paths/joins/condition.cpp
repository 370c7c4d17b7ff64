// SPDX-License-Identifier: Apache-2.0
// paths/joins/condition.cpp — evaluation of conditions on complete values and on partial values.
#include "paths/joins/condition.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"

namespace paths {
namespace {

constexpr std::array<std::string_view, 6> comparison_names = {"less",     "at_most", "greater",
                                                              "at_least", "equal",   "is_true"};
constexpr std::array<std::string_view, 3> sign_names = {"any", "non_negative", "non_positive"};

/// Direction in which the combined value can change when more contributions are added.
enum class Movement : std::uint8_t { unknown, grows, sinks, becomes_true, becomes_false };

Movement movement(std::string_view operation, base::Sign sign) {
  if (operation == "max") return Movement::grows;
  if (operation == "min") return Movement::sinks;
  if (operation == "logical_or") return Movement::becomes_true;
  if (operation == "logical_and") return Movement::becomes_false;
  if (operation != "sum") return Movement::unknown;
  if (sign == base::Sign::non_negative) return Movement::grows;
  if (sign == base::Sign::non_positive) return Movement::sinks;
  return Movement::unknown;
}

/// Compares `value` with the constant of the condition. Returns a number below 0 if the value is
/// smaller, 0 if they are equal, and a number above 0 if the value is larger.
int compare(const ConditionSpec& spec, std::span<const std::byte> value) {
  return base::with_scalar(spec.scalar, [&](auto sample) {
    using T = decltype(sample);
    ENSURE_EQ(value.size(), sizeof sample);
    std::memcpy(&sample, value.data(), sizeof sample);
    const auto order = [](auto left, auto right) {
      return left < right ? -1 : left > right ? 1 : 0;
    };
    if constexpr (std::is_floating_point_v<T>)
      return order(static_cast<double>(sample), std::get<double>(spec.constant));
    else if constexpr (std::is_signed_v<T>)
      return order(static_cast<std::int64_t>(sample), std::get<std::int64_t>(spec.constant));
    else
      return order(static_cast<std::uint64_t>(sample), std::get<std::uint64_t>(spec.constant));
  });
}

bool is_nonzero(const ConditionSpec& spec, std::span<const std::byte> value) {
  return base::with_scalar(spec.scalar, [&](auto sample) {
    ENSURE_EQ(value.size(), sizeof sample);
    std::memcpy(&sample, value.data(), sizeof sample);
    return sample != decltype(sample){};
  });
}

bool is_nan(base::Scalar scalar, std::span<const std::byte> value) {
  return !base::are_right(scalar, base::Sign::any, base::Values::checked, value);
}

std::string range_text(base::Scalar scalar) {
  return base::with_scalar(scalar, [](auto sample) -> std::string {
    using T = decltype(sample);
    if constexpr (std::is_floating_point_v<T>)
      return "a number";
    else
      return fmt::format("an integer from {} to {}", +std::numeric_limits<T>::min(),
                         +std::numeric_limits<T>::max());
  });
}

bool read_constant(ConditionSpec& spec, std::string_view text) {
  return base::with_scalar(spec.scalar, [&](auto sample) {
    using T = decltype(sample);
    if constexpr (std::is_floating_point_v<T>) {
      const auto value = base::parse_number(text);
      if (value) spec.constant = *value;
      return value.has_value();
    } else {
      const auto value = [text] {
        if constexpr (std::is_signed_v<T>)
          return base::parse_integer(text);
        else
          return base::parse_natural(text);
      }();
      using Wide = typename decltype(value)::value_type;
      if (!value || *value < Wide{std::numeric_limits<T>::min()} ||
          *value > Wide{std::numeric_limits<T>::max()})
        return false;
      spec.constant = *value;
      return true;
    }
  });
}

std::string not_a_condition(const base::Settings& value) {
  return fmt::format("expected a condition such as {{less: 0.01}}, or is_true, found {}",
                     value.describe());
}

}  // namespace

std::string_view comparison_name(Comparison comparison) {
  return comparison_names.at(static_cast<std::size_t>(comparison));
}

std::string_view sign_name(base::Sign sign) {
  return sign_names.at(static_cast<std::size_t>(sign));
}

base::Sign read_sign(base::MapReader& reader) {
  const std::string word = reader.choice("contributions", {sign_names.begin(), sign_names.end()},
                                         std::string(sign_names[0]));
  for (std::size_t index = 1; index < sign_names.size(); ++index)
    if (word == sign_names[index]) return static_cast<base::Sign>(index);
  return base::Sign::any;
}

base::Values read_values(base::MapReader& reader) {
  return reader.choice("values", {"checked", "ieee"}, "checked") == "ieee" ? base::Values::ieee
                                                                           : base::Values::checked;
}

std::optional<ConditionSpec> read_condition(base::MapReader& reader, base::Scalar scalar) {
  constexpr std::string_view key = "condition";
  const base::Settings value = reader.take(key);
  if (value.is_null() && !reader.has(key)) return std::nullopt;
  ConditionSpec spec;
  spec.scalar = scalar;
  if (value.is_scalar() && value.text() == "is_true") {
    spec.comparison = Comparison::is_true;
    return spec;
  }
  if (!value.is_map() || value.entries().size() != 1) {
    reader.mistake(key, not_a_condition(value));
    return std::nullopt;
  }
  const auto& [word, constant] = value.entries().front();
  const std::vector<std::string_view> words(comparison_names.begin(), comparison_names.end() - 1);
  std::size_t index = 0;
  while (index < words.size() && words[index] != word.text()) ++index;
  if (index == words.size()) {
    reader.mistakes().add(word.position(),
                          fmt::format("{}: {}", key, base::not_one_of(word.text(), words)));
    return std::nullopt;
  }
  spec.comparison = static_cast<Comparison>(index);
  if (!constant.is_scalar() || !read_constant(spec, constant.text())) {
    reader.mistakes().add(
        constant.position(),
        fmt::format("{}: expected {}, because the template is {}, found {}", word.text(),
                    range_text(scalar), base::scalar_name(scalar), constant.describe()));
    return std::nullopt;
  }
  return spec;
}

std::optional<bool> provable_outcome(std::string_view operation, base::Sign sign,
                                     Comparison comparison) {
  if (!why_no_condition(operation, comparison).empty()) return std::nullopt;
  switch (movement(operation, sign)) {
    case Movement::unknown: return std::nullopt;
    case Movement::becomes_true: return true;
    case Movement::becomes_false: return false;
    case Movement::grows:
      return comparison == Comparison::greater || comparison == Comparison::at_least;
    case Movement::sinks:
      return comparison == Comparison::less || comparison == Comparison::at_most;
  }
  return std::nullopt;
}

std::string why_no_condition(std::string_view operation, Comparison comparison) {
  const bool logical = operation == "logical_or" || operation == "logical_and";
  if (!logical && operation != "sum" && operation != "max" && operation != "min")
    return fmt::format(
        "the operation {} takes no condition: sum, max, min, logical_or and "
        "logical_and do",
        operation);
  if (logical && comparison != Comparison::is_true)
    return fmt::format("the operation {} takes the condition is_true, not {}", operation,
                       comparison_name(comparison));
  if (!logical && comparison == Comparison::is_true)
    return fmt::format(
        "the condition is_true is for logical_or and logical_and; {} takes a "
        "comparison such as {{less: 0.01}}",
        operation);
  return {};
}

std::string why_not_provable(std::string_view operation, base::Sign sign, Comparison comparison,
                             base::Scalar scalar, base::Values values) {
  if (std::string reason = why_no_condition(operation, comparison); !reason.empty()) return reason;
  if (const auto outcome = provable_outcome(operation, sign, comparison)) {
    const bool is_real = scalar == base::Scalar::f32 || scalar == base::Scalar::f64;
    if (values == base::Values::checked || comparison == Comparison::is_true) return {};
    if (!is_real && operation == "sum")
      return fmt::format(
          "with values: ieee a sum of {} wraps round, so that a part of it proves "
          "nothing about '{}'",
          base::scalar_name(scalar), comparison_name(comparison));
    if (is_real && *outcome)
      return fmt::format(
          "with values: ieee a part proves nothing about '{}', which holds no more "
          "when a NaN is added",
          comparison_name(comparison));
    return {};
  }
  return fmt::format(
      "a part of a sum proves nothing about '{}' while contributions may have "
      "either sign; declare contributions: non_negative or non_positive",
      comparison_name(comparison));
}

bool holds(const ConditionSpec& spec, std::span<const std::byte> value) {
  if (spec.comparison != Comparison::is_true && is_nan(spec.scalar, value)) return false;
  switch (spec.comparison) {
    case Comparison::less: return compare(spec, value) < 0;
    case Comparison::at_most: return compare(spec, value) <= 0;
    case Comparison::greater: return compare(spec, value) > 0;
    case Comparison::at_least: return compare(spec, value) >= 0;
    case Comparison::equal: return compare(spec, value) == 0;
    case Comparison::is_true: break;
  }
  return is_nonzero(spec, value);
}

bool proves(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
            std::span<const std::byte> part) {
  const auto outcome = provable_outcome(operation, sign, spec.comparison);
  if (!outcome) return false;
  // For `equal`, a partial value that equals the constant proves nothing, because the complete
  // value may differ. A partial value that has passed the constant cannot return, so the complete
  // value certainly differs from the constant.
  if (spec.comparison == Comparison::equal)
    return movement(operation, sign) == Movement::grows ? compare(spec, part) > 0
                                                        : compare(spec, part) < 0;
  return holds(spec, part) == *outcome;
}

bool is_nearer(const ConditionSpec& spec, std::string_view operation, base::Sign sign,
               std::span<const std::byte> left, std::span<const std::byte> right) {
  // A NaN is nearer to a decision than any number. A partial value that is NaN stays NaN when
  // further values are added, so the comparison is certain to fail.
  const bool is_left_nan = is_nan(spec.scalar, left), is_right_nan = is_nan(spec.scalar, right);
  if (is_left_nan || is_right_nan) return is_left_nan && !is_right_nan;
  const int order = base::with_scalar(spec.scalar, [&](auto first) {
    auto second = first;
    std::memcpy(&first, left.data(), sizeof first);
    std::memcpy(&second, right.data(), sizeof second);
    return first < second ? -1 : second < first ? 1 : 0;
  });
  const Movement moves = movement(operation, sign);
  const bool is_upwards = moves == Movement::grows || moves == Movement::becomes_true;
  return is_upwards ? order > 0 : order < 0;
}

}  // namespace paths
