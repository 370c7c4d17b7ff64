// SPDX-License-Identifier: Apache-2.0
// base/elementwise.cpp — SIMD operations on vectors of sixteen bytes (`Lane`)
#include "base/elementwise.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/copy_few.hpp"
#include "base/errors.hpp"

namespace base {
namespace {

constexpr std::size_t lane_bytes = 16;

/// A vector of 16 bytes with elements of type T. If the processor has an instruction for an
/// operation on such a vector, the compiler uses that instruction at any optimisation level.
template <class T>
struct LaneOf {
  typedef T type __attribute__((vector_size(lane_bytes)));
};
template <class T>
using Lane = typename LaneOf<T>::type;

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
template <class T>
using BitsLane = Lane<Bits<T>>;
template <class T>
constexpr Bits<T> highest_bit = static_cast<Bits<T>>(Bits<T>{1} << (sizeof(T) * 8 - 1));
/// Errors of a vector: the highest bit of an element is set if its result is invalid. Masks from
/// comparisons would also work, but compilers turn their combination into branches.
template <class T>
using Wrong = BitsLane<T>;

/// Type with which an element is combined: a byte for bool, otherwise T.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
Lane<T> all(T value) {
  return value - Lane<T>{};
}

template <class T>
BitsLane<T> bits_of(Lane<T> lane) {
  return std::bit_cast<BitsLane<T>>(lane);
}

/// Returns a vector in which the highest bit of each element tells whether the element is NaN. The
/// test ignores the sign bit and reads the other bits as an integer. This integer is greater for a
/// NaN than for infinity.
template <class T>
Wrong<T> where_nan([[maybe_unused]] Lane<T> lane) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr Bits<T> infinity = std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());
    constexpr Bits<T> no_sign = static_cast<Bits<T>>(~highest_bit<T>);
    return all(infinity) - (bits_of<T>(lane) & all(no_sign));
  }
  return Wrong<T>{};
}

template <class T>
bool is_any(Wrong<T> wrong) {
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(wrong & all(highest_bit<T>));
  return (halves[0] | halves[1]) != 0;
}

template <class T>
Lane<T> with_one_nan(Lane<T> result) {
  return result != result ? all(std::numeric_limits<T>::quiet_NaN()) : result;
}

template <class T, Values values>
Lane<T> settle_nan(Lane<T> result, Wrong<T>& wrong) {
  if constexpr (values == Values::ieee) return with_one_nan<T>(result);
  wrong |= where_nan<T>(result);
  return result;
}

template <class T>
constexpr bool is_number = !std::is_same_v<T, bool>;

struct Sum {
  template <class T>
  static constexpr bool takes = is_number<T>;
  template <class T, Values values>
  static Lane<T> apply(Lane<T> left, Lane<T> right, Wrong<T>& wrong) {
    if constexpr (std::is_floating_point_v<T>) {
      return settle_nan<T, values>(left + right, wrong);
    } else {
      const BitsLane<T> a = bits_of<T>(left), b = bits_of<T>(right), result = a + b;
      // Overflow of signed integers: the sign of the result differs from the signs of both
      // operands. Overflow of unsigned integers: the highest bit produces a carry.
      if (values == Values::checked)
        wrong |= std::is_signed_v<T> ? (a ^ result) & (b ^ result) : (a & b) | ((a | b) & ~result);
      return std::bit_cast<Lane<T>>(result);
    }
  }
};

struct Product {
  template <class T>
  static constexpr bool takes = is_number<T>;
  template <class T, Values values>
  static Lane<T> apply(Lane<T> left, Lane<T> right, Wrong<T>& wrong) {
    if constexpr (std::is_floating_point_v<T>) {
      return settle_nan<T, values>(left * right, wrong);
    } else if constexpr (values == Values::ieee) {
      return std::bit_cast<Lane<T>>(bits_of<T>(left) * bits_of<T>(right));
    } else {
      Lane<T> result{};
      for (std::size_t i = 0; i < lane_bytes / sizeof(T); ++i) {
        T one{};
        if (__builtin_mul_overflow(left[i], right[i], &one)) wrong[i] = highest_bit<T>;
        result[i] = one;
      }
      return result;
    }
  }
};

template <bool is_min>
struct Extreme {
  template <class T>
  static constexpr bool takes = is_number<T>;
  template <class T, Values values>
  static Lane<T> apply(Lane<T> left, Lane<T> right, Wrong<T>& wrong) {
    const Lane<T> result = (is_min ? right < left : left < right) ? right : left;
    if constexpr (!std::is_floating_point_v<T>) return result;
    if (values == Values::checked) {
      wrong |= where_nan<T>(left) | where_nan<T>(right);
      return result;
    }
    // If `right` is NaN, the comparison is false and `result` is `left`. The NaN must win instead.
    return with_one_nan<T>(right != right ? right : result);
  }
};

