// SPDX-License-Identifier: Apache-2.0
// commands/wake_up_measurement.cpp — steps in which all hosts of a machine exchange bytes.
#include "commands/wake_up_measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "commands/bursts.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

constexpr std::uint64_t channel = 5;
constexpr int batches = 8;
constexpr std::size_t rounds_of_batch = 25;
constexpr std::chrono::milliseconds pause{2};  // sleep of each host before the timed steps

/// Does a dissemination barrier: the function returns when all hosts have called it. Returns the
/// number of steps. `me` is the index of this host in `hosts`.
int meet(paths::MessageGroup& group, const std::vector<std::uint32_t>& hosts, std::size_t me) {
  int steps = 0;
  for (std::size_t distance = 1; distance < hosts.size(); distance *= 2, ++steps) {
    group.send(hosts[(me + distance) % hosts.size()], channel, base::Payload::of(std::uint8_t{0}));
    patiently(group.receive(hosts[(me + hosts.size() - distance) % hosts.size()], channel));
  }
  return steps;
}

}  // namespace

base::Nanos measure_step(paths::Thread& thread, paths::MessageGroup& group,
                         const std::vector<std::uint32_t>& hosts) {
  const auto me = static_cast<std::size_t>(
      std::find(hosts.begin(), hosts.end(), thread.host().index()) - hosts.begin());
  base::Nanos least = base::Nanos::max();
  for (int batch = 0; batch < batches; ++batch) {
    std::array<base::Nanos, rounds_of_batch> times;
    for (base::Nanos& time : times) {
      meet(group, hosts, me);
      thread.sleep_for(pause);
      const base::Nanos begun = thread.now();
      const int steps = meet(group, hosts, me);
      time = (thread.now() - begun) / steps;
    }
    std::nth_element(times.begin(), times.begin() + rounds_of_batch / 2, times.end());
    least = std::min(least, times[rounds_of_batch / 2]);
  }
  return least;
}

base::Nanos wake_up_of(base::Nanos step, std::size_t hosts, std::size_t cores, base::Nanos latency,
                       const tuning::FrameCosts& costs) {
  const double slower = std::max(1.0, static_cast<double>(hosts) / static_cast<double>(cores));
  const auto work = static_cast<double>((step - latency).count()) / slower;
  const base::Nanos whole(static_cast<base::Nanos::rep>(work));
  return std::max(base::Nanos(0), whole - costs.send.at(1) - costs.receive.at(1));
}

}  // namespace commands
