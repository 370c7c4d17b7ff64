// SPDX-License-Identifier: Apache-2.0
// base/elementwise.hpp — arrays of scalars combined element by element, several at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/scalar.hpp"

namespace base {

/// What becomes of NaN and of integers beyond their type.
enum class Values : std::uint8_t {
  checked,  ///< they are errors
  /// What IEEE 754 and two's complement make of them. A NaN that comes out is always the same one,
  /// positive and quiet, so that its bits do not depend on the machine or on whose it was; min and
  /// max with a NaN give that NaN (IEEE 754-2019, 9.6, minimum and maximum). Integers wrap round.
  ieee,
};

/// Signs that values may have been declared to have.
enum class Sign : std::uint8_t { any, non_negative, non_positive };

/// Stores left op right, element by element, in `to`, which may be `left`. All have as many bytes.
/// Of values that are checked: false when one is not right, and then `to` holds nothing of use.
/// Nothing is reordered, and every machine comes to the same bits.
using CombineElements = bool (*)(std::span<std::byte> to, std::span<const std::byte> left,
                                 std::span<const std::byte> right);

struct ElementwiseOperation {
  std::string_view name;
  CombineElements (*of)(Scalar, Values);  ///< null for a type that it does not take
};
/// sum product min max logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
std::span<const ElementwiseOperation> elementwise_operations();

/// Whether all have the sign, and, when they are checked, none is NaN.
bool are_right(Scalar scalar, Sign sign, Values values, std::span<const std::byte> elements);

}  // namespace base
