// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_traffic.hpp — threads that send each other messages of all sizes.
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
  std::uint64_t under_way_most = 8;  ///< of one thread
  std::uint64_t seed = 2026;
};

/// Random pairs of threads on different hosts, sizes log-uniform from 0 bytes: who sends what to
/// whom is drawn alike in every process, so that each receiver knows what has to come.
///
/// Sharing: one for all threads of a process.
class LaneTraffic {
 public:
  explicit LaneTraffic(const LaneTrafficOptions& options);
  /// Before any thread runs.
  void prepare(const paths::Plan& plan);
  /// Sends what is this thread's, and checks what comes for it: each message once, in the order of
  /// its channel, its bytes right. Throws std::runtime_error when they are not.
  void run(paths::Thread& thread);

  struct Figures {
    std::uint64_t received = 0, bytes = 0;
    base::Nanos took{0};
    std::uint64_t inbox_held_most = 0;  ///< of a host
    base::Nanos lateness_lost{0};
  };
  /// Of the threads of this process, which have ended.
  const Figures& figures() const { return figures_; }

 private:
  struct Message {
    std::uint32_t from = 0, to = 0;  ///< ranks
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  ///< of its bytes in the pattern
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
  std::vector<std::uint32_t> host_of_;               // by rank
  std::vector<std::vector<std::size_t>> sent_by_;    // by rank, indices of messages
  std::vector<std::vector<std::size_t>> coming_to_;  // likewise
  runtime::Mutex mutex_;
  std::map<std::uint32_t, HostGroup> groups_;  // by host
  Figures figures_;
};

}  // namespace bench
