// SPDX-License-Identifier: Apache-2.0
// commands/wake_up_measurement.cpp — steps of a barrier of all hosts of a machine.
#include "commands/wake_up_measurement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>

#include "groups/clocked_run.hpp"
#include "groups/group.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

constexpr int batches = 4;
constexpr std::size_t rounds_of_batch = 15;

}  // namespace

base::Nanos measure_step(paths::Thread& thread, const std::vector<std::uint32_t>& hosts) {
  std::vector<std::uint32_t> members;
  for (const std::uint32_t host : hosts)
    members.push_back(thread.host().plan().hosts[host].first_thread);
  groups::Group group(thread, "paths.measure", members);
  const auto steps = static_cast<base::Nanos::rep>(std::bit_width(hosts.size() - 1));
  base::Nanos expected{0}, least = base::Nanos::max();
  for (int batch = 0; batch < batches; ++batch) {
    std::array<base::Nanos, rounds_of_batch> times;
    for (base::Nanos& time : times) {
      time = groups::run_clocked(
                 thread, group, [&] { group.run(groups::by("dissemination", groups::barrier())); },
                 expected)
                 .time;
      expected = time;
    }
    std::nth_element(times.begin(), times.begin() + rounds_of_batch / 2, times.end());
    least = std::min(least, times[rounds_of_batch / 2]);
  }
  return least / steps;
}

base::Nanos expected_time_of_step_measurement(std::size_t hosts, base::Nanos latency) {
  // Time of hosts that share a machine, for a message.
  constexpr base::Nanos of_message = std::chrono::microseconds(100);
  // run_clocked() takes two allreduces and the time of three before the start, and two after it.
  constexpr int operations = 8;
  const base::Nanos operation =
      static_cast<base::Nanos::rep>(std::bit_width(hosts - 1)) * (latency + of_message);
  return batches * static_cast<base::Nanos::rep>(rounds_of_batch) *
         (operations * operation + groups::spare_time_before_start);
}

base::Nanos wake_up_of(base::Nanos step, std::size_t hosts, std::size_t cores, base::Nanos latency,
                       const tuning::FrameCosts& costs) {
  const double slower = std::max(1.0, static_cast<double>(hosts) / static_cast<double>(cores));
  const auto work = static_cast<double>((step - latency).count()) / slower;
  const base::Nanos whole(static_cast<base::Nanos::rep>(work));
  return std::max(base::Nanos(0), whole - costs.send.at(1) - costs.receive.at(1));
}

}  // namespace commands
