// SPDX-License-Identifier: Apache-2.0
// base/reduce.cpp — the built-in reductions, elementwise, over packed bytes.
#include "base/reduce.hpp"

#include <fmt/format.h>

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
T load(const std::byte* from) {
  // A byte other than 0 and 1 must not become a bool by copying: that would be undefined.
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
  if (is_nan(value)) throw BadValue(fmt::format("NaN at index {}", index));
}

/// Stores apply(left, right) for every element; `Apply` says whether its result is right.
template <class Apply>
void fold_elements(const char* name, const ReduceShape& shape, std::span<std::byte> left,
                   std::span<const std::byte> right, Apply apply) {
  ENSURE(!shape.located && left.size() == shape.bytes() && right.size() == shape.bytes());
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::byte* const place = left.data() + i * sizeof(T);
      const T a = load<T>(place);
      const T b = load<T>(right.data() + i * sizeof(T));
      T result{};
      if (!apply(a, b, result)) [[unlikely]] {
        refuse_nan(a, i);
        refuse_nan(b, i);
        const std::string what =
            fmt::format("{} {} of {} and {} at index {}", scalar_name(shape.scalar), name, a, b, i);
        if (std::is_integral_v<T>) throw Overflow("overflow of " + what);
        throw BadValue("NaN in " + what);
      }
      store(place, result);
    }
  });
}

[[noreturn]] void not_accepted() {
  report_bug(__FILE__, __LINE__, "a reduction got a scalar type that it does not accept");
}

struct Sum {
  static constexpr const char* name = "sum";
  template <class T>
  bool operator()(T a, T b, T& result) const {
    if constexpr (std::is_same_v<T, bool>) {
      not_accepted();
    } else if constexpr (std::is_integral_v<T>) {
      return !__builtin_add_overflow(a, b, &result);
    } else {
      result = a + b;
      return !is_nan(result);
    }
  }
};

struct Product {
  static constexpr const char* name = "product";
  template <class T>
  bool operator()(T a, T b, T& result) const {
    if constexpr (std::is_same_v<T, bool>) {
      not_accepted();
    } else if constexpr (std::is_integral_v<T>) {
      return !__builtin_mul_overflow(a, b, &result);
    } else {
      result = a * b;
      return !is_nan(result);
    }
  }
};

struct Min {
  static constexpr const char* name = "min";
  template <class T>
  bool operator()(T a, T b, T& result) const {
    result = b < a ? b : a;
    return !is_nan(a) && !is_nan(b);
  }
};

struct Max {
  static constexpr const char* name = "max";
  template <class T>
  bool operator()(T a, T b, T& result) const {
    result = a < b ? b : a;
    return !is_nan(a) && !is_nan(b);
  }
};

template <class Combine>
struct Logical {
  template <class T>
  bool operator()(T a, T b, T& result) const {
    result = static_cast<T>(Combine{}(a != T{}, b != T{}));
    return !is_nan(a) && !is_nan(b);
  }
};
struct LogicalAnd : Logical<std::logical_and<bool>> {
  static constexpr const char* name = "logical_and";
};
struct LogicalOr : Logical<std::logical_or<bool>> {
  static constexpr const char* name = "logical_or";
};
struct LogicalXor : Logical<std::not_equal_to<bool>> {
  static constexpr const char* name = "logical_xor";
};

template <class Combine>
struct Bitwise {
  template <class T>
  bool operator()(T a, T b, T& result) const {
    if constexpr (std::is_integral_v<T>) {
      result = static_cast<T>(Combine{}(a, b));
      return true;
    } else {
      not_accepted();
    }
  }
};
struct BitwiseAnd : Bitwise<std::bit_and<>> {
  static constexpr const char* name = "bitwise_and";
};
struct BitwiseOr : Bitwise<std::bit_or<>> {
  static constexpr const char* name = "bitwise_or";
};
struct BitwiseXor : Bitwise<std::bit_xor<>> {
  static constexpr const char* name = "bitwise_xor";
};

