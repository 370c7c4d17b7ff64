// SPDX-License-Identifier: Apache-2.0
// base/scalar.hpp — the scalar types that tuples are made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace base {

enum class Scalar : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, boolean };

std::size_t scalar_bytes(Scalar scalar);
std::string_view scalar_name(Scalar scalar);  ///< "i8" ... "f64", "bool"
std::optional<Scalar> scalar_named(std::string_view name);
const std::vector<std::string_view>& scalar_names();

/// Calls `use` with a value of the C++ type that `scalar` stands for.
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
