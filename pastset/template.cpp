// SPDX-License-Identifier: Apache-2.0
// pastset/template.cpp — parsing and printing of templates, and the check of a tuple's bytes
#include "pastset/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/units.hpp"

namespace pastset {
namespace {

using Kind = Field::Kind;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_tag(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

bool has_scalar(Kind kind) {
  return kind == Kind::scalar || kind == Kind::array || kind == Kind::variable_array;
}

bool has_count(Kind kind) {
  return kind == Kind::array || kind == Kind::fixed_text || kind == Kind::fixed_bytes;
}

/// Sets the members that the kind of the field does not use to their defaults, so that they do not
/// affect ==.
Field normalised(Field field) {
  if (!has_scalar(field.kind)) field.scalar = Field{}.scalar;
  if (!has_count(field.kind)) field.count = Field{}.count;
  return field;
}

std::string not_a_type(std::string_view word) {
  std::vector<std::string_view> types = base::scalar_names();
  types.insert(types.end(), {"string", "bytes"});
  const std::optional<std::string_view> meant = base::near_match(word, types);
  if (meant) return fmt::format("'{}' is not a type; did you mean '{}'?", word, *meant);
  return fmt::format("'{}' is not a type; expected {}", word, base::either_of(types));
}

std::optional<Field> parse_type(std::string_view word) {
  if (word == "string") return Field{.kind = Kind::text};
  if (word == "bytes") return Field{.kind = Kind::bytes};
  const std::optional<base::Scalar> scalar = base::scalar_named(word);
  if (!scalar) return std::nullopt;
  return Field{.scalar = *scalar};
}

std::optional<std::uint32_t> parse_count(std::string_view digits) {
  const auto count = base::parse_natural(digits);
  if (!count || *count == 0 || *count > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

std::optional<Field> parse_field(std::string_view word, std::string& wrong) {
  const std::size_t bracket = word.find('[');
  const std::string_view type = trimmed(word.substr(0, bracket));
  std::optional<Field> field = parse_type(type);
  if (!field) {
    wrong = not_a_type(type);
    return std::nullopt;
  }
  if (bracket == std::string_view::npos) return field;
  if (word.back() != ']') {
    wrong = fmt::format("'{}': expected ']' at the end", word);
    return std::nullopt;
  }
  const std::string_view inside = trimmed(word.substr(bracket + 1, word.size() - bracket - 2));
  if (inside.empty()) {
    if (field->kind != Kind::scalar) {
      wrong = fmt::format("'{}': {} without brackets already has any length", word, type);
      return std::nullopt;
    }
    field->kind = Kind::variable_array;
    return field;
  }
  const std::optional<std::uint32_t> count = parse_count(inside);
  if (!count) {
    wrong = fmt::format("'{}': expected a number from 1 to {} in the brackets, found '{}'", word,
                        UINT32_MAX, inside);
    return std::nullopt;
  }
  field->count = *count;
  field->kind = field->kind == Kind::text    ? Kind::fixed_text
                : field->kind == Kind::bytes ? Kind::fixed_bytes
                                             : Kind::array;
  return field;
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Whether a bool field holds a byte other than 0 and 1, which must never become a C++ bool.
bool has_bad_bool(const Field& field, std::span<const std::byte> bytes) {
  return has_scalar(field.kind) && field.scalar == base::Scalar::boolean &&
         std::any_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte > std::byte{1}; });
}

/// Returns the value type that all fields have in common. A variable array counts as `several`,
/// because its length prefix is not a value.
base::ValueType type_of(const std::vector<Field>& fields) {
  base::ValueType all = base::ValueType::unknown;
  for (const Field& field : fields) {
    if (!has_scalar(field.kind)) return base::ValueType::unknown;
    const base::ValueType one =
        field.is_variable() ? base::ValueType::several : base::value_type(field.scalar);
    all = &field == &fields.front() || all == one ? one : base::ValueType::several;
  }
  return all;
}

}  // namespace

bool Field::is_variable() const {
  return kind == Kind::variable_array || kind == Kind::text || kind == Kind::bytes;
}

std::size_t Field::fixed_bytes() const {
  if (is_variable()) return 0;
  return has_scalar(kind) ? base::scalar_bytes(scalar) * count : count;
}

std::string Field::text() const {
  switch (kind) {
    case Kind::scalar: return std::string(base::scalar_name(scalar));
    case Kind::array: return fmt::format("{}[{}]", base::scalar_name(scalar), count);
    case Kind::variable_array: return fmt::format("{}[]", base::scalar_name(scalar));
    case Kind::text: return "string";
    case Kind::fixed_text: return fmt::format("string[{}]", count);
    case Kind::bytes: return "bytes";
    case Kind::fixed_bytes: break;
  }
  return fmt::format("bytes[{}]", count);
}

std::optional<std::span<const std::byte>> Field::take(std::span<const std::byte>& rest) const {
  std::size_t start = 0;
  std::size_t size = fixed_bytes();
  if (is_variable()) {
    std::uint32_t length = 0;
    if (rest.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, rest.data(), sizeof length);
    start = sizeof length;
    size = length;
  }
  if (rest.size() - start < size) return std::nullopt;
  const std::span<const std::byte> taken = rest.subspan(start, size);
  rest = rest.subspan(start + size);
  return taken;
}

Template::Template(std::vector<Field> fields, std::string tag)
    : fields_(std::move(fields)), tag_(std::move(tag)) {
  ENSURE(tag_.empty() || is_tag(tag_));
  for (Field& field : fields_) {
    field = normalised(field);
    ENSURE(field.count > 0);
    const bool is_bool = has_scalar(field.kind) && field.scalar == base::Scalar::boolean;
    if (field.is_variable() || is_bool) size_says_all_ = false;
    if (field.is_variable()) fixed_bytes_.reset();
    if (fixed_bytes_) *fixed_bytes_ += field.fixed_bytes();
  }
  value_type_ = type_of(fields_);
}

std::optional<Template> Template::parse(std::string_view text, std::string* wrong) {
  std::string ignored;
  std::string& sentence = wrong ? *wrong : ignored;
  std::string tag;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    tag = trimmed(text.substr(0, colon));
    if (!is_tag(tag)) {
      sentence = fmt::format("'{}' is not a tag: letters, digits and any of _-./ are", tag);
      return std::nullopt;
    }
    text.remove_prefix(colon + 1);
  }
  text = trimmed(text);
  if (text.empty()) return Template({}, std::move(tag));

  std::vector<Field> fields;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::optional<Field> field = parse_field(trimmed(text.substr(0, comma)), sentence);
    if (!field) return std::nullopt;
    fields.push_back(*field);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return Template(std::move(fields), std::move(tag));
}

std::string Template::text() const {
  std::string text = tag_.empty() ? "" : tag_ + ":";
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!text.empty()) text += i == 0 ? " " : ", ";
    text += fields_[i].text();
  }
  return text;
}

