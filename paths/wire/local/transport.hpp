// SPDX-License-Identifier: Apache-2.0
// paths/wire/local/transport.hpp — transport between hosts of one process
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Carries frames between the hosts of one process. A host is identified by its index in the plan.
/// Frames are not encoded. The OS thread or fiber that sends a frame also delivers it. Frames to a
/// host that has not started wait until this host starts. If the target of a frame has ended, the
/// sender's connection is lost.
///
/// Requires: this object outlives its transports.
class LocalNetwork {
 public:
  /// `carries_short` tells whether the transports carry short frames. It should be true on the
  /// steady clock only, because on the virtual clock short frames would only add work.
  explicit LocalNetwork(std::size_t hosts, bool carries_short = false)
      : carries_short_(carries_short), receivers_(hosts), waiting_(hosts), ended_(hosts, false) {}
  std::unique_ptr<Transport> transport(std::uint32_t host);

 private:
  class LocalTransport;
  const bool carries_short_;
  runtime::Mutex mutex_;
  std::vector<Receiver*> receivers_;
  std::vector<std::vector<std::pair<ConnectionId, Frame>>> waiting_;
  std::vector<bool> ended_;
  /// The two ends of a connection. Each end has a number of its own: 2n at the host that connected,
  /// and 2n + 1 at the other host.
  struct Ends {
    std::uint32_t hosts[2];
    bool dropped[2] = {false, false};
  };
  std::vector<Ends> ends_;
};

}  // namespace paths
