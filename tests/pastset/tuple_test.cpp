// SPDX-License-Identifier: Apache-2.0
// tests/pastset/tuple_test.cpp — tuples that are written and read back, and bytes that are no
// tuple.
#include "pastset/tuple.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>

#include "pastset/errors.hpp"
#include "runtime/random.hpp"

using base::Payload;
using pastset::Field;
using pastset::format_tuple;
using pastset::Template;
using pastset::TemplateMismatch;
using pastset::TupleReader;
using pastset::TupleWriter;

namespace {

template <class T>
void check_scalar_round_trip() {
  const auto scalar = base::scalar_of<T>();
  const std::string name(base::scalar_name(scalar));
  INFO(name);
  const T extremes[] = {std::numeric_limits<T>::lowest(), T{0}, T{1},
                        std::numeric_limits<T>::max()};
  const Template one = *Template::parse(name);
  for (const T value : extremes) {
    const Payload payload = TupleWriter(one).put(value).payload();
    CHECK(payload.size() == sizeof(T));
    CHECK(TupleReader(one, payload).get<T>(0) == value);
  }
  const Template arrays = *Template::parse(fmt::format("u8, {0}[4], {0}[], {0}[]", name));
  TupleWriter writer(arrays);
  writer.put(std::uint8_t{7});
  writer.put_array<T>(extremes);
  writer.put_array<T>(std::span(extremes).first(3));
  writer.put_array<T>({});
  const Payload payload = writer.payload();
  const TupleReader reader(arrays, payload);
  const std::vector<T> all(std::begin(extremes), std::end(extremes));
  CHECK(reader.get_array<T>(1) == all);
  CHECK(reader.get_array<T>(2) == std::vector<T>(all.begin(), all.begin() + 3));
  CHECK(reader.get_array<T>(3).empty());
}

std::vector<std::byte> random_bytes(runtime::Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    // Most of the bytes are 0, 1 or 2. A reader takes some of them for the length of an array, and
    // a small length may fit the bytes that follow. The reader therefore gets further than with
    // uniformly random bytes.
    byte = static_cast<std::byte>(random.chance(0.6) ? random.below(3) : random.below(256));
  }
  return bytes;
}

Template random_template(runtime::Random& random) {
  std::vector<Field> fields(random.below(5));
  for (Field& field : fields) {
    field.kind = static_cast<Field::Kind>(random.below(7));
    field.scalar = static_cast<base::Scalar>(random.below(base::scalar_names().size()));
    field.count = static_cast<std::uint32_t>(random.between(1, 4));
  }
  return Template(std::move(fields));
}

/// Reads every byte of the reader, so that the sanitizers can check the accesses.
std::size_t read_all(const Template& tuple_template, const TupleReader& reader) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < tuple_template.fields().size(); ++i) {
    const Field& field = tuple_template.fields()[i];
    base::with_scalar(field.scalar, [&](auto value) {
      using T = decltype(value);
      switch (field.kind) {
        case Field::Kind::scalar: sum += reader.get<T>(i) != T{}; break;
        case Field::Kind::array:
        case Field::Kind::variable_array:
          for (const T each : reader.get_array<T>(i)) sum += each != T{};
          break;
        case Field::Kind::text:
        case Field::Kind::fixed_text: sum += reader.text(i).size(); break;
        case Field::Kind::bytes:
        case Field::Kind::fixed_bytes:
          for (const std::byte each : reader.bytes(i)) sum += each != std::byte{};
          break;
      }
    });
  }
  return sum;
}

}  // namespace

TEST_CASE("tuple: every scalar is read back as written alone and in arrays") {
  check_scalar_round_trip<std::int8_t>();
  check_scalar_round_trip<std::int16_t>();
  check_scalar_round_trip<std::int32_t>();
  check_scalar_round_trip<std::int64_t>();
  check_scalar_round_trip<std::uint8_t>();
  check_scalar_round_trip<std::uint16_t>();
  check_scalar_round_trip<std::uint32_t>();
  check_scalar_round_trip<std::uint64_t>();
  check_scalar_round_trip<float>();
  check_scalar_round_trip<double>();
  check_scalar_round_trip<bool>();
}