std::string Template::mismatch(const base::Payload& payload) const {
  if (payload.is_partial()) return "it is a result that covers only some of the contributions";
  const bool is_untyped =
      value_type_ == base::ValueType::unknown || payload.type() == base::ValueType::unknown;
  if (!is_untyped && payload.type() != value_type_)
    return fmt::format("it has values of type {}, but template \"{}\" takes {}",
                       base::type_name(payload.type()), text(), base::type_name(value_type_));
  if (fixed_bytes_ && payload.size() != *fixed_bytes_) {
    return fmt::format("it has {}, but template \"{}\" takes {}", plural(payload.size(), "byte"),
                       text(), *fixed_bytes_);
  }
  if (size_says_all_) return {};

  std::span<const std::byte> rest = payload.bytes();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    const auto bytes = field.take(rest);
    const auto says = [&](std::string_view what) {
      return fmt::format("field {} of template \"{}\", {}, {}", i, text(), field.text(), what);
    };
    if (!bytes) return says(fmt::format("is cut off after {}", plural(rest.size(), "byte")));
    const bool is_array = field.kind == Kind::variable_array;
    if (is_array && bytes->size() % base::scalar_bytes(field.scalar) != 0) {
      return says(
          fmt::format("has {}: not a whole number of values", plural(bytes->size(), "byte")));
    }
    if (has_bad_bool(field, *bytes)) return says("holds a byte that is neither 0 nor 1");
  }
  if (rest.empty()) return {};
  return fmt::format("{} follow the last field of template \"{}\"", plural(rest.size(), "byte"),
                     text());
}

}  // namespace pastset
