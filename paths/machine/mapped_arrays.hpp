// SPDX-License-Identifier: Apache-2.0
// paths/machine/mapped_arrays.hpp — arrays that the processes of one machine can read
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/sealed_memory.hpp"

namespace paths {

/// Arrays of equal size, one for each member of a group, in memory that the processes of all
/// members map. A member writes only to its own array, and reads the other arrays. The arrays exist
/// until the last process has unmapped them or has ended. In new arrays all bytes are 0.
///
/// Owns: the mapping.
class MappedArrays {
 public:
  static constexpr std::size_t array_bytes_max = std::size_t{1} << 40;
  /// Makes arrays of `array_bytes` bytes each, at least 1 and at most array_bytes_max.
  /// Throws: std::system_error if the system refuses the memory.
  static MappedArrays make(std::uint32_t members, std::size_t array_bytes);
  /// Maps arrays that another member made.
  /// Throws: std::system_error if the memory cannot be mapped or has another size.
  static MappedArrays map(base::Descriptor descriptor, std::uint32_t members,
                          std::size_t array_bytes);

  std::span<std::byte> array(std::uint32_t member) const;
  const base::Descriptor& descriptor() const { return memory_.descriptor(); }
  void close_descriptor() { memory_.close_descriptor(); }  ///< the arrays stay mapped

 private:
  MappedArrays(base::MappedSealedMemory memory, std::size_t array_bytes)
      : memory_(std::move(memory)), array_bytes_(array_bytes) {}
  base::MappedSealedMemory memory_;
  std::size_t array_bytes_;
};

}  // namespace paths
