// SPDX-License-Identifier: Apache-2.0
// base/elementwise.hpp — SIMD combination of arrays of scalars, element by element
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/scalar.hpp"

namespace base {

/// Treatment of NaN and of integers beyond the range of their type.
enum class Values : std::uint8_t {
  checked,  ///< NaN and overflow are errors
  /// Results of IEEE 754 and two's complement. Every NaN result is the same positive, quiet NaN, on
  /// every machine and for all operands. The operations min and max return this NaN if an operand
  /// is NaN. Integers wrap around.
  /// Paper: IEEE 754-2019, 9.6 (minimum and maximum).
  ieee,
};

/// The sign that all values must have; `any` = no restriction.
enum class Sign : std::uint8_t { any, non_negative, non_positive };

/// Computes `left` op `right` element by element and stores the result in `to`, which may be the
/// same span as `left`. All three spans have the same size. With Values::checked it returns false
/// if a value is invalid; the contents of `to` are then undefined. Operands are never reordered, so
/// every machine computes the same bits.
using CombineElements = bool (*)(std::span<std::byte> to, std::span<const std::byte> left,
                                 std::span<const std::byte> right);

struct ElementwiseOperation {
  std::string_view name;
  CombineElements (*of)(Scalar, Values);  ///< returns the function; nullptr = unsupported type
};
/// Returns the operations sum, product, min, max, logical_and, logical_or, logical_xor,
/// bitwise_and, bitwise_or and bitwise_xor.
std::span<const ElementwiseOperation> elementwise_operations();

/// Returns whether all elements have the sign `sign`. With Values::checked, returns false also if
/// an element is NaN.
bool are_right(Scalar scalar, Sign sign, Values values, std::span<const std::byte> elements);

}  // namespace base
