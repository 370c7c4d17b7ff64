// SPDX-License-Identifier: Apache-2.0
// base/scalar.cpp — names and sizes of the scalar types
#include "base/scalar.hpp"

#include <algorithm>

namespace base {

std::size_t scalar_bytes(Scalar scalar) {
  return with_scalar(scalar, [](auto value) { return sizeof value; });
}

std::string_view scalar_name(Scalar scalar) {
  return scalar_names()[static_cast<std::size_t>(scalar)];
}

std::optional<Scalar> scalar_named(std::string_view name) {
  const auto& names = scalar_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Scalar>(found - names.begin());
}

std::string_view type_name(ValueType type) {
  if (type == ValueType::unknown) return "bytes";
  if (type == ValueType::several) return "several types";
  return scalar_names()[static_cast<std::size_t>(type) -
                        static_cast<std::size_t>(ValueType::first_scalar)];
}

const std::vector<std::string_view>& scalar_names() {
  static const std::vector<std::string_view> names = {"i8",  "i16", "i32", "i64", "u8",  "u16",
                                                      "u32", "u64", "f32", "f64", "bool"};
  return names;
}

}  // namespace base
