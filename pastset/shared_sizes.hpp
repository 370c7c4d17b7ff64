// SPDX-License-Identifier: Apache-2.0
// pastset/shared_sizes.hpp — how much memory an element takes that several processes map.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pastset {

/// How much of a shared space an element takes.
struct SharedSizes {
  std::uint64_t slots = 1024;           ///< tuples that are kept, with one to spare
  std::uint64_t arena_bytes = 1 << 20;  ///< of those above base::Payload::inline_bytes
  std::uint64_t line = 64;              ///< movers that may be blocked
  friend bool operator==(const SharedSizes&, const SharedSizes&) = default;
};

inline constexpr std::size_t line_bytes = 64;  ///< of the processor's cache

/// That a tuple of an arena takes.
constexpr std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

/// What a space can have, and an element of it.
inline constexpr std::uint64_t shared_bytes_max = std::uint64_t{1} << 39;  ///< of a whole space
inline constexpr std::size_t shared_elements_max = 64;
inline constexpr std::size_t shared_name_bytes_max = 95;
inline constexpr std::size_t shared_template_bytes_max = 511;

}  // namespace pastset
