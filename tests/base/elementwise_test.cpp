// SPDX-License-Identifier: Apache-2.0
// tests/base/elementwise_test.cpp — vectorized elementwise operations compared with a scalar
// reference.
#include "base/elementwise.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "base/reduce.hpp"

using base::CombineElements;
using base::Scalar;
using base::Values;

namespace {

template <class T>
bool is_nan(T value) {
  return value != value;
}

/// Reference result of one operation on two numbers, and whether the inputs are valid.
template <class T>
struct Plain {
  T value{};
  bool is_right = true;
};

template <class T>
std::optional<Plain<T>> arithmetic(std::string_view name, T a, T b) {
  Plain<T> out;
  if constexpr (std::is_floating_point_v<T>) {
    if (name == "sum") out.value = a + b;
    if (name == "product") out.value = a * b;
    out.is_right = !is_nan(out.value);
  } else {
    if (name == "sum") out.is_right = !__builtin_add_overflow(a, b, &out.value);
    if (name == "product") out.is_right = !__builtin_mul_overflow(a, b, &out.value);
  }
  if (name == "sum" || name == "product") return out;
  return std::nullopt;
}

template <class T>
Plain<T> plainly(std::string_view name, T a, T b) {
  if (const auto out = arithmetic(name, a, b)) return *out;
  Plain<T> out;
  out.is_right = !is_nan(a) && !is_nan(b);
  if (name == "min") out.value = b < a ? b : a;
  if (name == "max") out.value = a < b ? b : a;
  if (!out.is_right && (name == "min" || name == "max")) out.value = a != a ? a : b;
  if (name == "logical_and") out.value = static_cast<T>(a != T{} && b != T{});
  if (name == "logical_or") out.value = static_cast<T>(a != T{} || b != T{});
  if (name == "logical_xor") out.value = static_cast<T>((a != T{}) != (b != T{}));
  if constexpr (std::is_integral_v<T>) {
    if (name == "bitwise_and") out.value = static_cast<T>(a & b);
    if (name == "bitwise_or") out.value = static_cast<T>(a | b);
    if (name == "bitwise_xor") out.value = static_cast<T>(a ^ b);
  }
  return out;
}

/// Returns a small random number if `is_tame`, otherwise a value of random bits. Floating-point
/// values then include NaN, infinities and zeros.
template <class T>
T drawn(std::mt19937_64& random, bool is_tame) {
  if (is_tame) return static_cast<T>(random() % 8);
  const std::uint64_t choice = random() % 8;
  if (choice == 0) return std::numeric_limits<T>::max();
  if (choice == 1) return std::numeric_limits<T>::lowest();
  if (choice == 2) return T{};
  if constexpr (std::is_floating_point_v<T>) {
    if (choice == 3) return std::numeric_limits<T>::infinity();
    if (choice == 4) return -std::numeric_limits<T>::infinity();
    if (choice == 5) return -T{};
    if (choice == 6) return static_cast<T>(random()) / T{3};
  }
  const std::uint64_t bits = random();
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Stores the bools as arbitrary bytes, because values above 1 must count as true.
    const T value = values[i];
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
void check_one(const base::ElementwiseOperation& operation, Scalar scalar,
               std::mt19937_64& random) {
  const std::size_t count = random() % 40;
  const bool is_tame = random() % 2 == 0;
  std::vector<T> left, right;
  for (std::size_t i = 0; i < count; ++i) {
    left.push_back(drawn<T>(random, is_tame));
    right.push_back(drawn<T>(random, is_tame));
  }
  bool is_right = true;
  std::vector<T> expected, wrapped;
  for (std::size_t i = 0; i < count; ++i) {
    const Plain<T> one = plainly<T>(operation.name, left[i], right[i]);
    is_right = is_right && one.is_right;
    expected.push_back(one.value);
    if (is_nan(one.value)) expected.back() = std::numeric_limits<T>::quiet_NaN();
  }
  for (const Values values : {Values::checked, Values::ieee})
    for (const bool is_in_place : {false, true}) {
      auto from = bytes_of(left);
      const auto other = bytes_of(right);
      std::vector<std::byte> beside(from.size());
      const std::span<std::byte> to = is_in_place ? from : beside;
      const bool answer = operation.of(scalar, values)(to, from, other);
      CHECK(answer == (is_right || values == Values::ieee));
      if (!answer) continue;
      const auto wanted = bytes_of(expected);
      if (!std::equal(to.begin(), to.end(), wanted.begin(), wanted.end()))
        FAIL("other bits than one by one");
    }
}

template <class T>
T ieee(std::string_view name, T left, T right) {
  for (const auto& operation : base::elementwise_operations()) {
    if (operation.name != name) continue;
    const Scalar scalar = std::is_same_v<T, double>        ? Scalar::f64
                          : std::is_same_v<T, float>       ? Scalar::f32
                          : std::is_same_v<T, std::int8_t> ? Scalar::i8
                                                           : Scalar::u64;
    const auto place = std::as_writable_bytes(std::span<T, 1>(&left, 1));
    operation.of(scalar, Values::ieee)(place, place, std::as_bytes(std::span<T, 1>(&right, 1)));
  }
  return left;
}

}  // namespace

TEST_CASE("elementwise: arrays of any length combine to the same bits as their single elements") {
  std::mt19937_64 random(7);
  for (const base::ElementwiseOperation& operation : base::elementwise_operations())
    for (std::size_t number = 0; number < base::scalar_names().size(); ++number) {
      const auto scalar = static_cast<Scalar>(number);
      if (operation.of(scalar, Values::checked) == nullptr) continue;
      INFO(operation.name << " of " << base::scalar_name(scalar));
      for (int i = 0; i < 200; ++i)
        base::with_scalar(scalar, [&](auto zero) {
          using T = decltype(zero);
          if constexpr (!std::is_same_v<T, bool>) check_one<T>(operation, scalar, random);
        });
    }
}

TEST_CASE("elementwise: a bool is false if its byte is 0 and otherwise true") {
  for (const base::ElementwiseOperation& operation : base::elementwise_operations()) {
    const CombineElements combine = operation.of(Scalar::boolean, Values::checked);
    if (combine == nullptr) continue;
    INFO(operation.name);
    std::vector<std::byte> left, right, result(512);
    for (int a = 0; a < 256; ++a)
      for (const int b : {0, 2}) {
        left.push_back(static_cast<std::byte>(a));
        right.push_back(static_cast<std::byte>(b));
      }
    CHECK(combine(result, left, right));
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool a = left[i] != std::byte{0}, b = right[i] != std::byte{0};
      const bool expected = operation.name.ends_with("_and")  ? a && b
                            : operation.name.ends_with("_or") ? a || b
                                                              : a != b;
      if (result[i] != static_cast<std::byte>(expected)) FAIL("at " << i);
    }
  }
}

