// SPDX-License-Identifier: Apache-2.0
// base/sealed_memory.hpp — memory of a fixed size that processes can share
#pragma once
#include <cstddef>
#include <span>

#include "base/descriptor.hpp"

namespace base {

/// If shared memory shrinks, the kernel kills processes that then read the removed part (SIGBUS).
/// Sealed memory avoids this, because it can neither shrink nor grow. Sealed memory is in no file
/// system. The kernel frees it when no process has it open or mapped.

/// Makes sealed memory. `name` appears in /proc. Throws std::system_error.
Descriptor make_sealed_memory(const char* name, std::size_t bytes);
/// Returns whether the descriptor, which another process may have made, is sealed memory of exactly
/// `bytes` bytes.
bool is_sealed_memory(const Descriptor& descriptor, std::size_t bytes);

/// Sealed memory that this process has mapped, to read and write.
///
/// Owns:   the mapping and the descriptor.
/// Throws: std::system_error if the system refuses the memory.
class MappedSealedMemory {
 public:
  /// Makes memory. All bytes are 0. `name` appears in /proc.
  static MappedSealedMemory make(const char* name, std::size_t bytes);
  /// Maps memory that another process may have made. Throws: std::system_error also if it is not
  /// sealed memory of exactly `bytes` bytes.
  static MappedSealedMemory map(Descriptor descriptor, std::size_t bytes);
  MappedSealedMemory() = default;
  MappedSealedMemory(MappedSealedMemory&& other) noexcept;
  MappedSealedMemory& operator=(MappedSealedMemory&& other) noexcept;
  ~MappedSealedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  const Descriptor& descriptor() const { return descriptor_; }
  void close_descriptor() { descriptor_.close(); }  ///< the memory stays mapped

 private:
  MappedSealedMemory(Descriptor descriptor, std::size_t bytes);
  Descriptor descriptor_;
  std::span<std::byte> bytes_;
};

}  // namespace base
