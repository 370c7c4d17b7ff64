// SPDX-License-Identifier: Apache-2.0
// pastset/tuple.cpp — writing, reading and printing of tuples field by field
#include "pastset/tuple.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pastset/errors.hpp"

namespace pastset {
namespace {

using Kind = Field::Kind;

constexpr std::size_t values_printed = 8;
constexpr std::size_t bytes_printed = 32;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view without_padding(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\0') + 1);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, bytes_printed)) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > bytes_printed ? "\"..." : "\"");
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string out = "0x";
  for (const std::byte byte : bytes.first(std::min(bytes.size(), bytes_printed))) {
    out += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return out + (bytes.size() > bytes_printed ? "..." : "");
}

std::string scalar_text(base::Scalar scalar, const std::byte* at) {
  return base::with_scalar(scalar, [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  });
}

std::string array_text(base::Scalar scalar, std::span<const std::byte> bytes) {
  const std::size_t each = base::scalar_bytes(scalar);
  const std::size_t count = bytes.size() / each;
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(count, values_printed); ++i) {
    if (i > 0) out += ", ";
    out += scalar_text(scalar, bytes.data() + i * each);
  }
  if (count > values_printed) out += fmt::format(", and {} more", count - values_printed);
  return out + "]";
}

std::string field_text(const Field& field, std::span<const std::byte> bytes) {
  switch (field.kind) {
    case Kind::scalar: return scalar_text(field.scalar, bytes.data());
    case Kind::array:
    case Kind::variable_array: return array_text(field.scalar, bytes);
    case Kind::text: return quoted(as_text(bytes));
    case Kind::fixed_text: return quoted(without_padding(as_text(bytes)));
    case Kind::bytes:
    case Kind::fixed_bytes: break;
  }
  return hexadecimal(bytes);
}

}  // namespace

TupleWriter::TupleWriter(const Template& tuple_template) : template_(&tuple_template) {
  bytes_.reserve(tuple_template.fixed_bytes().value_or(0));
}

const Field& TupleWriter::next_field(const std::string& given) const {
  if (field_ == template_->fields().size()) {
    throw TemplateMismatch(fmt::format("template \"{}\" has {} fields, found one more, {}",
                                       template_->text(), field_, given));
  }
  return template_->fields()[field_];
}

void TupleWriter::refuse(const std::string& given) const {
  throw TemplateMismatch(fmt::format("field {} of template \"{}\" is {}, not {}", field_,
                                     template_->text(), template_->fields()[field_].text(), given));
}

void TupleWriter::append(const Field& field, const void* data, std::size_t size) {
  if (field.is_variable()) {
    if (size > std::numeric_limits<std::uint32_t>::max()) {
      refuse(fmt::format("{} bytes: more than a length of 32 bits can hold", size));
    }
    const auto length = static_cast<std::uint32_t>(size);
    const auto* at = reinterpret_cast<const std::byte*>(&length);
    bytes_.insert(bytes_.end(), at, at + sizeof length);
  }
  const auto* at = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), at, at + size);
  ++field_;
}

TupleWriter& TupleWriter::put_scalar(base::Scalar scalar, const void* value) {
  const std::string given(base::scalar_name(scalar));
  const Field& field = next_field(given);
  if (field.kind != Kind::scalar || field.scalar != scalar) refuse(given);
  append(field, value, base::scalar_bytes(scalar));
  return *this;
}

TupleWriter& TupleWriter::put_scalars(base::Scalar scalar, const void* values, std::size_t count) {
  const std::string given = fmt::format("{}[{}]", base::scalar_name(scalar), count);
  const Field& field = next_field(given);
  const bool fits =
      field.kind == Kind::variable_array || (field.kind == Kind::array && field.count == count);
  if (!fits || field.scalar != scalar) refuse(given);
  append(field, values, count * base::scalar_bytes(scalar));
  return *this;
}

