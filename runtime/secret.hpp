// SPDX-License-Identifier: Apache-2.0
// runtime/secret.hpp — random numbers of the kernel that other processes cannot guess
#pragma once
#include <string>

namespace runtime {

/// Returns 128 random bits of getrandom(2) as 32 hexadecimal digits. The numbers of runtime::Random
/// are no secret: they follow from a seed, so that runs can be repeated.
///
/// Thread-safe.
/// Blocks: until the kernel has collected enough randomness, which is only possible during boot.
/// Throws: std::system_error if the kernel has no random bits.
std::string new_secret();

}  // namespace runtime
