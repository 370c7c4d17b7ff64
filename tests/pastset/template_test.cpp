// SPDX-License-Identifier: Apache-2.0
// tests/pastset/template_test.cpp — templates as text, and checks of bytes against them.
#include "pastset/template.hpp"

#include <catch2/catch.hpp>

#include "runtime/random.hpp"

using base::Payload;
using pastset::Field;
using pastset::Template;

namespace {

std::string mistake_in(const std::string& text) {
  std::string wrong;
  const bool is_template = Template::parse(text, &wrong).has_value();
  CHECK(is_template == wrong.empty());
  return wrong;
}

Payload zeros(std::size_t size) { return Payload::copy_of(std::vector<std::byte>(size)); }

}  // namespace

TEST_CASE("template: parse() reads the output of text() back to the same template") {
  for (const std::string text :
       {"", "f64", "u64, f64[4]", "tag: u64, string", "i8, i16, i32, i64, u8, u16, u32, u64, f32",
        "f64[]", "bool, bool[3], bool[]", "string[16], bytes[1], bytes, string",
        "tag:", "sum.alpha-0/7_x: f64[1024]", "bytes[4294967295]"}) {
    INFO(text);
    const auto read = Template::parse(text);
    REQUIRE(read);
    CHECK(read->text() == text);
    CHECK(Template::parse(read->text()) == read);
  }
}

TEST_CASE("template: blanks around words are ignored") {
  CHECK(Template::parse("  tag :u64 ,\tf64 [ 4 ] ,string[]") == std::nullopt);
  CHECK(Template::parse("  tag :u64 ,\tf64 [ 4 ]\n") == Template::parse("tag: u64, f64[4]"));
  CHECK(Template::parse(" ") == Template());
}

TEST_CASE("template: an invalid text is reported in a sentence with a near match") {
  CHECK(mistake_in("f46").find("did you mean 'f64'") != std::string::npos);
  CHECK(mistake_in("strin").find("did you mean 'string'") != std::string::npos);
  CHECK(mistake_in("f64,,u64").find("'' is not a type") != std::string::npos);
  CHECK(mistake_in("f64,").find("'' is not a type") != std::string::npos);
  CHECK(mistake_in("f64[4").find("expected ']'") != std::string::npos);
  CHECK(mistake_in("f64[4]x").find("expected ']'") != std::string::npos);
  for (const std::string count : {"0", "-1", "+1", "1.5", "x", "4294967296", "1 2"}) {
    CHECK(mistake_in("f64[" + count + "]").find("found '" + count + "'") != std::string::npos);
  }
  CHECK(mistake_in("string[]").find("already has any length") != std::string::npos);
  CHECK(mistake_in("a b: f64").find("'a b' is not a tag") != std::string::npos);
  CHECK(mistake_in(": f64").find("'' is not a tag") != std::string::npos);
  CHECK(Template::parse("f46") == std::nullopt);
}

TEST_CASE("template: parsing random text never fails unexpectedly") {
  const std::uint64_t seed = 20240611;
  INFO("seed " << seed);
  runtime::Random random(seed);
  const std::string letters = "f64[]u8, :string bytes\"\n0199-";
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.below(24), ' ');
    for (char& c : text) {
      c = random.chance(0.95) ? letters[random.below(letters.size())]
                              : static_cast<char>(random.below(256));
    }
    const auto read = Template::parse(text);
    if (read && Template::parse(read->text()) != read) FAIL(text);
  }
}

TEST_CASE("template: same types with different tags are different templates") {
  CHECK(Template::parse("a: f64") != Template::parse("b: f64"));
  CHECK(Template::parse("f64") != Template::parse("f64[1]"));
  CHECK(Template::parse("string") != Template::parse("bytes"));
}

TEST_CASE("template: unused members of a field do not affect equality") {
  const Field text{.kind = Field::Kind::text, .scalar = base::Scalar::u8, .count = 9};
  CHECK(Template({text}) == Template::parse("string"));
}

TEST_CASE("template: the size is fixed unless a field has any length") {
  CHECK(Template().fixed_bytes() == 0u);
  CHECK(Template::parse("u64, f32[4], bool, string[3], bytes[2]")->fixed_bytes() == 30u);
  for (const auto* text : {"f64[]", "string", "bytes", "u8, string, u8"}) {
    CHECK(Template::parse(text)->fixed_bytes() == std::nullopt);
  }
}

TEST_CASE("template: a payload of another size is a mismatch that names both sizes") {
  const Template one = *Template::parse("f64");
  CHECK(one.mismatch(zeros(8)).empty());
  CHECK(one.mismatch(zeros(7)) == "it has 7 bytes, but template \"f64\" takes 8");
  CHECK(one.mismatch(zeros(1)) == "it has 1 byte, but template \"f64\" takes 8");
  CHECK(Template().mismatch(zeros(0)).empty());
  CHECK_FALSE(Template().mismatch(zeros(1)).empty());
}

TEST_CASE("template: a field of any length must be complete and followed by the rest") {
  const auto mismatch = [](const char* text, std::vector<unsigned char> bytes) {
    return Template::parse(text)->mismatch(Payload::copy_of(std::as_bytes(std::span(bytes))));
  };
  CHECK(mismatch("u16[]", {4, 0, 0, 0, 1, 2, 3, 4}).empty());
  CHECK(mismatch("u16[]", {0, 0, 0, 0}).empty());
  CHECK(mismatch("u16[]", {4, 0, 0}).find("cut off after 3 bytes") != std::string::npos);
  CHECK(mismatch("u16[]", {4, 0, 0, 0, 1}).find("cut off") != std::string::npos);
  CHECK(mismatch("u16[]", {255, 255, 255, 255, 1}).find("cut off") != std::string::npos);
  CHECK(mismatch("u16[]", {3, 0, 0, 0, 1, 2, 3}).find("whole number") != std::string::npos);
  CHECK(mismatch("string", {1, 0, 0, 0, 'x', 'y'}).find("1 byte follow") != std::string::npos);
  CHECK(mismatch("string, u8", {1, 0, 0, 0, 'x'}).find("field 1") != std::string::npos);
}

TEST_CASE("template: a bool that is neither 0 nor 1 is a mismatch") {
  for (const auto* text : {"bool", "bool[1]"}) {
    const Template flag = *Template::parse(text);
    CHECK(flag.mismatch(Payload::of(std::byte{0})).empty());
    CHECK(flag.mismatch(Payload::of(std::byte{1})).empty());
    CHECK(flag.mismatch(Payload::of(std::byte{2})).find("0 nor 1") != std::string::npos);
    CHECK(flag.mismatch(Payload::of(true)).empty());
    CHECK(flag.mismatch(Payload::of(std::uint8_t{1})).find("type u8") != std::string::npos);
  }
  CHECK(Template::parse("u8")->mismatch(Payload::of(std::uint8_t{2})).empty());
}
