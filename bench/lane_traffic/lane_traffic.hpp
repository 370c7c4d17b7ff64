// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_traffic.hpp — random messages of all sizes between threads
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"
#include "runtime/wait.hpp"

namespace bench {

struct LaneTrafficOptions {
  std::uint64_t messages = 10'000;
  std::uint64_t bytes_most = std::uint64_t{8} << 20;
  std::uint64_t under_way_most = 8;  ///< maximum number of a thread's messages that are under way
  std::uint64_t seed = 2026;
};

/// Random messages between pairs of threads on different hosts. The logarithms of the sizes are
/// uniformly distributed; the smallest size is 0 bytes. Every process generates the same messages,
/// so each receiver knows what must arrive.
///
/// Thread-safe: one object serves all threads of a process.
class LaneTraffic {
 public:
  explicit LaneTraffic(const LaneTrafficOptions& options);
  /// Prepares the messages. Must be called before any thread runs.
  void prepare(const paths::Plan& plan);
  /// Sends this thread's messages and checks the messages that arrive for it. Throws
  /// std::runtime_error unless each message arrives once, in the order of its channel, and with the
  /// right bytes.
  void run(paths::Thread& thread);

  struct Figures {
    std::uint64_t received = 0, bytes = 0;
    base::Nanos took{0};
    std::uint64_t inbox_held_most = 0;  ///< most bytes in the inbox of one host
    base::Nanos lateness_lost{0};
  };
  /// Returns the totals of the threads of this process. Requires: these threads have ended.
  const Figures& figures() const { return figures_; }

 private:
  struct Message {
    std::uint32_t from = 0, to = 0;  ///< ranks
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  ///< index in pattern_ of the message's first byte
  };
  struct HostGroup {
    std::shared_ptr<paths::MessageGroup> group;
    std::uint32_t threads = 0;
  };
  std::shared_ptr<paths::MessageGroup> join(paths::Thread& thread);
  void leave(paths::Thread& thread);
  void receive(paths::Thread& thread, paths::MessageGroup& group);
  base::Payload payload_of(const Message& message) const;
  std::uint64_t channel_of(const Message& message) const;

  const LaneTrafficOptions options_;
  std::vector<std::byte> pattern_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> host_of_;  // indexed by rank
  // Indices of the messages that each thread sends, indexed by its rank.
  std::vector<std::vector<std::size_t>> sent_by_;
  // Indices of the messages that each thread receives, indexed by its rank.
  std::vector<std::vector<std::size_t>> coming_to_;
  runtime::Mutex mutex_;
  std::map<std::uint32_t, HostGroup> groups_;  // indexed by host
  Figures figures_;
};

}  // namespace bench