/// Logical operations. NaN is not zero and therefore true.
template <class Combine>
struct Logical {
  template <class T>
  static constexpr bool takes = true;
  template <class T, Values values>
  static Lane<T> apply(Lane<T> left, Lane<T> right, Wrong<T>& wrong) {
    if (values == Values::checked) wrong |= where_nan<T>(left) | where_nan<T>(right);
    return Combine{}(left != Lane<T>{}, right != Lane<T>{}) ? all(T{1}) : Lane<T>{};
  }
};

template <class Combine>
struct Bitwise {
  template <class T>
  static constexpr bool takes = std::is_integral_v<T>;
  template <class T, Values>
  static Lane<T> apply(Lane<T> left, Lane<T> right, Wrong<T>&) {
    return Combine{}(left, right);
  }
};

struct And {
  template <class Bits>
  Bits operator()(Bits left, Bits right) const {
    return left & right;
  }
};
struct Or {
  template <class Bits>
  Bits operator()(Bits left, Bits right) const {
    return left | right;
  }
};
struct Xor {
  template <class Bits>
  Bits operator()(Bits left, Bits right) const {
    return left ^ right;
  }
};

template <class T>
Lane<Element<T>> settle_bool(Lane<Element<T>> lane) {
  // The byte of a bool must be 0 or 1, so each byte other than 0 becomes 1.
  if constexpr (std::is_same_v<T, bool>)
    return lane != Lane<std::uint8_t>{} ? all(std::uint8_t{1}) : Lane<std::uint8_t>{};
  return lane;
}

template <class T>
Lane<Element<T>> load(const std::byte* from) {
  Lane<Element<T>> lane;
  std::memcpy(&lane, from, lane_bytes);
  return settle_bool<T>(lane);
}

/// Loads the bytes of an incomplete Lane. Fills the rest with 0, which is valid for every
/// operation.
template <class T>
Lane<Element<T>> load_part(std::span<const std::byte> from) {
  Lane<Element<T>> lane{};
  copy_few(from, reinterpret_cast<std::byte*>(&lane));
  return settle_bool<T>(lane);
}

template <class Operation, class T, Values values>
bool combine(std::span<std::byte> to, std::span<const std::byte> left,
             std::span<const std::byte> right) {
  ENSURE(to.size() == left.size() && to.size() == right.size());
  using E = Element<T>;
  Wrong<E> wrong{};
  std::size_t at = 0;
  for (; at + lane_bytes <= to.size(); at += lane_bytes) {
    const Lane<E> result = Operation::template apply<E, values>(load<T>(left.data() + at),
                                                                load<T>(right.data() + at), wrong);
    std::memcpy(to.data() + at, &result, lane_bytes);
  }
  if (const std::size_t rest = to.size() - at; rest > 0) {
    const Lane<E> result = Operation::template apply<E, values>(
        load_part<T>(left.subspan(at)), load_part<T>(right.subspan(at)), wrong);
    copy_few(std::as_bytes(std::span(&result, 1)).first(rest), to.data() + at);
  }
  return !is_any<E>(wrong);
}

template <class Operation>
CombineElements combine_with(Scalar scalar, Values values) {
  return with_scalar(scalar, [values](auto zero) -> CombineElements {
    using T = decltype(zero);
    if constexpr (Operation::template takes<T>)
      return values == Values::checked ? combine<Operation, T, Values::checked>
                                       : combine<Operation, T, Values::ieee>;
    return nullptr;
  });
}

constexpr std::array<ElementwiseOperation, 10> all_operations = {{
    {"sum", combine_with<Sum>},
    {"product", combine_with<Product>},
    {"min", combine_with<Extreme<true>>},
    {"max", combine_with<Extreme<false>>},
    {"logical_and", combine_with<Logical<And>>},
    {"logical_or", combine_with<Logical<Or>>},
    {"logical_xor", combine_with<Logical<Xor>>},
    {"bitwise_and", combine_with<Bitwise<And>>},
    {"bitwise_or", combine_with<Bitwise<Or>>},
    {"bitwise_xor", combine_with<Bitwise<Xor>>},
}};

template <class T>
bool are_right(Sign sign, Values values, std::span<const std::byte> elements) {
  using E = Element<T>;
  Wrong<E> wrong{};
  const Lane<E> zero{};
  std::size_t at = 0;
  const auto look = [&](Lane<E> lane) {
    if (values == Values::checked) wrong |= where_nan<E>(lane);
    if (std::is_signed_v<E> && sign == Sign::non_negative)
      wrong |= std::bit_cast<Wrong<E>>(lane < zero);
    if (sign == Sign::non_positive) wrong |= std::bit_cast<Wrong<E>>(lane > zero);
  };
  for (; at + lane_bytes <= elements.size(); at += lane_bytes) look(load<T>(elements.data() + at));
  if (at < elements.size()) look(load_part<T>(elements.subspan(at)));
  return !is_any<E>(wrong);
}

}  // namespace

std::span<const ElementwiseOperation> elementwise_operations() { return all_operations; }

bool are_right(Scalar scalar, Sign sign, Values values, std::span<const std::byte> elements) {
  return with_scalar(scalar,
                     [&](auto zero) { return are_right<decltype(zero)>(sign, values, elements); });
}

}  // namespace base
