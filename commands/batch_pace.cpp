// SPDX-License-Identifier: Apache-2.0
// commands/batch_pace.cpp — counters of disturbances before and after a batch.
#include "commands/batch_pace.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include "base/link_model/measurement.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

/// Returns how often other processes and machines have disturbed this process so far. Column 8 of
/// the first line of /proc/stat is the time that the hypervisor gave to other machines (steal).
tuning::Interference interference_so_far() {
  tuning::Interference so_far;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  so_far.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  for (int column = 1; column <= 8 && file; ++column) file >> so_far.steal_ticks;
  return so_far;
}

}  // namespace

bool BatchPace::can_be_disturbed() const { return !thread_.host().runtime().is_virtual(); }

bool BatchPace::run(const std::function<void()>& batch) {
  const auto look = [&] {
    return can_be_disturbed() ? interference_so_far() : tuning::Interference();
  };
  if (const base::Nanos now = thread_.now(); now < next_) thread_.sleep_for(next_ - now);
  next_ = thread_.now() + apart;
  const tuning::Interference before = look();
  const base::Nanos began = thread_.now();
  batch();
  tuning::Interference after = look();
  after.wall = thread_.now() - began;
  after.steal_ticks -= before.steal_ticks;
  after.involuntary_switches -= before.involuntary_switches;
  return after.disturbs();
}

}  // namespace commands
