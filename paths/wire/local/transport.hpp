// SPDX-License-Identifier: Apache-2.0
// paths/wire/local/transport.hpp — transport between hosts of one process
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Carries frames between the hosts of one process, known by their index in the plan. A frame is
/// not encoded: it is delivered in the sender's context. Frames to a host that has not started wait
/// for it. A frame to a host that has ended loses the sender's connection.
///
/// Requires: outlives its transports.
class LocalNetwork {
 public:
  /// `carries_short` pays on the steady clock only. If contexts are cheap, short frames only add
  /// work.
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
  /// A connection has two ends: 2n of the host that connected, and 2n + 1.
  struct Ends {
    std::uint32_t hosts[2];
    bool dropped[2] = {false, false};
  };
  std::vector<Ends> ends_;
};

}  // namespace paths
