// SPDX-License-Identifier: Apache-2.0
// tests/base/scalar_test.cpp — names and sizes of scalars.
#include "base/scalar.hpp"

#include <catch2/catch.hpp>

TEST_CASE("scalar: every name maps to its scalar and back") {
  REQUIRE(base::scalar_names().size() == 11);
  for (const std::string_view name : base::scalar_names()) {
    const auto scalar = base::scalar_named(name);
    REQUIRE(scalar);
    CHECK(base::scalar_name(*scalar) == name);
  }
  CHECK(base::scalar_name(base::Scalar::f64) == "f64");
  CHECK(base::scalar_name(base::Scalar::boolean) == "bool");
  CHECK_FALSE(base::scalar_named("float"));
  CHECK_FALSE(base::scalar_named(""));
}

TEST_CASE("scalar: the size in bytes matches the name") {
  CHECK(base::scalar_bytes(base::Scalar::i8) == 1);
  CHECK(base::scalar_bytes(base::Scalar::u16) == 2);
  CHECK(base::scalar_bytes(base::Scalar::f32) == 4);
  CHECK(base::scalar_bytes(base::Scalar::i64) == 8);
  CHECK(base::scalar_bytes(base::Scalar::boolean) == 1);
}