TEST_CASE("tuple: strings and bytes are read back as written") {
  const Template all = *Template::parse("string, string[4], bytes, bytes[2], string, bytes");
  const std::array bytes{std::byte{0}, std::byte{255}};
  const std::string with_zero("a\0b\0", 4);
  const Payload payload = TupleWriter(all)
                              .put(with_zero)
                              .put("ab")
                              .put_bytes(bytes)
                              .put_bytes(bytes)
                              .put("")
                              .put_bytes({})
                              .payload();
  CHECK(payload.size() == (4 + 4) + 4 + (4 + 2) + 2 + 4 + 4);
  const TupleReader reader(all, payload);
  CHECK(reader.text(0) == with_zero);
  CHECK(reader.text(1) == "ab");
  CHECK(std::ranges::equal(reader.bytes(2), bytes));
  CHECK(std::ranges::equal(reader.bytes(3), bytes));
  CHECK(reader.text(4).empty());
  CHECK(reader.bytes(5).empty());
}

TEST_CASE("tuple: bytes are packed little-endian with a u32 length before fields of any length") {
  const Template mixed = *Template::parse("u8, u16, string[3], u16[]");
  const std::array<std::uint16_t, 1> values{0x0304};
  const Payload payload = TupleWriter(mixed)
                              .put(std::uint8_t{9})
                              .put(std::uint16_t{0x0102})
                              .put("x")
                              .put_array<std::uint16_t>(values)
                              .payload();
  const std::array<unsigned char, 12> expected{9, 2, 1, 'x', 0, 0, 2, 0, 0, 0, 4, 3};
  CHECK(std::ranges::equal(payload.bytes(), std::as_bytes(std::span(expected))));
}

TEST_CASE("tuple: a tuple without fields is empty") {
  const Template none;
  const Payload payload = TupleWriter(none).payload();
  CHECK(payload.empty());
  CHECK(format_tuple(none, payload) == "()");
}

