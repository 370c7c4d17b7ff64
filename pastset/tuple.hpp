// SPDX-License-Identifier: Apache-2.0
// pastset/tuple.hpp — conversion between C++ values and the bytes of a tuple
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace pastset {

template <class T>
inline constexpr bool is_scalar = std::is_arithmetic_v<T> && sizeof(T) <= 8;

/// Builds the bytes of a tuple field by field: TupleWriter(t).put(1.5).put("x").payload().
/// Requires: the template outlives the writer.
/// Throws: TemplateMismatch if a value does not match the next field, and from payload() if a field
///   is missing.
class TupleWriter {
 public:
  explicit TupleWriter(const Template& tuple_template);
  explicit TupleWriter(Template&&) = delete;  // a temporary would be destroyed before the writer
  template <class T>
  requires is_scalar<T> TupleWriter& put(T value) {
    return put_scalar(base::scalar_of<T>(), &value);
  }
  TupleWriter& put(std::string_view text) { return put_text(text); }
  template <class T>
  requires is_scalar<T> TupleWriter& put_array(std::span<const T> values) {
    return put_scalars(base::scalar_of<T>(), values.data(), values.size());
  }
  /// Appends a string. In a field of fixed length a shorter string is padded with zero bytes, so
  /// the string must not end in a zero byte.
  TupleWriter& put_text(std::string_view text);
  TupleWriter& put_bytes(std::span<const std::byte> bytes);
  base::Payload payload() const;

 private:
  TupleWriter& put_scalar(base::Scalar scalar, const void* value);
  TupleWriter& put_scalars(base::Scalar scalar, const void* values, std::size_t count);
  const Field& next_field(const std::string& given) const;
  [[noreturn]] void refuse(const std::string& given) const;
  void append(const Field& field, const void* data, std::size_t size);
  const Template* template_;
  std::size_t field_ = 0;
  std::vector<std::byte> bytes_;
};

/// Reads the fields of a payload.
/// Requires: the template outlives the reader.
/// Throws: TemplateMismatch if the payload is not a tuple of the template, if there is no such
///   field, or if the field has another type.
class TupleReader {
 public:
  TupleReader(const Template& tuple_template, const base::Payload& payload);
  TupleReader(Template&&, const base::Payload&) = delete;
  template <class T>
  requires is_scalar<T> T get(std::size_t field)
  const {
    T value;
    std::memcpy(&value, scalar(field, base::scalar_of<T>()).data(), sizeof(T));
    return value;
  }
  template <class T>
  requires is_scalar<T> std::vector<T> get_array(std::size_t field)
  const {
    const std::span<const std::byte> bytes = array(field, base::scalar_of<T>());
    std::vector<T> values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;  // copied one by one, because vector<bool> is no array of bool
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = value;
    }
    return values;
  }
  std::string text(std::size_t field) const;                  ///< text without the padding
  std::span<const std::byte> bytes(std::size_t field) const;  ///< valid while the reader exists

 private:
  std::span<const std::byte> scalar(std::size_t field, base::Scalar scalar) const;
  std::span<const std::byte> array(std::size_t field, base::Scalar scalar) const;
  std::span<const std::byte> field_bytes(std::size_t field, bool right_kind,
                                         std::string_view wanted) const;
  const Field& field(std::size_t number) const;
  const Template& template_;
  const base::Payload payload_;
};

/// Returns a tuple in readable form, such as "(0.25, [1, 2], \"x\")", in which long fields are cut.
/// If the payload is not a tuple of the template, the text states why.
std::string format_tuple(const Template& tuple_template, const base::Payload& payload);

}  // namespace pastset
