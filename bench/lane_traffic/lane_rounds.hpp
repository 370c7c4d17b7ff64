// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_rounds.hpp — hosts that send each other the same bytes at once, again and
// again, to compare the clocks.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"

namespace bench {

struct LaneRoundsOptions {
  std::string pattern;  ///< `opposite`: each host of the first cluster to the one across from it in
                        ///< the second; `incast`: all others to the first host
  std::uint64_t bytes = std::uint64_t{1} << 20;
  std::uint64_t rounds = 11;
};

/// How long it takes from the moment at which all begin until the last byte is there. The first
/// host says when that moment is, which needs one clock of all: that of the machine, or the virtual
/// one.
///
/// Sharing: one for all threads of a process; the first of each host takes part.
class LaneRounds {
 public:
  explicit LaneRounds(const LaneRoundsOptions& options) : options_(options) {}
  /// Before any thread runs. Throws std::invalid_argument where the config has no such hosts.
  void prepare(const paths::Plan& plan);
  void run(paths::Thread& thread);
  /// Milliseconds of each round, sorted, where the first host is; else none.
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
