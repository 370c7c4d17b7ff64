// SPDX-License-Identifier: Apache-2.0
// paths/machine/mapped_arrays.cpp — positions of the members' arrays in their common memory
#include "paths/machine/mapped_arrays.hpp"

#include "base/errors.hpp"

namespace paths {
namespace {

constexpr std::size_t unused_bytes = 4096;  // a page, after each array

/// Returns the distance in bytes between the begins of two arrays. An unused page follows each
/// array, so that the distance is no power of two: equal positions in all arrays would then compete
/// for the same lines of a cache.
std::size_t stride_bytes_of(std::size_t array_bytes) {
  return (array_bytes + unused_bytes - 1) / unused_bytes * unused_bytes + unused_bytes;
}

std::size_t memory_bytes_of(std::uint32_t members, std::size_t array_bytes) {
  ENSURE(members > 0 && array_bytes > 0 && array_bytes <= MappedArrays::array_bytes_max);
  return members * stride_bytes_of(array_bytes);
}

}  // namespace

MappedArrays MappedArrays::make(std::uint32_t members, std::size_t array_bytes) {
  return {base::MappedSealedMemory::make("paths-arrays", memory_bytes_of(members, array_bytes)),
          array_bytes};
}

MappedArrays MappedArrays::map(base::Descriptor descriptor, std::uint32_t members,
                               std::size_t array_bytes) {
  const std::size_t bytes = memory_bytes_of(members, array_bytes);
  return {base::MappedSealedMemory::map(std::move(descriptor), bytes), array_bytes};
}

std::span<std::byte> MappedArrays::array(std::uint32_t member) const {
  return memory_.bytes().subspan(member * stride_bytes_of(array_bytes_), array_bytes_);
}

}  // namespace paths
