// SPDX-License-Identifier: Apache-2.0
// base/reduce.hpp — operations that a reduction can use to combine values
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/elementwise.hpp"
#include "base/scalar.hpp"

namespace base {

/// Layout of one contribution: `count` elements. An element is a scalar or, for located operations,
/// a pair of a scalar and an i64 location without padding.
struct ReduceShape {
  Scalar scalar = Scalar::f64;
  std::size_t count = 1;
  bool located = false;
  std::size_t bytes() const;
  friend bool operator==(const ReduceShape&, const ReduceShape&) = default;
};

/// A value that a reduction rejects: NaN, integer overflow, or an excluded sign. The text contains
/// the value and its array index. The caller adds the name of the contributor.
class BadValue : public std::runtime_error {
 public:
  explicit BadValue(const std::string& wrong)
      : std::runtime_error(wrong), wrong_size_(wrong.size()) {}
  /// Constructs the text "`wrong` at index `index`".
  BadValue(const std::string& wrong, std::size_t index);
  std::string_view wrong() const { return std::string_view(what()).substr(0, wrong_size_); }
  std::optional<std::size_t> index() const { return index_; }

 private:
  std::size_t wrong_size_;
  std::optional<std::size_t> index_;
};
/// Error for an integer result that exceeds the range of its type.
class Overflow : public BadValue {
 public:
  using BadValue::BadValue;
};
class WrongSign : public BadValue {
 public:
  using BadValue::BadValue;
};

/// One operation, built in or defined by the user.
///
/// `combine` computes `left` op `right`, elementwise, and stores the result in `left`. Callers
/// combine in one fixed order, so that floating-point results have the same bits in every run.
/// - Bitwise operations take integers and bool.
/// - Logical operations take any scalar; false is zero, and the result is 0 or 1.
/// - Located operations keep the smaller location if two values are equal.
/// Throws: BadValue for NaN; Overflow.
struct ReduceOperation {
  using Combine = std::function<void(const ReduceShape&, std::span<std::byte> left,
                                     std::span<const std::byte> right)>;
  std::string name;
  bool located = false;
  std::function<bool(Scalar)> accepts;
  Combine combine;
  /// Converts a value that is not combined with a further value into a valid result. For example,
  /// logical values become 0 or 1. nullptr = every value is a valid result.
  std::function<void(const ReduceShape&, std::span<std::byte>)> normalize = {};
  /// Combines like `combine`, by the rules of Values::ieee. nullptr = use `combine`.
  Combine combine_ieee = {};
  /// Returns the function that combines parts of large values. That function reports only that a
  /// value is invalid; `combine` then throws the exception with the text. nullptr for located and
  /// user-defined operations.
  CombineElements (*elements)(Scalar, Values) = nullptr;
  /// Whether schedules may combine operands in any order. Another order may change only two things:
  /// the last bits of floating-point sums, and the choice between 0 and -0. This is true for all
  /// built-in operations. A user-defined operation must set it to true if it is true there.
  bool is_commutative = false;
};

/// Returns the operation with that name; nullptr if there is none. The names are those of the
/// built-in operations below, and those that add_reduce_operation() has added.
/// - Elementwise: sum product min max logical_and logical_or logical_xor bitwise_and bitwise_or
///   bitwise_xor.
/// - Located: min_location max_location.
const ReduceOperation* reduce_operation(std::string_view name);
std::vector<std::string_view> reduce_operation_names();

/// Adds a user-defined operation. Must be called before a config that names it is read. Not
/// thread-safe. Throws std::invalid_argument if the name exists.
void add_reduce_operation(ReduceOperation operation);

/// Throws BadValue if a value is NaN and `rule` is not Values::ieee. Throws WrongSign if a value
/// has a sign that `sign` excludes.
void check_contribution(const ReduceShape& shape, Sign sign, std::span<const std::byte> values,
                        Values rule = Values::checked);

}  // namespace base
