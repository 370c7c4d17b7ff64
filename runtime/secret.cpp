// SPDX-License-Identifier: Apache-2.0
// runtime/secret.cpp — secrets from getrandom(2)
#include "runtime/secret.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace runtime {

std::string new_secret() {
  std::array<std::uint64_t, 2> bits{};
  // The kernel returns up to 256 bytes at once, unless a signal interrupts the wait for them.
  while (getrandom(bits.data(), sizeof bits, 0) != sizeof bits)
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "no random bits for a secret");
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace runtime
