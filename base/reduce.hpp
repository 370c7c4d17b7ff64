// SPDX-License-Identifier: Apache-2.0
// base/reduce.hpp — the operations a reduction can combine values with.
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

/// What the bytes of one contribution are: `count` elements, each one scalar, or, for the located
/// operations, a pair (value of `scalar`, i64 location) packed without padding.
struct ReduceShape {
  Scalar scalar = Scalar::f64;
  std::size_t count = 1;
  bool located = false;
  std::size_t bytes() const;
  friend bool operator==(const ReduceShape&, const ReduceShape&) = default;
};

/// A value that no reduction may contain (NaN, a wrapped integer, a sign that was ruled out).
/// The text says which value and which array index; the caller adds whose it was.
class BadValue : public std::runtime_error {
 public:
  explicit BadValue(const std::string& wrong)
      : std::runtime_error(wrong), wrong_size_(wrong.size()) {}
  /// "`wrong` at index `index`"
  BadValue(const std::string& wrong, std::size_t index);
  /// The text without the index.
  std::string_view wrong() const { return std::string_view(what()).substr(0, wrong_size_); }
  std::optional<std::size_t> index() const { return index_; }

 private:
  std::size_t wrong_size_;
  std::optional<std::size_t> index_;
};
/// An integer beyond its type.
class Overflow : public BadValue {
 public:
  using BadValue::BadValue;
};
/// A value of the sign that was ruled out.
class WrongSign : public BadValue {
 public:
  using BadValue::BadValue;
};

/// One operation, built in or the user's own.
///
/// `combine` folds `right` into `left`, elementwise, left operand first: callers fold in one fixed
/// order, so that floating point gives the same bits from run to run.
/// Throws BadValue for NaN and Overflow. bitwise_* take integers and bool,
/// logical_* any scalar (false is zero; the result is 0 or 1); min/max_location keep the
/// smaller location among equals.
struct ReduceOperation {
  using Combine = std::function<void(const ReduceShape&, std::span<std::byte> left,
                                     std::span<const std::byte> right)>;
  std::string name;
  bool located = false;
  std::function<bool(Scalar)> accepts;
  Combine combine;
  /// Makes a value one that the operation could have come to, as it must when nothing is combined
  /// with it: logical ones are 0 or 1. Null where every value is one.
  std::function<void(const ReduceShape&, std::span<std::byte>)> normalize = {};
  /// The same as `combine` where values are Values::ieee. Null: `combine` itself.
  Combine combine_ieee = {};
  /// For parts of large values, and without words for what is wrong: `combine` has them. Null of
  /// located operations and of a user's own.
  CombineElements (*elements)(Scalar, Values) = nullptr;
  /// Whether operands may change places but for the grouping of floating point, and for which of 0
  /// and -0 comes first: so of everything built in, and of a user's own if he says so.
  bool is_commutative = false;
};

/// sum product min max logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
/// min_location max_location, then what add_reduce_operation() added. Null when there is none.
const ReduceOperation* reduce_operation(std::string_view name);
std::vector<std::string_view> reduce_operation_names();

/// Adds a user's own operation before any config that names it is read. Not thread-safe; a name
/// that exists is a std::invalid_argument.
void add_reduce_operation(ReduceOperation operation);

/// Throws BadValue when a value is NaN, unless values are Values::ieee, and WrongSign when it is
/// outside `sign`.
void check_contribution(const ReduceShape& shape, Sign sign, std::span<const std::byte> values,
                        Values rule = Values::checked);

/// "0.25", "(0.25 at 7)", "[1, 2, 3]": the values as a person reads them, at most eight of them.
std::string format_values(const ReduceShape& shape, std::span<const std::byte> values);

}  // namespace base
