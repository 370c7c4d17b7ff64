// SPDX-License-Identifier: Apache-2.0
// base/reduce.cpp — the reductions by name, and the texts of their errors
#include "base/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <type_traits>

#include "base/errors.hpp"

namespace base {
namespace {

using Location = std::int64_t;

template <class T>
T read_as(const std::byte* from) {
  // Copying a byte other than 0 and 1 into a bool is undefined, so the byte is compared with 0
  // instead.
  if constexpr (std::is_same_v<T, bool>) return *from != std::byte{0};
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <class T>
void refuse_nan(T value, std::size_t index) {
  if (is_nan(value)) throw BadValue("NaN", index);
}

/// Finds the first index in this block at which the two elements cannot be combined, and throws the
/// error for these elements.
[[noreturn]] void say_what_is_wrong(std::string_view name, Scalar scalar, CombineElements combine,
                                    std::span<const std::byte> left,
                                    std::span<const std::byte> right, std::size_t first_index) {
  with_scalar(scalar, [&](auto zero) {
    using T = decltype(zero);
    T result{};
    for (std::size_t at = 0; at < left.size(); at += sizeof(T)) {
      if (combine(std::as_writable_bytes(std::span<T, 1>(&result, 1)), left.subspan(at, sizeof(T)),
                  right.subspan(at, sizeof(T))))
        continue;
      const std::size_t index = first_index + at / sizeof(T);
      const T a = read_as<T>(left.data() + at);
      const T b = read_as<T>(right.data() + at);
      refuse_nan(a, index);
      refuse_nan(b, index);
      const std::string what = fmt::format("{} {} of {} and {}", scalar_name(scalar), name, a, b);
      if (std::is_integral_v<T>) throw Overflow("overflow of " + what, index);
      throw BadValue("NaN in " + what, index);
    }
  });
  report_bug(__FILE__, __LINE__, "a block could not be combined, but each of its elements can");
}

/// Combines block by block. The result of a block replaces `left` only after success, so that an
/// error message can show the operands.
void combine_checked(const ElementwiseOperation& operation, const ReduceShape& shape,
                     std::span<std::byte> left, std::span<const std::byte> right) {
  ENSURE(!shape.located && left.size() == shape.bytes() && right.size() == shape.bytes());
  const CombineElements combine = operation.of(shape.scalar, Values::checked);
  ENSURE(combine != nullptr);
  std::array<std::byte, 4096> block;
  for (std::size_t at = 0; at < left.size(); at += block.size()) {
    const std::size_t size = std::min(block.size(), left.size() - at);
    const std::span<std::byte> result(block.data(), size), place = left.subspan(at, size);
    const std::span<const std::byte> other = right.subspan(at, size);
    if (!combine(result, place, other))
      say_what_is_wrong(operation.name, shape.scalar, combine, place, other,
                        at / scalar_bytes(shape.scalar));
    std::memcpy(place.data(), result.data(), size);
  }
}

/// Returns whether a located operation replaces `mine` by `other`. A NaN replaces every number.
template <class Better, class T>
bool is_better(T other, T mine, bool is_earlier) {
  if (is_nan(other) || is_nan(mine)) return is_nan(other) && (!is_nan(mine) || is_earlier);
  return Better{}(other, mine) || (other == mine && is_earlier);
}

template <class Better, Values values>
void combine_located(const ReduceShape& shape, std::span<std::byte> left,
                     std::span<const std::byte> right) {
  ENSURE(shape.located && left.size() == shape.bytes() && right.size() == shape.bytes());
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    constexpr std::size_t stride = sizeof(T) + sizeof(Location);
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::byte* const place = left.data() + i * stride;
      const std::byte* const other = right.data() + i * stride;
      const T a = read_as<T>(place);
      const T b = read_as<T>(other);
      if (values == Values::checked) {
        refuse_nan(a, i);
        refuse_nan(b, i);
      }
      const bool is_earlier =
          read_as<Location>(other + sizeof(T)) < read_as<Location>(place + sizeof(T));
      if (is_better<Better>(b, a, is_earlier)) std::memcpy(place, other, stride);
      if constexpr (std::is_floating_point_v<T>)
        if (is_nan(read_as<T>(place))) store(place, std::numeric_limits<T>::quiet_NaN());
    }
  });
}

