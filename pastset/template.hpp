// SPDX-License-Identifier: Apache-2.0
// pastset/template.hpp — the ordered types that all tuples of an element have.
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

/// One field: a scalar, `count` of them, any number of them, or a string (text or bytes).
///
/// Written: "f64" one, "f64[1024]" an array, "f64[]" an array of any length,
/// "string" and "bytes" of any length, "string[16]" and "bytes[16]" of exactly 16 bytes
/// (strings padded with zero bytes).
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
  base::Scalar scalar = base::Scalar::f64;  ///< of scalar and array kinds
  std::uint32_t count = 1;                  ///< of array, fixed_text, fixed_bytes
  bool is_variable() const;
  std::size_t fixed_bytes() const;  ///< 0 when variable
  std::string text() const;
  /// Takes this field's bytes, without their length, off the front of `rest`. Answers nothing,
  /// and leaves `rest` alone, when they are not all there.
  std::optional<std::span<const std::byte>> take(std::span<const std::byte>& rest) const;
  friend bool operator==(const Field&, const Field&) = default;
};

/// A template: an ordered list of fields and an optional tag, a constant that tells apart
/// elements of the same types. A value, cheap to copy.
///
/// Written as "f64", "u64, f64[4]", "tag: u64, string"; a tag has letters, digits and any of
/// "_-./". parse() answers nothing and sets `wrong` to a sentence when the text is not a template.
///
/// Bytes of a tuple: the fields one after the other, packed, little-endian; a field of any length
/// is preceded by its length in bytes as u32; a bool is the byte 0 or 1.
class Template {
 public:
  Template() = default;  ///< no fields: the template of pure synchronisation
  explicit Template(std::vector<Field> fields, std::string tag = {});
  static std::optional<Template> parse(std::string_view text, std::string* wrong = nullptr);

  const std::vector<Field>& fields() const { return fields_; }
  const std::string& tag() const { return tag_; }
  std::string text() const;  ///< what parse() reads
  /// Size of every tuple, when no field is variable.
  std::optional<std::size_t> fixed_bytes() const { return fixed_bytes_; }
  /// Type of all values of a tuple; `unknown` where some field is text or bytes, which a program
  /// may fill with what it likes.
  base::ValueType value_type() const { return value_type_; }
  /// Empty when `payload` is a tuple of this template, otherwise a sentence saying why not.
  std::string mismatch(const base::Payload& payload) const;
  /// Quick; false may also mean that mismatch() has to look.
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
  bool size_says_all_ = true;  // whatever has fixed_bytes_ bytes is a tuple
  base::ValueType value_type_ = base::ValueType::unknown;
};

}  // namespace pastset