TEST_CASE("tuple: a value that is not the next one of the template is refused") {
  const auto writer = [](const char* text) {
    static std::vector<std::unique_ptr<Template>> templates;
    templates.push_back(std::make_unique<Template>(*Template::parse(text)));
    return TupleWriter(*templates.back());
  };
  const std::array<double, 2> two{1, 2};
  const std::array bytes{std::byte{1}};
  CHECK_THROWS_AS(writer("f64").put(1), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64").put("x"), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64").put_array<double>(two), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64[3]").put_array<double>(two), TemplateMismatch);
  CHECK_THROWS_AS(writer("f32[2]").put_array<double>(two), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64[1]").put(1.0), TemplateMismatch);
  CHECK_THROWS_AS(writer("bytes").put("x"), TemplateMismatch);
  CHECK_THROWS_AS(writer("string").put_bytes(bytes), TemplateMismatch);
  CHECK_THROWS_AS(writer("string[2]").put("xyz"), TemplateMismatch);
  CHECK_THROWS_AS(writer("string[2]").put(std::string("x\0", 2)), TemplateMismatch);
  CHECK_THROWS_AS(writer("bytes[2]").put_bytes(bytes), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64").put(1.0).put(1.0), TemplateMismatch);
  CHECK_THROWS_AS(writer("f64, f64").put(1.0).payload(), TemplateMismatch);
  CHECK_THROWS_WITH(writer("f64").put(1), "field 0 of template \"f64\" is f64, not i32");
}

TEST_CASE("tuple: a field is read only with its own type") {
  const Template mixed = *Template::parse("f64, u8[2], string");
  const std::array<std::uint8_t, 2> two{1, 2};
  const Payload payload =
      TupleWriter(mixed).put(1.5).put_array<std::uint8_t>(two).put("x").payload();
  const TupleReader reader(mixed, payload);
  CHECK_THROWS_AS(reader.get<float>(0), TemplateMismatch);
  CHECK_THROWS_AS(reader.get_array<double>(0), TemplateMismatch);
  CHECK_THROWS_AS(reader.get<std::uint8_t>(1), TemplateMismatch);
  CHECK_THROWS_AS(reader.get_array<std::int8_t>(1), TemplateMismatch);
  CHECK_THROWS_AS(reader.text(0), TemplateMismatch);
  CHECK_THROWS_AS(reader.bytes(2), TemplateMismatch);
  CHECK_THROWS_AS(reader.get<double>(3), TemplateMismatch);
  CHECK_THROWS_AS(reader.text(3), TemplateMismatch);
  CHECK_THROWS_AS(TupleReader(mixed, Payload::of(1.5)), TemplateMismatch);
}

TEST_CASE("tuple: a reader outlives the payload from which it was made") {
  const Template text = *Template::parse("bytes[1]");
  const std::array bytes{std::byte{42}};
  const TupleReader reader(text, TupleWriter(text).put_bytes(bytes).payload());
  CHECK(reader.bytes(0)[0] == std::byte{42});
}

TEST_CASE("tuple: random bytes are refused or read within bounds") {
  const std::uint64_t seed = 4711;
  runtime::Random random(seed);
  int matching = 0;
  for (int i = 0; i < 50000; ++i) {
    const Template tuple_template = random_template(random);
    const std::size_t size = random.chance(0.5) && tuple_template.fixed_bytes()
                                 ? *tuple_template.fixed_bytes()
                                 : random.below(40);
    const Payload payload = Payload::copy_of(random_bytes(random, size));
    INFO("seed " << seed << ", case " << i << ", template " << tuple_template.text());
    const bool matches = tuple_template.mismatch(payload).empty();
    if (format_tuple(tuple_template, payload).empty()) FAIL("nothing printed");
    if (!matches) {
      CHECK_THROWS_AS(TupleReader(tuple_template, payload), TemplateMismatch);
      continue;
    }
    ++matching;
    read_all(tuple_template, TupleReader(tuple_template, payload));
  }
  CHECK(matching > 1000);
}

TEST_CASE("tuple: it is printed in readable form") {
  const Template mixed = *Template::parse("f64, i8, u8[2], string, bool, bytes[2], string[8]");
  const std::array<std::uint8_t, 2> two{1, 255};
  const std::array bytes{std::byte{10}, std::byte{255}};
  const Payload payload = TupleWriter(mixed)
                              .put(0.25)
                              .put(std::int8_t{-3})
                              .put_array<std::uint8_t>(two)
                              .put("a\"b\n")
                              .put(true)
                              .put_bytes(bytes)
                              .put("pad")
                              .payload();
  CHECK(format_tuple(mixed, payload) == R"((0.25, -3, [1, 255], "a\"b\x0a", true, 0x0aff, "pad"))");
}

TEST_CASE("tuple: long fields are cut and bytes that are no tuple are printed as such") {
  const Template numbers = *Template::parse("u8[]");
  const std::vector<std::uint8_t> many(100, 3);
  CHECK(format_tuple(numbers, TupleWriter(numbers).put_array<std::uint8_t>(many).payload()) ==
        "([3, 3, 3, 3, 3, 3, 3, 3, and 92 more])");
  const Template text = *Template::parse("string");
  CHECK(format_tuple(text, TupleWriter(text).put(std::string(50, 'x')).payload()) ==
        "(\"" + std::string(32, 'x') + "\"...)");
  CHECK(format_tuple(*Template::parse("f64"), Payload()) ==
        "(not a tuple: it has 0 bytes, but template \"f64\" takes 8)");
}
