// SPDX-License-Identifier: Apache-2.0
// bench/support/compute.cpp — computation by sorting, spinning or sleeping, and its delays
#include "bench/support/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numbers>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/settings.hpp"
#include "base/text_file.hpp"
#include "eventspace/trace/computation_times.hpp"
#include "paths/host/host.hpp"

namespace bench {
namespace {

constexpr std::size_t integers_min = 256, integers_max = std::size_t{1} << 28;
constexpr int steps_between_looks = 1000;

}  // namespace

Nanos at_speed(Nanos time, double speed) {
  const double nanos = static_cast<double>(time.count()) / speed;
  if (nanos > static_cast<double>(base::time_max.count()))
    throw std::invalid_argument(
        fmt::format("computing that takes {} would take more than 30 years on a host of speed {}",
                    base::format_time(time), speed));
  return Nanos(std::llround(nanos));
}

Nanos processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

Noise::Noise(const std::string& file) {
  std::istringstream input(base::load_text(file, base::table_bytes_max));
  base::Mistakes mistakes;
  std::string line;
  Nanos delayed{0};
  for (int number = 1; std::getline(input, line); ++number) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    std::string first, second, more;
    words >> first >> second;
    const auto start = base::parse_time(first + "ns"), duration = base::parse_time(second + "ns");
    const bool is_good = start && duration && !(words >> more) && *start >= period_ &&
                         *duration <= base::time_max - *start;
    if (!is_good) {
      mistakes.add({file, number, 1},
                   fmt::format("expected 'start_ns duration_ns' that begins at {} or later, "
                               "where the delay before it ends, and ends within 30 years, found "
                               "'{}'",
                               period_.count(), line));
      break;
    }
    delays_.push_back({*start, *duration});
    period_ = *start + *duration;
    delayed += *duration;
  }
  if (mistakes.empty() && delays_.empty())
    mistakes.add({file, 0, 0}, "expected lines 'start_ns duration_ns', found none");
  if (mistakes.empty() && delayed >= period_)
    mistakes.add({file, 0, 0}, "the delays leave no time for computing");
  mistakes.throw_if_any();
}

Noise::Noise(Nanos duration, Nanos period)
    : delays_{{period - duration, duration}}, period_(period) {
  ENSURE(duration < period);
}