template <class Better>
void fold_located(const ReduceShape& shape, std::span<std::byte> left,
                  std::span<const std::byte> right, Better better) {
  ENSURE(shape.located && left.size() == shape.bytes() && right.size() == shape.bytes());
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    constexpr std::size_t stride = sizeof(T) + sizeof(Location);
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::byte* const place = left.data() + i * stride;
      const std::byte* const other = right.data() + i * stride;
      const T a = load<T>(place);
      const T b = load<T>(other);
      refuse_nan(a, i);
      refuse_nan(b, i);
      const bool earlier = load<Location>(other + sizeof(T)) < load<Location>(place + sizeof(T));
      if (better(b, a) || (a == b && earlier)) std::memcpy(place, other, stride);
    }
  });
}

bool accepts_any(Scalar) { return true; }
bool accepts_numbers(Scalar scalar) { return scalar != Scalar::boolean; }
bool accepts_bits(Scalar scalar) { return scalar != Scalar::f32 && scalar != Scalar::f64; }

template <class Apply>
ReduceOperation elementwise(bool (*accepts)(Scalar)) {
  return {
      Apply::name, false, accepts,
      [](const ReduceShape& shape, std::span<std::byte> left, std::span<const std::byte> right) {
        fold_elements(Apply::name, shape, left, right, Apply{});
      }};
}

template <class Apply>
ReduceOperation logical() {
  ReduceOperation operation = elementwise<Apply>(accepts_any);
  operation.normalize = [](const ReduceShape& shape, std::span<std::byte> values) {
    with_scalar(shape.scalar, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t i = 0; i < shape.count; ++i) {
        std::byte* const place = values.data() + i * sizeof(T);
        store(place, static_cast<T>(load<T>(place) != T{}));
      }
    });
  };
  return operation;
}

template <class Better>
ReduceOperation located(const char* name) {
  return {name, true, accepts_numbers,
          [](const ReduceShape& shape, std::span<std::byte> left,
             std::span<const std::byte> right) { fold_located(shape, left, right, Better{}); }};
}

/// A deque: callers keep pointers to operations while others are added.
std::deque<ReduceOperation>& operations() {
  static std::deque<ReduceOperation> all = {elementwise<Sum>(accepts_numbers),
                                            elementwise<Product>(accepts_numbers),
                                            elementwise<Min>(accepts_numbers),
                                            elementwise<Max>(accepts_numbers),
                                            logical<LogicalAnd>(),
                                            logical<LogicalOr>(),
                                            logical<LogicalXor>(),
                                            elementwise<BitwiseAnd>(accepts_bits),
                                            elementwise<BitwiseOr>(accepts_bits),
                                            elementwise<BitwiseXor>(accepts_bits),
                                            located<std::less<>>("min_location"),
                                            located<std::greater<>>("max_location")};
  return all;
}

std::size_t stride_of(const ReduceShape& shape) {
  return scalar_bytes(shape.scalar) + (shape.located ? sizeof(Location) : 0);
}

}  // namespace

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

void check_contribution(const ReduceShape& shape, Sign sign, std::span<const std::byte> values) {
  ENSURE_EQ(values.size(), shape.bytes());
  with_scalar(shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    const std::size_t stride = stride_of(shape);
    for (std::size_t i = 0; i < shape.count; ++i) {
      const T value = load<T>(values.data() + i * stride);
      refuse_nan(value, i);
      if constexpr (std::is_signed_v<T>) {
        if (sign == Sign::non_negative && value < T{}) {
          throw WrongSign(fmt::format("negative value {} at index {}", value, i));
        }
      }
      if (sign == Sign::non_positive && value > T{}) {
        throw WrongSign(fmt::format("positive value {} at index {}", value, i));
      }
    }
  });
}

std::string format_values(const ReduceShape& shape, std::span<const std::byte> values) {
  ENSURE_EQ(values.size(), shape.bytes());
  constexpr std::size_t shown_max = 8;
  const std::size_t stride = stride_of(shape);
  std::string text;
  for (std::size_t i = 0; i < std::min(shape.count, shown_max); ++i) {
    const std::byte* const place = values.data() + i * stride;
    if (i > 0) text += ", ";
    with_scalar(shape.scalar, [&](auto zero) {
      using T = decltype(zero);
      const T value = load<T>(place);
      text += shape.located ? fmt::format("({} at {})", value, load<Location>(place + sizeof(T)))
                            : fmt::format("{}", value);
    });
  }
  if (shape.count == 1) return text;
  if (shape.count > shown_max) text += ", ...";
  return "[" + text + "]";
}

}  // namespace base