TupleWriter& TupleWriter::put_text(std::string_view text) {
  const std::string given = fmt::format("a text of {} bytes", text.size());
  const Field& field = next_field(given);
  if (field.kind == Kind::text) {
    append(field, text.data(), text.size());
    return *this;
  }
  if (field.kind != Kind::fixed_text || text.size() > field.count) refuse(given);
  if (text.ends_with('\0')) refuse("a text that ends in a zero byte, which is padding");
  append(field, text.data(), text.size());
  bytes_.resize(bytes_.size() + field.count - text.size());
  return *this;
}

TupleWriter& TupleWriter::put_bytes(std::span<const std::byte> bytes) {
  const std::string given = fmt::format("bytes[{}]", bytes.size());
  const Field& field = next_field(given);
  const bool fits =
      field.kind == Kind::bytes || (field.kind == Kind::fixed_bytes && field.count == bytes.size());
  if (!fits) refuse(given);
  append(field, bytes.data(), bytes.size());
  return *this;
}

base::Payload TupleWriter::payload() const {
  if (field_ < template_->fields().size()) {
    throw TemplateMismatch(fmt::format("field {} of template \"{}\", {}, was not put", field_,
                                       template_->text(), template_->fields()[field_].text()));
  }
  base::Payload payload = base::Payload::copy_of(bytes_);
  payload.set_type(template_->value_type());
  return payload;
}

TupleReader::TupleReader(const Template& tuple_template, const base::Payload& payload)
    : template_(tuple_template), payload_(payload) {
  if (const std::string mismatch = template_.mismatch(payload_); !mismatch.empty()) {
    throw TemplateMismatch("not a tuple: " + mismatch);
  }
}

const Field& TupleReader::field(std::size_t number) const {
  if (number >= template_.fields().size()) {
    throw TemplateMismatch(fmt::format("template \"{}\" has {} fields, so there is no field {}",
                                       template_.text(), template_.fields().size(), number));
  }
  return template_.fields()[number];
}

std::span<const std::byte> TupleReader::field_bytes(std::size_t number, bool right_kind,
                                                    std::string_view wanted) const {
  if (!right_kind) {
    throw TemplateMismatch(fmt::format("field {} of template \"{}\" is {}, not {}", number,
                                       template_.text(), field(number).text(), wanted));
  }
  std::span<const std::byte> rest = payload_.bytes();
  for (std::size_t i = 0; i < number; ++i) template_.fields()[i].take(rest);
  return *template_.fields()[number].take(rest);
}

std::span<const std::byte> TupleReader::scalar(std::size_t number, base::Scalar scalar) const {
  const Field& it = field(number);
  const bool is_it = it.kind == Kind::scalar && it.scalar == scalar;
  return field_bytes(number, is_it, base::scalar_name(scalar));
}

std::span<const std::byte> TupleReader::array(std::size_t number, base::Scalar scalar) const {
  const Field& it = field(number);
  const bool is_array = it.kind == Kind::array || it.kind == Kind::variable_array;
  return field_bytes(number, is_array && it.scalar == scalar,
                     fmt::format("an array of {}", base::scalar_name(scalar)));
}

std::string TupleReader::text(std::size_t number) const {
  const Kind kind = field(number).kind;
  const bool is_text = kind == Kind::text || kind == Kind::fixed_text;
  const std::string_view text = as_text(field_bytes(number, is_text, "a string"));
  return std::string(kind == Kind::fixed_text ? without_padding(text) : text);
}

std::span<const std::byte> TupleReader::bytes(std::size_t number) const {
  const Kind kind = field(number).kind;
  return field_bytes(number, kind == Kind::bytes || kind == Kind::fixed_bytes, "bytes");
}

std::string format_tuple(const Template& tuple_template, const base::Payload& payload) {
  if (const std::string mismatch = tuple_template.mismatch(payload); !mismatch.empty()) {
    return fmt::format("(not a tuple: {})", mismatch);
  }
  std::string out = "(";
  std::span<const std::byte> rest = payload.bytes();
  for (const Field& field : tuple_template.fields()) {
    if (out.size() > 1) out += ", ";
    out += field_text(field, *field.take(rest));
  }
  return out + ")";
}

}  // namespace pastset
