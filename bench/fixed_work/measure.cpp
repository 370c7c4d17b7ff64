// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/measure.cpp — three methods to measure the noise of a processor
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ratio>
#include <stdexcept>

#include "bench/fixed_work/fixed_work.hpp"
#include "runtime/runtime.hpp"

namespace bench::fixed_work {
namespace {

using Clock = std::chrono::steady_clock;  // tidy: real time (mark for scripts/tidy.py)

constexpr std::size_t gaps_max = 1'000'000;
constexpr Nanos head_start = std::chrono::milliseconds(50);

/// Computes dependent steps in registers only. The time of the steps therefore depends only on the
/// processor and on other programs that use this processor.
void work(std::uint64_t steps) {
  std::uint64_t value = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(value));  // keeps the compiler from removing or precomputing the loop
  }
}

Nanos shortest_time(std::uint64_t steps, int tries) {
  Nanos shortest = Nanos::max();
  for (int i = 0; i < tries; ++i) {
    const auto begin = Clock::now();
    work(steps);
    shortest = std::min<Nanos>(shortest, Clock::now() - begin);
  }
  return std::max(shortest, Nanos(1));
}

/// Returns the number of steps that take `target` without disturbance. Corrects the number until
/// the shortest of many tries takes `target` within 0.5 %, as the program netgauge does. Makes
/// fewer tries if `target` is long.
std::uint64_t calibrated_steps(Nanos target) {
  const Nanos budget = std::chrono::milliseconds(100);
  const int tries = static_cast<int>(std::clamp<std::int64_t>(budget / target, 5, 200));
  std::uint64_t steps = 16;
  while (shortest_time(steps, 5) < target / 8) steps *= 4;
  for (int i = 0; i < 10; ++i) {
    const double off =
        std::chrono::duration<double, std::nano>(target) / shortest_time(steps, tries);
    if (std::abs(off - 1) < 0.005) break;
    const double corrected = static_cast<double>(steps) * off;
    steps = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(corrected)));
  }
  return steps;
}

/// Returns the shortest time between two clock readings. Stops after a hundred readings that give
/// no shorter time.
Nanos shortest_look() {
  Nanos shortest = Nanos::max();
  auto last = Clock::now();
  for (int since = 0; since < 100; ++since) {
    const auto now = Clock::now();
    if (now - last < shortest) {
      shortest = now - last;
      since = 0;
    }
    last = now;
  }
  return std::max(shortest, Nanos(1));
}

void stay_on(std::uint32_t processor) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(processor, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0)
    throw std::runtime_error(fmt::format("cannot stay on processor {}", processor));
}

/// Spins until `when`, so that the processor is awake and at full speed. Returns the actual time.
Clock::time_point spin_until(Clock::time_point when) {
  auto now = Clock::now();
  while (now < when) now = Clock::now();
  return now;
}

void measure_pieces(Samples& samples, std::uint64_t steps, Nanos duration,
                    Clock::time_point begin) {
  begin = spin_until(begin);
  std::size_t pieces = 0;
  while (pieces < samples.ends.size() && samples.span < duration) {
    work(steps);
    samples.span = Clock::now() - begin;
    samples.ends[pieces++] = samples.span;
  }
  samples.ends.resize(pieces);
}

/// Counts the units of work that are done in each interval. A unit counts in the interval in which
/// it began. An interval in which no unit began has the count 0.
void measure_units(Samples& samples, std::uint64_t steps, Nanos interval, Clock::time_point begin) {
  begin = spin_until(begin);
  auto end = begin + interval;
  std::uint32_t units = 0;
  for (auto sample = samples.done.begin(); sample != samples.done.end();) {
    work(steps);
    ++units;
    for (const auto now = Clock::now(); now >= end && sample != samples.done.end();) {
      *sample++ = units;
      units = 0;
      end += interval;
    }
  }
  samples.span = interval * static_cast<std::int64_t>(samples.done.size());
}

void measure_gaps(Samples& samples, Nanos threshold, Nanos duration, Clock::time_point begin) {
  begin = spin_until(begin);
  const Nanos longest = samples.shortest_look + threshold;
  std::size_t found = 0;
  auto last = begin;
  while (last - begin < duration && found < samples.gaps.size()) {
    const auto now = Clock::now();
    if (now - last > longest) samples.gaps[found++] = {last - begin, now - last};
    last = now;
  }
  samples.span = last - begin;
  samples.is_full = found == samples.gaps.size();
  samples.gaps.resize(found);
}

/// Measures on this thread. All memory is allocated and written before the measurement begins, so
/// that no page fault occurs during the measurement.
Samples measure_here(const Options& options, std::uint32_t processor, std::uint64_t steps,
                     Clock::time_point begin) {
  stay_on(processor);
  Samples samples;
  samples.processor = processor;
  switch (options.method) {
    case Method::fixed_work:
      samples.ends.assign(options.samples(), Nanos(0));
      measure_pieces(samples, steps, options.duration, begin);
      break;
    case Method::fixed_time:
      samples.done.assign(options.samples(), 0);
      measure_units(samples, steps, options.interval, begin);
      break;
    case Method::detour:
      samples.gaps.assign(gaps_max, Detour());
      samples.shortest_look = shortest_look();
      measure_gaps(samples, options.gap_threshold(samples.shortest_look), options.duration, begin);
      break;
  }
  return samples;
}

}  // namespace

std::vector<std::uint32_t> usable_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0)
    throw std::runtime_error("cannot find out which processors may be used");
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &mask)) all.push_back(i);
  return all;
}

std::vector<Samples> measure(const Options& options) {
  const std::string mistake = options.mistake();
  if (!mistake.empty()) throw std::invalid_argument(mistake);
  const std::vector<std::uint32_t> usable = usable_processors();
  if (options.threads > usable.size())
    throw std::runtime_error(fmt::format("expected a processor for each of {} threads, found {}",
                                         options.threads, usable.size()));
  const bool works = options.method != Method::detour;
  const std::uint64_t steps = works ? calibrated_steps(options.work_or_default()) : 0;
  std::vector<Samples> samples(options.threads);
  runtime::Runtime runtime;
  runtime.run([&] {
    // All threads begin at the time `begin`. There is no barrier, so a thread that fails does not
    // block the others.
    const auto begin = Clock::now() + head_start;
    std::vector<runtime::Task> tasks;
    for (std::uint32_t i = 0; i < options.threads; ++i)
      tasks.push_back(runtime.spawn(runtime::ContextRole::thread, {"thread", {}, i}, [&, i] {
        samples[i] = measure_here(options, usable[i], steps, begin);
      }));
    for (runtime::Task& task : tasks) task.join();
  });
  return samples;
}

}  // namespace bench::fixed_work
