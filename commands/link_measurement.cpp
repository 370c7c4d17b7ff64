// SPDX-License-Identifier: Apache-2.0
// commands/link_measurement.cpp — sizes of messages, stop rules, and numbers of streams in the
// measurement of a link.
#include "commands/link_measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "base/link_model/measurement.hpp"
#include "commands/batch_pace.hpp"
#include "paths/host/host.hpp"
#include "paths/links/emulated_links.hpp"

namespace commands {
namespace {

using base::Nanos;
using State = tuning::Measurement::State;
using namespace std::chrono_literals;

constexpr std::uint64_t smallest = 4 << 10, largest = 1 << 20;
constexpr Nanos batch_time = 60ms;  // total time of all samples of a batch
constexpr std::size_t samples_most = 10;
// If messages take less time than this, one time slice of another process distorts the measurement.
constexpr Nanos spoilt_below = 1ms;
constexpr tuning::StopRule streams_rule{.batches_least = 3};

/// Returns the least permitted difference between the time of a message of the measured size and
/// the time of a message of one byte. A smaller difference would depend too much on the overhead of
/// the hosts.
Nanos enough(Nanos latency) { return std::clamp(latency / 2, Nanos(5ms), Nanos(20ms)); }

/// Returns the size of messages for the measurement of streams. The size is so large that the order
/// in which a host sends its first frames does not affect the time.
std::uint64_t size_of_stream(std::uint64_t size, double bits_per_second) {
  constexpr double seconds_least = 0.07;
  while (size < largest && static_cast<double>(size) * 8 < seconds_least * bits_per_second)
    size *= 2;
  return size;
}

class LinkMeasurement {
 public:
  LinkMeasurement(Bursts& bursts, const LinkTask& task)
      : bursts_(bursts), task_(task), thread_(bursts.thread()) {}

  LinkFigures measure() {
    const Nanos began = thread_.now();
    const std::uint64_t bytes = bursts_.bytes();
    warm_up();
    find_size();
    measure_one_stream();
    if (figures_.is_usable && figures_.bits_per_second > 0) find_streams();
    figures_.bytes = bursts_.bytes() - bytes;
    figures_.took = thread_.now() - began;
    return figures_;
  }

 private:
  using Batch = std::vector<std::vector<Nanos>>;

  std::vector<HostPair> first_pair() const { return pairs_of(task_, 1); }

  static Nanos least(const std::vector<Nanos>& samples) {
    return *std::min_element(samples.begin(), samples.end());
  }

  /// Sends messages that are not measured, to establish connections and to touch pages.
  void warm_up() {
    constexpr std::size_t least_echoes = 3, most_echoes = 20;
    byte_ = least(bursts_.batch(first_pair(), {1}, least_echoes).front());
    const std::size_t echoes = tuning::samples_of_batch(byte_, 20ms, least_echoes, most_echoes);
    byte_ = least(bursts_.batch(first_pair(), {1}, echoes).front());
  }

  void find_size() {
    constexpr std::size_t looks = 2;
    for (;; size_ *= 2) {
      message_ = least(bursts_.batch(first_pair(), {size_}, looks).front());
      const Nanos beyond = message_ - byte_;
      if (size_ == largest || beyond >= enough(byte_)) return;
      if (beyond < enough(byte_) / 4 && size_ * 2 < largest) size_ *= 2;
    }
  }

  template <class Add>
  void add_batch(const std::vector<HostPair>& pairs, const std::vector<std::uint64_t>& sizes,
                 std::size_t samples, Add add) {
    Batch batch;
    const bool is_disturbed = pace_.run([&] { batch = bursts_.batch(pairs, sizes, samples); });
    add(batch, is_spoilt_easily() && is_disturbed);
  }

  /// Returns whether a single disturbance by another process distorts a measurement: true for short
  /// messages on the steady clock.
  bool is_spoilt_easily() const { return byte_ < spoilt_below && pace_.can_be_disturbed(); }