TEST_CASE("elementwise: ieee integers wrap around as two's complement does") {
  CHECK(ieee<std::int8_t>("sum", 100, 100) == -56);
  CHECK(ieee<std::int8_t>("product", 100, 3) == 44);
  CHECK(ieee<std::uint64_t>("sum", ~0ull, 2) == 1);
  CHECK(ieee<std::uint64_t>("product", 1ull << 63, 3) == 1ull << 63);
}

TEST_CASE("elementwise: ieee operations return one canonical NaN whichever operand was NaN") {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const double inf = std::numeric_limits<double>::infinity();
  const double one = std::bit_cast<double>(0xfff8'0000'0000'0123u);
  const double other = std::bit_cast<double>(0x7ff8'0000'0000'0456u);
  const std::uint64_t the_nan = bits(std::numeric_limits<double>::quiet_NaN());
  CHECK(bits(ieee("sum", inf, -inf)) == the_nan);
  CHECK(bits(ieee("product", 0.0, inf)) == the_nan);
  for (const char* name : {"sum", "product", "min", "max"}) {
    INFO(name);
    CHECK(bits(ieee(name, one, other)) == the_nan);
    CHECK(bits(ieee(name, other, one)) == the_nan);
    CHECK(bits(ieee(name, one, 1.0)) == the_nan);
    CHECK(bits(ieee(name, 1.0, one)) == the_nan);
  }
  CHECK(ieee("logical_and", one, 1.0) == 1);
  CHECK(ieee("logical_or", 0.0, one) == 1);
  CHECK(std::isnan(ieee("max", 1.0f, std::nanf(""))));
}

TEST_CASE("elementwise: min and max keep the first of equal values and of two zeros") {
  for (const char* name : {"min", "max"}) {
    CHECK(std::signbit(ieee(name, -0.0, 0.0)));
    CHECK_FALSE(std::signbit(ieee(name, 0.0, -0.0)));
  }
}

TEST_CASE("elementwise: NaN and negative signs are found at every index of an array") {
  for (const std::size_t count : {1u, 2u, 3u, 17u})
    for (std::size_t place = 0; place < count; ++place) {
      const auto with = [&](double value) {
        std::vector<double> values(count, 0.0);
        values[place] = value;
        return bytes_of(values);
      };
      using base::Sign;
      const auto are_right = [](Sign sign, Values values, const std::vector<std::byte>& bytes) {
        return base::are_right(Scalar::f64, sign, values, bytes);
      };
      const double nan = std::nan("");
      CHECK_FALSE(are_right(Sign::any, Values::checked, with(nan)));
      CHECK(are_right(Sign::non_negative, Values::ieee, with(nan)));
      CHECK(are_right(Sign::any, Values::checked, with(-1)));
      CHECK_FALSE(are_right(Sign::non_negative, Values::checked, with(-1)));
      CHECK_FALSE(are_right(Sign::non_positive, Values::ieee, with(1)));
      CHECK(are_right(Sign::non_positive, Values::ieee, with(-1)));
    }
}

TEST_CASE("reduce: ieee located operations prefer NaN, and among NaN the smallest location") {
  using Located = std::array<std::byte, 16>;
  const auto located = [](double value, std::int64_t at) {
    Located bytes{};
    std::memcpy(bytes.data(), &value, 8);
    std::memcpy(bytes.data() + 8, &at, 8);
    return bytes;
  };
  const auto reduced = [](std::string_view name, Located left, const Located& right) {
    base::reduce_operation(name)->combine_ieee({Scalar::f64, 1, true}, left, right);
    return left;
  };
  const double nan = std::nan("");
  for (const char* name : {"min_location", "max_location"}) {
    CHECK(reduced(name, located(1, 3), located(nan, 7)) == located(nan, 7));
    CHECK(reduced(name, located(-nan, 7), located(1, 3)) == located(nan, 7));
    CHECK(reduced(name, located(nan, 7), located(-nan, 3)) == located(nan, 3));
    CHECK(reduced(name, located(2, 7), located(2, 3)) == located(2, 3));
  }
}
