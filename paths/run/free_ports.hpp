// SPDX-License-Identifier: Apache-2.0
// paths/run/free_ports.hpp — ports of this machine for one run among several.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace paths {

/// Ports in a row at 127.0.0.1 that no process listened on when they were taken, and that no other
/// FreePorts of this machine has. Other programs may still bind one of them.
///
/// Owns: the claim, which goes with the process, however it ends.
class FreePorts {
 public:
  /// Nothing when there are not so many in a row.
  static std::optional<FreePorts> take(std::size_t count);
  std::uint16_t first() const { return first_; }

 private:
  FreePorts(std::uint16_t first, std::vector<base::Descriptor> claims)
      : first_(first), claims_(std::move(claims)) {}

  std::uint16_t first_;
  std::vector<base::Descriptor> claims_;  // one for each block of ports
};

}  // namespace paths
