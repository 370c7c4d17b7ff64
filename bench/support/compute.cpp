// SPDX-License-Identifier: Apache-2.0
// bench/support/compute.cpp — sorting, spinning, sleeping, and delays from a recording.
#include "bench/support/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

#include "base/errors.hpp"

namespace bench {
namespace {

constexpr std::size_t integers_min = 256, integers_max = std::size_t{1} << 28;
constexpr int steps_between_looks = 1000;

Nanos divided(Nanos time, double speed) {
  return Nanos(std::llround(static_cast<double>(time.count()) / speed));
}

/// What this thread has computed, whoever else had its processor meanwhile.
Nanos processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace

Noise::Noise(const std::string& file) {
  std::ifstream input(file);
  base::Mistakes mistakes;
  if (!input) mistakes.add({file, 0, 0}, "cannot be read");
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    std::int64_t start = -1, duration = -1;
    std::string more;
    const bool is_good = words >> start >> duration && !(words >> more);
    if (!is_good || duration < 0 || Nanos(start) < period_) {
      mistakes.add({file, number, 1},
                   fmt::format("expected 'start_ns duration_ns' that begins at {} or later, "
                               "where the delay before it ends, found '{}'",
                               period_.count(), line));
      break;
    }
    delays_.push_back({Nanos(start), Nanos(duration)});
    period_ = Nanos(start) + Nanos(duration);
  }
  Nanos delayed{0};
  for (const Delay& delay : delays_) delayed += delay.duration;
  if (mistakes.empty() && delays_.empty())
    mistakes.add({file, 0, 0}, "expected lines 'start_ns duration_ns', found none");
  if (mistakes.empty() && delayed >= period_)
    mistakes.add({file, 0, 0}, "the delays leave no time for computing");
  mistakes.throw_if_any();
}

Nanos Noise::stretched(Nanos from, Nanos span) const {
  Nanos period_begin = from - from % period_;
  auto delay = std::partition_point(delays_.begin(), delays_.end(), [&](const Delay& one) {
    return period_begin + one.start + one.duration <= from;
  });
  Nanos end = from + span;
  for (;; ++delay) {
    if (delay == delays_.end()) {
      delay = delays_.begin();
      period_begin += period_;
    }
    const Nanos start = period_begin + delay->start;
    if (start >= end) return end - from;
    end += std::min(delay->duration, start + delay->duration - from);
  }
}

Compute::Compute(paths::Thread& thread, const ComputeOptions& options)
    : thread_(thread), options_(options), time_(divided(options.time, thread.speed())) {
  if (options.kind == ComputeOptions::Kind::sort) tune();
  if (options.kind == ComputeOptions::Kind::replay) {
    const auto period = static_cast<std::uint64_t>(options.noise->period().count());
    noise_begins_ = Nanos(thread.random().below(period));
  }
}

void Compute::run() {
  switch (options_.kind) {
    case ComputeOptions::Kind::sort: return sort();
    case ComputeOptions::Kind::spin: return spin();
    case ComputeOptions::Kind::sleep:
    case ComputeOptions::Kind::declared: return thread_.sleep_for(time_);
    case ComputeOptions::Kind::replay: break;
  }
  thread_.sleep_for(options_.noise->stretched(noise_begins_ + thread_.now(), time_));
}

void Compute::sort() {
  for (std::uint32_t& integer : integers_)
    integer = static_cast<std::uint32_t>(thread_.random().next());
  std::sort(integers_.begin(), integers_.end());
}

/// Time grows nearly in proportion to the number of integers, so two corrections suffice. The
/// shortest of a few is the one that nothing disturbed. All threads of a machine tune at once, so
/// only their processor time counts.
void Compute::tune() {
  const auto measured = [this](std::size_t count) {
    integers_.resize(std::clamp(count, integers_min, integers_max));
    Nanos shortest = Nanos::max();
    for (int i = 0; i < 3; ++i) {
      const Nanos begin = processor_time();
      sort();
      shortest = std::min(shortest, processor_time() - begin);
    }
    return std::max(shortest, Nanos(1));
  };
  const auto target = static_cast<double>(time_.count());
  std::size_t count = integers_min;
  Nanos took = measured(count);
  while (took < time_ / 8 && count < integers_max) took = measured(count *= 4);
  for (int i = 0; i < 2; ++i) {
    count = static_cast<std::size_t>(static_cast<double>(integers_.size()) * target /
                                     static_cast<double>(took.count()));
    took = measured(count);
  }
}

void Compute::spin() {
  const Nanos end = thread_.now() + time_;
  while (thread_.now() < end)
    for (int i = 0; i < steps_between_looks; ++i) spun_ += thread_.random().next();
}

}  // namespace bench