  struct OneStream {
    explicit OneStream(tuning::StopRule rule) : latency({1}, rule), rate({-1, 1}, rule) {}
    tuning::Measurement latency, rate;
    bool needs_more() const {
      return latency.state() == State::more || rate.state() == State::more;
    }
    bool is_usable() const { return latency.is_usable() && rate.is_usable(); }
    void add(const Batch& batch) {
      latency.add({batch[0]});
      rate.add({batch[1], batch[2]});
    }
  };

  /// Measures latency and rate of one stream from undisturbed batches. If there are too few
  /// undisturbed batches, uses all batches.
  void measure_one_stream() {
    tuning::StopRule rule;
    if (is_spoilt_easily()) rule.batches_most *= 2;
    OneStream undisturbed(rule), all(rule);
    const std::size_t samples =
        tuning::samples_of_batch(byte_ + 3 * message_, batch_time, 1, samples_most);
    while (undisturbed.needs_more())
      add_batch(first_pair(), {1, size_, 2 * size_}, samples,
                [&](const Batch& batch, bool is_spoilt) {
                  all.add(batch);
                  if (!is_spoilt) return undisturbed.add(batch);
                  undisturbed.latency.reject();
                  undisturbed.rate.reject();
                });
    const OneStream& found = undisturbed.is_usable() ? undisturbed : all;
    take_latency(found.latency);
    take_rate(found.rate);
    figures_.is_usable = found.is_usable();
  }

  /// Stores the latency. If the hosts have no common clock, the measured time includes the reply.
  /// The latency is then half of that time.
  void take_latency(const tuning::Measurement& latency) {
    const double ways = bursts_.is_one_clock() ? 1 : 2;
    figures_.latency = Nanos(std::llround(latency.figure() / ways));
    figures_.latency_spread = latency.spread();
  }

  void take_rate(const tuning::Measurement& rate) {
    if (rate.figure() <= 0) return;  // unlimited: the time does not depend on the size
    figures_.bits_per_second = static_cast<double>(size_) * 8e9 / rate.figure();
    figures_.bandwidth_spread = rate.spread();
  }

  /// Measures messages of `size_` bytes between `streams` pairs of hosts at the same time. Returns
  /// the additional time in nanoseconds, compared with messages of one byte between the same pairs.
  double together(std::size_t streams) {
    tuning::StopRule rule = streams_rule;
    rule.agreement = 1 / static_cast<double>(4 * streams);
    tuning::Measurement beyond({-1, 1}, rule);
    while (beyond.state() == State::more)
      add_batch(pairs_of(task_, streams), {1, size_}, 1,
                [&](const Batch& batch, bool) { beyond.add(batch); });
    return beyond.figure();
  }

  void find_streams() {
    const std::size_t most =
        std::min(task_.streams_most, task_.sources.size() * task_.targets.size());
    size_ = size_of_stream(size_, figures_.bits_per_second);
    const double alone = most > 1 ? together(1) : 0;
    const std::size_t full = most_streams(most, [&](std::size_t streams) {
      return together(streams) <= (1 + 0.5 / static_cast<double>(streams)) * alone;
    });
    figures_.streams = full;
    figures_.is_least = full == most;
  }

