// SPDX-License-Identifier: Apache-2.0
// paths/wire/local/transport.hpp — frames between hosts of one process.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// The hosts of one process, by their index in the plan. A frame is delivered in the sender's
/// context, without being encoded; frames to a host that has not started yet wait for it,
/// and those to one that has ended lose the sender's connection. Outlives its transports.
class LocalNetwork {
 public:
  /// Short frames are for the steady clock: where contexts cost little they are only more work.
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
  /// A connection has two ends, numbered 2n (who connected) and 2n + 1.
  struct Ends {
    std::uint32_t hosts[2];
    bool dropped[2] = {false, false};
  };
  std::vector<Ends> ends_;
};

}  // namespace paths
