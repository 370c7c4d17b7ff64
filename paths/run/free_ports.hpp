// SPDX-License-Identifier: Apache-2.0
// paths/run/free_ports.hpp — reservation of local ports, so that concurrent runs use different
// ports.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace paths {

/// Consecutive TCP ports of 127.0.0.1. No process listened on these ports when take() was called.
/// No other FreePorts object on this machine has these ports. Other programs may still bind some of
/// the ports.
///
/// Owns: the claim to the ports, which ends with the process, even if the process is killed.
class FreePorts {
 public:
  /// Claims `count` consecutive ports. Returns nullopt if no `count` consecutive ports are free.
  static std::optional<FreePorts> take(std::size_t count);
  std::uint16_t first() const { return first_; }

 private:
  FreePorts(std::uint16_t first, std::vector<base::Descriptor> claims)
      : first_(first), claims_(std::move(claims)) {}

  std::uint16_t first_;
  std::vector<base::Descriptor> claims_;  // one claim for each block of ports
};

}  // namespace paths
