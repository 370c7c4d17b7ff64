// SPDX-License-Identifier: Apache-2.0
// base/sealed_memory.hpp — memory of a fixed size that processes can share
#pragma once
#include <cstddef>

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

}  // namespace base
