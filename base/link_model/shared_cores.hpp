// SPDX-License-Identifier: Apache-2.0
// base/link_model/shared_cores.hpp — hosts of a machine that share its cores
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/units.hpp"

namespace tuning {

/// The cores of all machines, and the work of the hosts on them. Each host does one piece of work
/// at a time; its Processor chooses which (base/link_model/processor.hpp). If more hosts of a
/// machine work than it has cores, all of them work more slowly, at the same speed. An operating
/// system that divides the cores fairly gives the same times on average.
///
/// If several hosts begin work at the same time, the order of the calls has no influence.
///
/// Units: the caller provides all times, which may be simulated or predicted. The times must never
///        decrease.
/// Thread-safe: no.
template <class Work>
class SharedCores {
 public:
  /// `machines[host]` is the number of the machine on which the host runs. Each machine has `cores`
  /// cores.
  SharedCores(std::vector<std::uint32_t> machines, std::size_t cores)
      : machine_of_(std::move(machines)), cores_(static_cast<double>(cores)) {
    for (const std::uint32_t number : machine_of_)
      if (number >= machines_.size()) machines_.resize(number + std::size_t{1});
  }

  /// Begins `work` of a host. On a core of its own, the host would need `time` for the work.
  /// Requires: the earlier work of the host has ended and was taken.
  void begin(std::uint32_t host, base::Nanos now, base::Nanos time, Work work) {
    Machine& machine = machines_[machine_of_[host]];
    ENSURE(machine.work.emplace(host, std::move(work)).second);
    advance(machine, now);
    machine.working.emplace(machine.progress + static_cast<double>(time.count()), host);
    note_next_end(machine_of_[host]);
  }
  /// Removes the work of a host, if there is any.
  void cancel(std::uint32_t host, base::Nanos now) {
    Machine& machine = machines_[machine_of_[host]];
    if (machine.work.erase(host) == 0) return;
    advance(machine, now);
    std::erase_if(machine.working, [host](const auto& one) { return one.second == host; });
    note_next_end(machine_of_[host]);
  }
  /// Returns the time at which the next piece of work ends, if no host begins work before that
  /// time. Returns the maximum if no host works.
  base::Nanos next_end() const {
    return next_ends_.empty() ? base::Nanos::max() : next_ends_.begin()->first;
  }
  /// Removes work that has ended at the time `now`, and returns it; nullopt if no such work is
  /// left. Requires: `now` is at most next_end().
  std::optional<Work> take_ended(base::Nanos now) {
    if (next_end() > now) return std::nullopt;
    const std::uint32_t number = next_ends_.begin()->second;
    Machine& machine = machines_[number];
    const std::uint32_t host = machine.working.begin()->second;
    advance(machine, now);
    machine.working.erase(machine.working.begin());
    note_next_end(number);
    return std::move(machine.work.extract(host).mapped());
  }

 private:
  struct Machine {
    std::map<std::uint32_t, Work> work;  // work of each working host
    // The machine is idle while none of its hosts works. If a host has worked all the time since
    // the machine was last idle, it has done `progress` nanoseconds of its work. All hosts work at
    // the same speed, so a piece of work ends when `progress` has grown by the time of the piece.
    double progress = 0;
    base::Nanos progress_at{0};
    // The working hosts, sorted by the value of `progress` at which their present piece ends.
    std::set<std::pair<double, std::uint32_t>> working;
    base::Nanos next_end = base::Nanos::max();
  };

  double speed(const Machine& machine) const {
    return std::min(1.0, cores_ / static_cast<double>(machine.working.size()));
  }
  /// Updates `progress` to the time `now`. Must be called before the number of working hosts
  /// changes.
  void advance(Machine& machine, base::Nanos now) {
    if (machine.working.empty())
      machine.progress = 0;
    else
      machine.progress += static_cast<double>((now - machine.progress_at).count()) * speed(machine);
    machine.progress_at = now;
  }
  void note_next_end(std::uint32_t number) {
    Machine& machine = machines_[number];
    base::Nanos next = base::Nanos::max();
    if (!machine.working.empty()) {
      // `progress` is a sum of rounded numbers. Its rounding error is far below this constant.
      constexpr double rounding_error_nanos = 1e-4;
      const double left = machine.working.begin()->first - machine.progress - rounding_error_nanos;
      next = machine.progress_at + base::Nanos(static_cast<base::Nanos::rep>(
                                       std::ceil(std::max(0.0, left) / speed(machine))));
    }
    if (next == machine.next_end) return;
    next_ends_.erase({machine.next_end, number});
    machine.next_end = next;
    if (next != base::Nanos::max()) next_ends_.emplace(next, number);
  }

  const std::vector<std::uint32_t> machine_of_;
  const double cores_;
  std::vector<Machine> machines_;
  std::set<std::pair<base::Nanos, std::uint32_t>> next_ends_;  // time of next end, machine number
};

}  // namespace tuning