Noise Noise::once(Nanos duration, Nanos when) {
  constexpr Nanos year = std::chrono::hours(24 * 365);
  Noise noise(duration, when + duration + year);
  noise.delays_.front().start = when;
  return noise;
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

ComputationTimes::ComputationTimes(const std::string& directory, const std::string& collective,
                                   std::uint32_t threads)
    : nanos_(eventspace::computation_times(eventspace::TraceDirectory(directory), collective)) {
  if (nanos_.size() != threads)
    throw std::invalid_argument(
        fmt::format("--replay: the run traced in {} had {} threads, the config has {}: whose "
                    "computing is whose?",
                    directory, nanos_.size(), threads));
  for (std::uint32_t rank = 0; rank < threads; ++rank)
    if (nanos_[rank].empty())
      throw std::invalid_argument(
          fmt::format("--replay: {} has no computation of thread {} before a move on '{}'",
                      directory, rank, collective));
}

Nanos ComputationTimes::of(std::uint32_t rank, std::uint64_t iteration) const {
  return Nanos(nanos_[rank][iteration % nanos_[rank].size()]);
}

InjectedNoise InjectedNoise::parse(const std::string& text, const paths::Plan& plan) {
  const auto equals = text.find('=');
  const auto mark = text.find_first_of("/@", equals == std::string::npos ? 0 : equals);
  const std::string thread = text.substr(0, equals);
  std::optional<Nanos> duration, when;
  if (equals != std::string::npos && mark != std::string::npos) {
    duration = base::parse_time(text.substr(equals + 1, mark - equals - 1));
    when = base::parse_time(text.substr(mark + 1));
  }
  const bool is_once = mark != std::string::npos && text[mark] == '@';
  if (!duration || !when)
    throw std::invalid_argument(
        fmt::format("--noise: expected HOST/THREAD=DURATION/PERIOD such as alpha-0/1=5ms/100ms, or "
                    "DURATION@TIME for once, no time longer than 30 years, found '{}'",
                    text));
  if (*duration <= Nanos(0) || (!is_once && *duration >= *when))
    throw std::invalid_argument(fmt::format("--noise: expected a duration above 0{}, found '{}'",
                                            is_once ? "" : " that is shorter than the period",
                                            text));
  bool is_known = thread == "*";
  for (const auto& host : plan.hosts)
    for (std::uint32_t i = 0; i < host.threads; ++i)
      is_known = is_known || thread == fmt::format("{}/{}", host.name, i);
  if (!is_known)
    throw std::invalid_argument(
        fmt::format("--noise: expected a thread of the config such as {}/0, or *, found '{}'",
                    plan.hosts.front().name, thread));
  if (is_once) return {thread, std::make_shared<const Noise>(Noise::once(*duration, *when)), true};
  return {thread, std::make_shared<const Noise>(*duration, *when)};
}

void occupy_processor(paths::Thread& thread, Nanos span, const std::function<void()>& work) {
  if (thread.host().runtime().is_virtual()) return thread.sleep_for(span);
  for (const Nanos end = thread.now() + span; thread.now() < end;) work();
}

Compute::Compute(paths::Thread& thread, const ComputeOptions& options)
    : thread_(thread), options_(options), time_(at_speed(options.time, thread.speed())) {
  const std::string name = fmt::format("{}/{}", thread.host().name(), thread.index());
  for (const InjectedNoise& injected : options.injected) {
    if (injected.thread != "*" && injected.thread != name) continue;
    const auto period = static_cast<std::uint64_t>(injected.noise->period().count());
    const Nanos begins(injected.is_once ? 0 : thread.random().below(period));
    injected_.push_back({injected.noise, begins});
  }
  if (options.kind == ComputeOptions::Kind::sort) tune();
  if (options.noise != nullptr) {
    const auto period = static_cast<std::uint64_t>(options.noise->period().count());
    noise_begins_ = Nanos(thread.random().below(period));
  }
}

void Compute::run() {
  const Nanos begin = thread_.now();
  compute();
  const Nanos took = thread_.now() - begin;
  Nanos delayed = took;
  for (const Injected& one : injected_) delayed = one.noise->stretched(one.begins + begin, delayed);
  if (delayed != took) spin(delayed - took);
}

void Compute::compute() {
  const Nanos time = varied_time();
  switch (options_.kind) {
    case ComputeOptions::Kind::sort: return sort();
    case ComputeOptions::Kind::spin: return spin(time);
    case ComputeOptions::Kind::sleep:
    case ComputeOptions::Kind::declared: return thread_.sleep_for(time);
    case ComputeOptions::Kind::replay: break;
  }
  if (options_.times != nullptr)
    return thread_.sleep_for(options_.times->of(thread_.rank(), iteration_++));
  thread_.sleep_for(options_.noise->stretched(noise_begins_ + thread_.now(), time));
}

/// Returns a time with normal variation, cut off at four standard deviations (Box and Muller 1958).
Nanos Compute::varied_time() {
  if (options_.variation == 0) return time_;
  const double radius = std::sqrt(-2 * std::log(1 - thread_.random().unit()));
  const double normal = radius * std::cos(2 * std::numbers::pi * thread_.random().unit());
  const double factor = 1 + options_.variation * std::clamp(normal, -4.0, 4.0);
  return at_speed(time_, 1 / std::max(factor, 0.01));
}

void Compute::sort() {
  for (std::uint32_t& integer : integers_)
    integer = static_cast<std::uint32_t>(thread_.random().next());
  std::sort(integers_.begin(), integers_.end());
}

/// Finds how many integers can be sorted in the configured time. The sort time is nearly
/// proportional to the number of integers, so two corrections suffice. Each try is made three
/// times. The shortest of the three times counts, because other programs disturbed that sort least.
/// Measures processor time, not real time, because all threads of a machine tune at the same time.
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

void Compute::spin(Nanos span) {
  occupy_processor(thread_, span, [this] {
    for (int i = 0; i < steps_between_looks; ++i) spun_ += thread_.random().next();
  });
}

}  // namespace bench