  Bursts& bursts_;
  const LinkTask& task_;
  paths::Thread& thread_;
  LinkFigures figures_;
  Nanos byte_{0}, message_{0};
  std::uint64_t size_ = smallest;
  BatchPace pace_{thread_};
};

}  // namespace

LinkFigures measure_link(Bursts& bursts, const LinkTask& task) {
  return LinkMeasurement(bursts, task).measure();
}

std::vector<HostPair> pairs_of(const LinkTask& task, std::size_t streams) {
  std::vector<HostPair> pairs;
  const std::size_t sources = task.sources.size(), targets = task.targets.size();
  for (std::size_t i = 0; i < streams; ++i)
    pairs.push_back(
        {task.sources[i % sources], task.targets[(i % sources + i / sources) % targets]});
  return pairs;
}

std::size_t most_streams(std::size_t most, const std::function<bool(std::size_t)>& is_full) {
  std::size_t full = 1, beyond = most + 1;
  while (full + 1 < beyond) {
    const std::size_t next = beyond > most ? std::min(full * 2, most) : std::midpoint(full, beyond);
    (is_full(next) ? full : beyond) = next;
  }
  return full;
}

namespace {

/// Returns how many streams of `rate` bits per second a link can carry at the same time, as the
/// config states it; nullopt = unlimited.
std::optional<std::size_t> streams_on(const paths::HopLink& hop, double rate) {
  constexpr double rounding = 1e-6;  // the quotient of equal rates may be slightly below 1
  if (!hop.is_there() || rate <= 0) return std::nullopt;
  const tuning::Link link = paths::link_of(hop);
  double together = link.model.at(Nanos(0)).bits_per_second;
  if (link.has_streams() && link.streams > 0) {
    const double streams = link.stream_rate * static_cast<double>(link.streams);
    together = together > 0 ? std::min(together, streams) : streams;
  }
  if (together <= 0) return std::nullopt;
  return static_cast<std::size_t>(together / rate + rounding);
}

}  // namespace

std::size_t streams_carried(const paths::Plan& plan, const LinkTask& task, double rate) {
  const std::size_t most = std::min(task.streams_most, task.sources.size() * task.targets.size());
  std::map<std::string, std::size_t> used;
  std::size_t streams = 0;
  for (const HostPair& pair : pairs_of(task, most)) {
    for (const paths::Hop& hop : paths::way_between(plan, pair.from, pair.to))
      for (const paths::HopLink* const link : {&hop.outgoing, &hop.across, &hop.receiving})
        if (const auto carried = streams_on(*link, rate); carried && ++used[link->name] > *carried)
          return std::max<std::size_t>(1, streams);
    ++streams;
  }
  return streams;
}

Cost cost_of(const LinkTask& task, Nanos latency, double bits_per_second, std::size_t streams) {
  constexpr double looks = 2, batches = 5, stream_batches = 3;
  Cost cost;
  const auto time_of = [&](double bytes) {
    return bits_per_second > 0 ? Nanos(std::llround(bytes * 8e9 / bits_per_second)) : Nanos(0);
  };
  const auto add = [&](double times, double messages, double bytes, double slower, Nanos least) {
    const Nanos words = 2 * latency * std::llround(messages + 1);
    const Nanos sending(std::llround(static_cast<double>(time_of(bytes).count()) * slower));
    cost.time += std::max(least, words + sending) * std::llround(times);
    cost.bytes += times * bytes;
  };
  std::uint64_t size = smallest;
  const auto bytes = [&size] { return static_cast<double>(size); };
  while (size < largest && time_of(bytes()) < enough(latency)) {
    add(1, looks, looks * bytes(), 1, Nanos(0));
    size *= 2;
  }
  add(1, looks, looks * bytes(), 1, Nanos(0));
  const auto samples = static_cast<double>(
      tuning::samples_of_batch(3 * latency + time_of(3 * bytes()), batch_time, 1, samples_most));
  add(batches, 3 * samples, 3 * samples * bytes(), 1, BatchPace::apart);
  if (bits_per_second <= 0) return cost;
  size = size_of_stream(size, bits_per_second);
  const std::size_t most = std::min(task.streams_most, task.sources.size() * task.targets.size());
  const auto add_streams = [&](std::size_t tried) {
    const auto pairs = static_cast<double>(tried);
    // Assumes that several streams take no longer than one stream until they fill the link.
    add(stream_batches, 2, pairs * bytes(),
        std::max(1.0 / pairs, 1.0 / static_cast<double>(streams)), BatchPace::apart);
    return tried <= streams;
  };
  if (most > 1) add_streams(1);
  most_streams(most, add_streams);
  return cost;
}

}  // namespace commands
