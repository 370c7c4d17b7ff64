// SPDX-License-Identifier: Apache-2.0
// tests/base/reduce_test.cpp — results of each reduction of two contributions.
#include "base/reduce.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using base::BadValue;
using base::ReduceShape;
using base::Scalar;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> reduced(std::string_view name, Scalar scalar, std::vector<T> left,
                       const std::vector<T>& right) {
  const base::ReduceOperation* operation = base::reduce_operation(name);
  REQUIRE(operation != nullptr);
  REQUIRE(operation->accepts(scalar));
  operation->combine({scalar, left.size(), false}, std::as_writable_bytes(std::span(left)),
                     std::as_bytes(std::span(right)));
  return left;
}

template <class T>
T reduced(std::string_view name, Scalar scalar, T left, T right) {
  return reduced(name, scalar, std::vector<T>{left}, std::vector<T>{right})[0];
}

template <class T>
std::vector<std::byte> pairs(const std::vector<std::pair<T, std::int64_t>>& values) {
  std::vector<std::byte> bytes(values.size() * (sizeof(T) + 8));
  std::byte* place = bytes.data();
  for (const auto& [value, location] : values) {
    std::memcpy(place, &value, sizeof(T));
    std::memcpy(place + sizeof(T), &location, 8);
    place += sizeof(T) + 8;
  }
  return bytes;
}

template <class T>
std::vector<std::byte> located(std::string_view name, Scalar scalar,
                               const std::vector<std::pair<T, std::int64_t>>& left,
                               const std::vector<std::pair<T, std::int64_t>>& right) {
  const ReduceShape shape{scalar, left.size(), true};
  auto result = pairs(left);
  REQUIRE(shape.bytes() == result.size());
  base::reduce_operation(name)->combine(shape, result, pairs(right));
  return result;
}

template <class T>
void check(Scalar scalar, base::Sign sign, const std::vector<T>& values) {
  base::check_contribution({scalar, values.size(), false}, sign, std::as_bytes(std::span(values)));
}

}  // namespace

TEST_CASE("reduce: arithmetic is elementwise") {
  CHECK(reduced("sum", Scalar::f64, 0.25, 0.5) == 0.75);
  CHECK(reduced<std::int32_t>("sum", Scalar::i32, std::vector{1, 2, 3}, std::vector{4, 5, -6}) ==
        std::vector{5, 7, -3});
  CHECK(reduced("product", Scalar::f32, 1.5f, 4.0f) == 6.0f);
  CHECK(reduced("min", Scalar::i64, std::int64_t{-2}, std::int64_t{3}) == -2);
  CHECK(reduced("max", Scalar::u8, std::uint8_t{200}, std::uint8_t{7}) == 200);
}

TEST_CASE("reduce: an integer that does not fit is a bad value") {
  const auto i8 = [](int value) { return static_cast<std::int8_t>(value); };
  CHECK(reduced("sum", Scalar::i8, i8(100), i8(27)) == 127);
  CHECK_THROWS_WITH(reduced("sum", Scalar::i8, i8(100), i8(28)),
                    "overflow of i8 sum of 100 and 28 at index 0");
  CHECK_THROWS_AS(reduced("sum", Scalar::u32, 1u, ~0u), BadValue);
  CHECK_THROWS_AS(reduced("product", Scalar::i64, std::int64_t{1} << 40, std::int64_t{1} << 40),
                  BadValue);
}