bool accepts_numbers(Scalar scalar) { return scalar != Scalar::boolean; }

void make_zero_or_one(const ReduceShape& shape, std::span<std::byte> values) {
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::byte* const place = values.data() + i * sizeof(T);
      store(place, static_cast<T>(read_as<T>(place) != T{}));
    }
  });
}

ReduceOperation elementwise(const ElementwiseOperation& one) {
  ReduceOperation operation;
  operation.name = one.name;
  operation.accepts = [one](Scalar scalar) { return one.of(scalar, Values::checked) != nullptr; };
  operation.combine = [one](const ReduceShape& shape, std::span<std::byte> left,
                            std::span<const std::byte> right) {
    combine_checked(one, shape, left, right);
  };
  operation.combine_ieee = [one](const ReduceShape& shape, std::span<std::byte> left,
                                 std::span<const std::byte> right) {
    one.of(shape.scalar, Values::ieee)(left, left, right);
  };
  if (one.name.starts_with("logical_")) operation.normalize = make_zero_or_one;
  operation.elements = one.of;
  operation.is_commutative = true;
  return operation;
}

template <class Better>
ReduceOperation located(const char* name) {
  return {.name = name,
          .located = true,
          .accepts = accepts_numbers,
          .combine = combine_located<Better, Values::checked>,
          .combine_ieee = combine_located<Better, Values::ieee>,
          .is_commutative = true};
}

/// Returns all operations by reference. The container is a deque, because pointers to its
/// operations stay valid when further operations are added.
std::deque<ReduceOperation>& operations() {
  static std::deque<ReduceOperation> all = [] {
    std::deque<ReduceOperation> built_in;
    for (const ElementwiseOperation& one : elementwise_operations())
      built_in.push_back(elementwise(one));
    built_in.push_back(located<std::less<>>("min_location"));
    built_in.push_back(located<std::greater<>>("max_location"));
    return built_in;
  }();
  return all;
}

std::size_t stride_of(const ReduceShape& shape) {
  return scalar_bytes(shape.scalar) + (shape.located ? sizeof(Location) : 0);
}

}  // namespace

BadValue::BadValue(const std::string& wrong, std::size_t index)
    : std::runtime_error(fmt::format("{} at index {}", wrong, index)),
      wrong_size_(wrong.size()),
      index_(index) {}

std::size_t ReduceShape::bytes() const { return count * stride_of(*this); }

const ReduceOperation* reduce_operation(std::string_view name) {
  for (const ReduceOperation& operation : operations()) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

std::vector<std::string_view> reduce_operation_names() {
  std::vector<std::string_view> names;
  for (const ReduceOperation& operation : operations()) names.push_back(operation.name);
  return names;
}

void add_reduce_operation(ReduceOperation operation) {
  if (operation.name.empty() || !operation.accepts || !operation.combine) {
    throw std::invalid_argument("a reduce operation needs a name, accepts and combine");
  }
  if (reduce_operation(operation.name) != nullptr) {
    throw std::invalid_argument(
        fmt::format("there is a reduce operation '{}' already", operation.name));
  }
  operations().push_back(std::move(operation));
}

void check_contribution(const ReduceShape& shape, Sign sign, std::span<const std::byte> values,
                        Values rule) {
  ENSURE_EQ(values.size(), shape.bytes());
  const bool is_floating = shape.scalar == Scalar::f32 || shape.scalar == Scalar::f64;
  if (sign == Sign::any && !(is_floating && rule == Values::checked)) return;
  if (!shape.located && are_right(shape.scalar, sign, rule, values)) return;
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    const std::size_t stride = stride_of(shape);
    for (std::size_t i = 0; i < shape.count; ++i) {
      const T value = read_as<T>(values.data() + i * stride);
      if (rule == Values::checked) refuse_nan(value, i);
      if constexpr (std::is_signed_v<T>) {
        if (sign == Sign::non_negative && value < T{}) {
          throw WrongSign(fmt::format("negative value {}", value), i);
        }
      }
      if (sign == Sign::non_positive && value > T{}) {
        throw WrongSign(fmt::format("positive value {}", value), i);
      }
    }
  });
}

}  // namespace base
