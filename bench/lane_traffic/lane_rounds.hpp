// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_rounds.hpp — repeated messages, to compare virtual and real times
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"

namespace bench {

struct LaneRoundsOptions {
  /// Pairs of senders and receivers. `opposite`: each host of the first cluster sends to its
  /// counterpart in the second cluster. `incast`: all hosts except the first send to the first
  /// host.
  std::string pattern;
  std::uint64_t bytes = std::uint64_t{1} << 20;
  std::uint64_t rounds = 11;
};

/// Measures rounds of messages. The time of a round lasts from a common start time until the last
/// byte has arrived. The first host chooses the start time. All hosts therefore need the same
/// clock: the clock of the machine, or the virtual clock.
///
/// Thread-safe: one object serves all threads of a process. The first thread of each host takes
/// part.
class LaneRounds {
 public:
  explicit LaneRounds(const LaneRoundsOptions& options) : options_(options) {}
  /// Finds the pairs of hosts. Must be called before any thread runs. Throws std::invalid_argument
  /// if the config lacks suitable hosts.
  void prepare(const paths::Plan& plan);
  void run(paths::Thread& thread);
  /// Returns the times of the rounds in milliseconds, in ascending order. Only the process of the
  /// first host has times; in other processes the list is empty.
  const std::vector<double>& took() const { return took_; }

 private:
  void send_and_receive(paths::Thread& thread, paths::MessageGroup& group);

  const LaneRoundsOptions options_;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  base::Payload message_;
  std::vector<double> took_;
};

}  // namespace bench