TEST_CASE("reduce: NaN is a bad value both as an input and as a result") {
  for (const char* name : {"sum", "product", "min", "max", "logical_and", "logical_xor"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(
        reduced(name, Scalar::f64, std::vector{1.0, 2.0}, std::vector{1.0, not_a_number}),
        "NaN at index 1");
    CHECK_THROWS_AS(reduced(name, Scalar::f32, std::nanf(""), 1.0f), BadValue);
  }
  CHECK_THROWS_WITH(reduced("sum", Scalar::f64, infinity, -infinity),
                    "NaN in f64 sum of inf and -inf at index 0");
  CHECK(reduced("sum", Scalar::f64, infinity, 1.0) == infinity);
}

TEST_CASE("reduce: logical operations return 0 or 1") {
  CHECK(reduced("logical_and", Scalar::i32, 7, -2) == 1);
  CHECK(reduced("logical_and", Scalar::i32, 7, 0) == 0);
  CHECK(reduced("logical_or", Scalar::f64, 0.0, 0.5) == 1.0);
  CHECK(reduced("logical_xor", Scalar::u16, std::uint16_t{3}, std::uint16_t{9}) == 0);
  CHECK(reduced("logical_or", Scalar::boolean, std::uint8_t{0}, std::uint8_t{77}) == 1);
}

TEST_CASE("reduce: bitwise operations take integers and bool") {
  CHECK(reduced("bitwise_and", Scalar::u32, 12u, 10u) == 8);
  CHECK(reduced("bitwise_or", Scalar::i32, 12, 10) == 14);
  CHECK(reduced("bitwise_xor", Scalar::i64, std::int64_t{12}, std::int64_t{-1}) == -13);
  CHECK(reduced("bitwise_xor", Scalar::boolean, std::uint8_t{1}, std::uint8_t{1}) == 0);
  CHECK_FALSE(base::reduce_operation("bitwise_and")->accepts(Scalar::f64));
}

TEST_CASE("reduce: arithmetic does not take bool") {
  for (const char* name : {"sum", "product", "min", "max", "min_location", "max_location"}) {
    CHECK_FALSE(base::reduce_operation(name)->accepts(Scalar::boolean));
    CHECK(base::reduce_operation(name)->accepts(Scalar::f32));
  }
}

TEST_CASE("reduce: a location stays with its value and the smaller one wins among equals") {
  CHECK(located<double>("min_location", Scalar::f64, {{0.5, 3}, {1, 9}, {1, 2}},
                        {{0.25, 7}, {1, 4}, {1, 5}}) == pairs<double>({{0.25, 7}, {1, 4}, {1, 2}}));
  CHECK(located<std::int8_t>("max_location", Scalar::i8, {{5, 3}, {5, 1}}, {{5, 2}, {9, 8}}) ==
        pairs<std::int8_t>({{5, 2}, {9, 8}}));
  CHECK_THROWS_WITH(located<double>("min_location", Scalar::f64, {{1, 1}}, {{not_a_number, 2}}),
                    "NaN at index 0");
}

TEST_CASE("reduce: the order of folding determines the bits of the result") {
  std::vector<double> total = {1e16};
  for (int i = 0; i < 4; ++i) {
    total = reduced("sum", Scalar::f64, std::move(total), std::vector{1.0});
  }
  CHECK(total[0] == 1e16);
  CHECK(reduced("sum", Scalar::f64, 4.0, 1e16) == 1e16 + 4);
}

TEST_CASE("reduce: every listed name is known and no other") {
  CHECK(base::reduce_operation_names().size() >= 12);
  for (const std::string_view name : base::reduce_operation_names()) {
    const base::ReduceOperation* operation = base::reduce_operation(name);
    REQUIRE(operation != nullptr);
    CHECK(operation->name == name);
    CHECK((operation->located || !name.ends_with("_location")));
  }
  CHECK(base::reduce_operation("mean") == nullptr);
}

TEST_CASE("reduce: a user's operation can be added once and is then found") {
  const base::ReduceOperation* sum = base::reduce_operation("sum");
  const base::ReduceOperation last{
      "test_last", false, [](Scalar) { return true; },
      [](const ReduceShape&, std::span<std::byte> left, std::span<const std::byte> right) {
        std::memcpy(left.data(), right.data(), right.size());
      }};
  if (base::reduce_operation("test_last") == nullptr) base::add_reduce_operation(last);
  CHECK(reduced("test_last", Scalar::f64, 1.0, 2.0) == 2.0);
  CHECK(base::reduce_operation("sum") == sum);
  CHECK_THROWS_AS(base::add_reduce_operation(last), std::invalid_argument);
  CHECK_THROWS_AS(base::add_reduce_operation({}), std::invalid_argument);
}

TEST_CASE("reduce: a contribution must have the declared sign") {
  using base::Sign;
  CHECK_NOTHROW(check(Scalar::f64, Sign::any, std::vector{-1.0, infinity}));
  CHECK_NOTHROW(check(Scalar::f64, Sign::non_negative, std::vector{0.0, -0.0, 2.0}));
  CHECK_THROWS_WITH(check(Scalar::f64, Sign::non_negative, std::vector{0.0, -2.5}),
                    "negative value -2.5 at index 1");
  CHECK_THROWS_WITH(check(Scalar::i32, Sign::non_positive, std::vector{3}),
                    "positive value 3 at index 0");
  CHECK_THROWS_AS(check(Scalar::u8, Sign::non_positive, std::vector<std::uint8_t>{1}), BadValue);
  CHECK_THROWS_WITH(check(Scalar::f64, Sign::any, std::vector{1.0, not_a_number}),
                    "NaN at index 1");
}
