// SPDX-License-Identifier: Apache-2.0
// base/scalar.hpp — the scalar types that tuples consist of
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace base {

enum class Scalar : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, boolean };

std::size_t scalar_bytes(Scalar scalar);
std::string_view scalar_name(Scalar scalar);  ///< "i8" ... "f64", "bool"
std::optional<Scalar> scalar_named(std::string_view name);
const std::vector<std::string_view>& scalar_names();

/// Returns the scalar type of an arithmetic C++ type of at most 8 bytes.
template <class T>
constexpr Scalar scalar_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  constexpr bool is_signed = std::is_signed_v<T>;
  if (std::is_same_v<T, bool>) return Scalar::boolean;
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Scalar::f32 : Scalar::f64;
  if (sizeof(T) == 1) return is_signed ? Scalar::i8 : Scalar::u8;
  if (sizeof(T) == 2) return is_signed ? Scalar::i16 : Scalar::u16;
  if (sizeof(T) == 4) return is_signed ? Scalar::i32 : Scalar::u32;
  return is_signed ? Scalar::i64 : Scalar::u64;
}

/// Type code of values: `unknown`, `several` (values of more than one type), or 2 + Scalar.
enum class ValueType : std::uint8_t { unknown = 0, several = 1, first_scalar = 2 };
constexpr ValueType value_type(Scalar scalar) {
  return static_cast<ValueType>(static_cast<std::uint8_t>(ValueType::first_scalar) +
                                static_cast<std::uint8_t>(scalar));
}
constexpr bool is_one_scalar(ValueType type) { return type >= ValueType::first_scalar; }
std::string_view type_name(ValueType type);  ///< "f64", ..., "bytes" (unknown), "several types"
/// Returns the type code of a C++ type. Structs, enumerations and characters are `unknown`, because
/// they are plain bytes.
template <class T>
constexpr ValueType value_type_of() {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, char> &&
                !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
                !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>)
    return value_type(scalar_of<T>());
  else
    return ValueType::unknown;
}

/// Calls `use` with a value of the C++ type of `scalar`.
template <class Use>
decltype(auto) with_scalar(Scalar scalar, Use&& use) {
  switch (scalar) {
    case Scalar::i8: return use(std::int8_t{});
    case Scalar::i16: return use(std::int16_t{});
    case Scalar::i32: return use(std::int32_t{});
    case Scalar::i64: return use(std::int64_t{});
    case Scalar::u8: return use(std::uint8_t{});
    case Scalar::u16: return use(std::uint16_t{});
    case Scalar::u32: return use(std::uint32_t{});
    case Scalar::u64: return use(std::uint64_t{});
    case Scalar::f32: return use(float{});
    case Scalar::f64: return use(double{});
    case Scalar::boolean: break;
  }
  return use(bool{});
}

}  // namespace base
