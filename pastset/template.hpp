// SPDX-License-Identifier: Apache-2.0
// pastset/template.hpp — the ordered types that all tuples of an element have
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/payload.hpp"
#include "base/scalar.hpp"

namespace pastset {

/// One field of a template: a scalar, an array of fixed or variable length, text, or bytes.
///
/// Notation: "f64" is one value, "f64[1024]" a fixed array, "f64[]" an array of any length. A
/// "string" or "bytes" field has any length. A "string[16]" or "bytes[16]" field has exactly 16
/// bytes; shorter strings are padded with zero bytes.
struct Field {
  enum class Kind : std::uint8_t {
    scalar,
    array,
    variable_array,
    text,
    fixed_text,
    bytes,
    fixed_bytes
  };
  Kind kind = Kind::scalar;
  base::Scalar scalar = base::Scalar::f64;  ///< value type, if kind is scalar or an array
  std::uint32_t count = 1;                  ///< length of an array, a text or bytes, if it is fixed
  bool is_variable() const;
  std::size_t fixed_bytes() const;  ///< size in bytes; 0 if it is variable
  std::string text() const;
  /// Removes this field's bytes, without their length prefix, from the front of `rest` and returns
  /// them. Returns nullopt and leaves `rest` unchanged if `rest` is too short.
  std::optional<std::span<const std::byte>> take(std::span<const std::byte>& rest) const;
  friend bool operator==(const Field&, const Field&) = default;
};

/// The type of an element's tuples: an ordered list of fields and an optional tag. The tag is a
/// constant that distinguishes elements with the same fields. A template is a value and cheap to
/// copy.
///
/// Notation: "f64", "u64, f64[4]", "tag: u64, string". A tag consists of letters, digits and any of
/// "_-./". If the text is not a template, parse() returns nullopt and sets `wrong` to a sentence.
///
/// Layout of a tuple: the fields follow each other, packed, little-endian. Before a field of
/// variable length comes its length in bytes as a u32. A bool is the byte 0 or 1.
class Template {
 public:
  Template() = default;  ///< no fields: for tuples that only synchronise
  explicit Template(std::vector<Field> fields, std::string tag = {});
  static std::optional<Template> parse(std::string_view text, std::string* wrong = nullptr);

  const std::vector<Field>& fields() const { return fields_; }
  const std::string& tag() const { return tag_; }
  std::string text() const;  ///< notation that parse() reads
  /// Size in bytes of every tuple; nullopt if a field is variable.
  std::optional<std::size_t> fixed_bytes() const { return fixed_bytes_; }
  /// Type that all values of a tuple have; `several` if their types differ. The type is `unknown`
  /// if a field is text or bytes, because a program may store any type there.
  base::ValueType value_type() const { return value_type_; }
  /// Checks whether `payload` is a tuple of this template. Returns an empty string if it is,
  /// otherwise a sentence with the reason.
  std::string mismatch(const base::Payload& payload) const;
  /// Fast check: true means that `payload` is a tuple of this template. After false, only
  /// mismatch() tells whether it is.
  bool surely_takes(const base::Payload& payload) const {
    return size_says_all_ && payload.size() == fixed_bytes_ && payload.may_be(value_type_);
  }
  friend bool operator==(const Template& a, const Template& b) {
    return a.fields_ == b.fields_ && a.tag_ == b.tag_;
  }

 private:
  std::vector<Field> fields_;
  std::string tag_;
  std::optional<std::size_t> fixed_bytes_ = 0;
  bool size_says_all_ = true;  // every payload of fixed_bytes_ bytes is a valid tuple
  base::ValueType value_type_ = base::ValueType::unknown;
};

}  // namespace pastset
