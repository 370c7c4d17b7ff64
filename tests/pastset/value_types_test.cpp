// SPDX-License-Identifier: Apache-2.0
// tests/pastset/value_types_test.cpp — types of values in tuples of both kinds of elements.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>

#include "base/usage_error.hpp"
#include "pastset/local_element.hpp"
#include "pastset/tuple.hpp"
#include "tests/pastset/shared_space_scene.hpp"

namespace {

using base::Payload;
using pastset::Element;
using pastset::TemplateMismatch;

/// Calls `use` with a local element and with a shared element.
void with_both_kinds(const pastset::Template& tuple_template,
                     const std::function<void(Element&)>& use) {
  pastset::LocalElement local("e", tuple_template);
  use(local);
  const auto space = pastset::SharedSpace::make(shared_space_scene::own_name());
  use(*space->enter("e", tuple_template));
}

}  // namespace

TEST_CASE("value types: an element refuses values of another type and of another count") {
  with_both_kinds(*pastset::Template::parse("f64[2]"), [](Element& element) {
    CHECK_THROWS_WITH(element.move(Payload::of(std::vector<std::int64_t>{1, 2})),
                      Catch::Contains("element 'e'") && Catch::Contains("values of type i64") &&
                          Catch::Contains("\"f64[2]\" takes f64"));
    CHECK_THROWS_AS(element.move(Payload::of(std::vector<double>{1, 2, 3})), TemplateMismatch);
    const auto other = *pastset::Template::parse("u64, f64");
    CHECK_THROWS_AS(
        element.move(pastset::TupleWriter(other).put(std::uint64_t{1}).put(2.0).payload()),
        TemplateMismatch);
    CHECK(element.last() == 0);
    const std::vector<double> values{1, 2};
    element.move(Payload::copy_of(std::as_bytes(std::span(values))));  // bytes of unknown type
    element.move(Payload::of(std::vector<double>(values)));
    for (const std::uint64_t number : {0, 1}) {
      const Payload tuple = element.observe(number).payload;
      CHECK(tuple.read<double>(8) == 2.0);
      CHECK_THROWS_WITH(tuple.read<std::int64_t>(),
                        Catch::Contains("values of type f64 were read as i64"));
      CHECK_THROWS_AS(tuple.read<float>(), base::UsageError);
      CHECK_THROWS_AS(element.try_newest()->payload.read<std::uint64_t>(), base::UsageError);
    }
  });
}

TEST_CASE("value types: tuples of text and bytes and several types can be read as any type") {
  with_both_kinds(*pastset::Template::parse("bytes[8]"), [](Element& element) {
    element.move(Payload::of(std::uint64_t{5}));
    CHECK(element.observe().payload.read<std::uint64_t>() == 5);
  });
  with_both_kinds(*pastset::Template::parse("u64, f64"), [](Element& element) {
    element.move(
        pastset::TupleWriter(element.tuple_template()).put(std::uint64_t{5}).put(0.5).payload());
    const Payload tuple = element.observe().payload;
    CHECK(tuple.read<std::uint64_t>() == 5);
    CHECK(tuple.read<double>(8) == 0.5);
    CHECK_THROWS_AS(element.move(Payload::of(std::vector<double>{5, 0.5})), TemplateMismatch);
  });
  with_both_kinds(*pastset::Template::parse("f64[]"), [](Element& element) {
    CHECK_THROWS_AS(element.move(Payload::of(std::uint32_t{0})), TemplateMismatch);
  });
}
