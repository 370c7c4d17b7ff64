// SPDX-License-Identifier: Apache-2.0
// commands/host_measurement.cpp — trains of messages, and the costs that explain their times.
#include "commands/host_measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/errors.hpp"
#include "base/link_model/measured_network.hpp"
#include "base/link_model/measurement.hpp"
#include "base/reduce.hpp"
#include "commands/batch_pace.hpp"
#include "groups/execution/execution.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

using base::Nanos;
using State = tuning::Measurement::State;
using namespace std::chrono_literals;

constexpr std::uint64_t largest_frame = 64 << 10;

/// Returns the sizes of messages to measure, up to the size of a frame: 1 byte, then sizes from 64
/// bytes in steps of at most a factor of 4. Two of these sizes are the largest size that needs no
/// grant, and the size that is one byte larger.
std::vector<std::uint64_t> sizes_up_to(std::uint64_t frame_bytes) {
  std::vector<std::uint64_t> sizes = {
      1, 64, 256, 1024, 2048, groups::little_bytes, groups::little_bytes + 1, 8192, 16384, 32768};
  const std::uint64_t last =
      frame_bytes == 0 ? largest_frame : std::min(frame_bytes, largest_frame);
  std::erase_if(sizes, [last](std::uint64_t size) { return size >= last; });
  sizes.push_back(last);
  ENSURE(sizes.size() <= FrameFigures::points_most);
  return sizes;
}

/// Returns the number of messages in a train. This number is so large that the train takes much
/// longer than a single message.
std::size_t length_of_train(std::uint64_t size) {
  return size <= groups::little_bytes ? 192 : size <= 16384 ? 48 : 24;
}

/// Returns the number of samples in a batch. One sample suffices on the virtual clock, because its
/// times are exact.
std::size_t samples_of_batch(bool is_virtual) { return is_virtual ? 1 : 5; }

/// Measured times for messages of one size, in ns. `departed`, `one_way` and `returned` are the
/// times that a further message adds to a train.
struct Times {
  double alone = 0;     ///< a single message and the report of its arrival
  double departed = 0;  ///< added time until the last message has left this host
  double one_way = 0;   ///< added time until the report of the train has arrived
  double returned = 0;  ///< added time on the other host, which sends each message back
};

/// Samples of one batch for messages of one size: single messages and trains.
struct Batch {
  std::vector<std::vector<Nanos>> alone;
  /// Each list has two entries: the samples of single messages, and the samples of trains.
  std::vector<std::vector<Nanos>> departed, one_way, returned;
};

/// Computes the times of messages of one size from batches of samples.
class TimesMeasurement {
 public:
  TimesMeasurement(double further_messages, tuning::StopRule rule)
      : alone_({1}, rule),
        departed_({-1 / further_messages, 1 / further_messages}, rule),
        one_way_({-1 / further_messages, 1 / further_messages}, rule),
        returned_({-1 / further_messages, 1 / further_messages}, rule) {}

  void add(const Batch& batch) {
    alone_.add(batch.alone);
    departed_.add(batch.departed);
    one_way_.add(batch.one_way);
    returned_.add(batch.returned);
  }
  void reject() {
    for (tuning::Measurement* const one : {&alone_, &departed_, &one_way_, &returned_})
      one->reject();
  }
  bool needs_more() const {
    return one_way_.state() == State::more || returned_.state() == State::more;
  }
  bool is_usable() const { return one_way_.is_usable() && returned_.is_usable(); }
  double spread() const { return std::max(one_way_.spread(), returned_.spread()); }
  Times times() const {
    return {alone_.figure(), departed_.figure(), one_way_.figure(), returned_.figure()};
  }

 private:
  tuning::Measurement alone_, departed_, one_way_, returned_;
};

/// Measures messages of one size.
class SizeMeasurement {
 public:
  SizeMeasurement(std::uint64_t size, tuning::StopRule rule)
      : size_(size),
        undisturbed_(static_cast<double>(length_of_train(size) - 1), rule),
        all_(undisturbed_) {}

  void take_batch(Bursts& bursts, std::uint32_t target, std::size_t samples) {
    batch_ = {};
    for (const std::size_t count : {std::size_t{1}, length_of_train(size_)}) {
      const std::vector<TrainTime> there = bursts.exchange(target, size_, count, false, samples);
      batch_.departed.push_back(times_of(there, &TrainTime::departed));
      batch_.one_way.push_back(times_of(there, &TrainTime::done));
      batch_.returned.push_back(
          times_of(bursts.exchange(target, size_, count, true, samples), &TrainTime::at_target));
    }
    batch_.alone = {batch_.one_way.front()};
  }
  void add_batch(bool is_disturbed) {
    all_.add(batch_);
    is_disturbed ? undisturbed_.reject() : undisturbed_.add(batch_);
  }
  bool needs_more() const { return undisturbed_.needs_more(); }
  /// Returns the times of the undisturbed batches. If there are too few undisturbed batches,
  /// returns the times of all batches.
  const TimesMeasurement& found() const { return undisturbed_.is_usable() ? undisturbed_ : all_; }
  std::uint64_t size() const { return size_; }

 private:
  static std::vector<Nanos> times_of(const std::vector<TrainTime>& trains,
                                     Nanos TrainTime::*which) {
    std::vector<Nanos> times;
    for (const TrainTime& train : trains) times.push_back(train.*which);
    return times;
  }

  std::uint64_t size_;
  Batch batch_;
  TimesMeasurement undisturbed_, all_;
};

/// Finds the costs that explain the measured times.
class CostFinder {
 public:
  CostFinder(std::vector<std::uint64_t> sizes, std::vector<Times> times)
      : sizes_(std::move(sizes)), times_(std::move(times)) {
    // Ignores the time that the link needs for one byte.
    latency_ = times_[0].alone / 2 - times_[0].returned;
    find_link_time();
  }

  FrameFigures find() const {
    FrameFigures found;
    double send = 0, receive = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const double costs = std::max(costs_of(i), send + receive);
      // Ensures that a larger frame never costs less than a smaller one, at either host.
      const double most = std::max(send, costs - receive);
      send = std::clamp(costs * share_of_sender(i, costs, send, receive), send, most);
      receive = costs - send;
      found.points[found.count++] = {sizes_[i], Nanos(std::llround(send)),
                                     Nanos(std::llround(receive))};
    }
    found.are_hosts_slower = !is_link_slower(sizes_.size() - 1);
    return found;
  }

 private:
  /// Two times count as equal if their ratio is below this factor.
  static constexpr double nearly = 1.15;

  /// Computes the link's time per byte from the largest messages. This is possible only if the link
  /// is slower than the hosts for these messages. The link is slower if a host can send these
  /// messages back as fast as they arrive. It is also slower if the time of a single message
  /// exceeds the hosts' costs by at least the link's time.
  void find_link_time() {
    const std::size_t last = sizes_.size() - 1;
    if (last == 0) return;
    const Times& times = times_[last];
    if (times.returned >= nearly * times.one_way &&
        beyond_latency(last) - times.returned < times.one_way / nearly)
      return;
    nanos_per_byte_ = std::max(0.0, times.one_way / static_cast<double>(sizes_[last]));
  }
  double link_time(std::size_t i) const { return nanos_per_byte_ * static_cast<double>(sizes_[i]); }
  bool is_link_slower(std::size_t i) const {
    return link_time(i) > 0 && nearly * link_time(i) >= times_[i].one_way;
  }
  /// Returns the time of a single message in one direction, minus the latency.
  double beyond_latency(std::size_t i) const {
    return times_[i].alone - times_[0].alone / 2 - latency_;
  }

  /// Returns the time that both hosts together spend on a frame. If the link's time for the bytes
  /// is small, this is the time that a returned message adds to a train. Otherwise that time may
  /// contain the link's time, so the costs are computed from a single message.
  double costs_of(std::size_t i) const {
    constexpr double little = 0.15;
    const Times& times = times_[i];
    if (i == 0 && is_link_slower(i)) return 0;
    if (i == 0 || link_time(i) <= little * times.one_way)
      return std::max(times.returned, times.one_way);
    return std::max(0.0, beyond_latency(i) - link_time(i));
  }

  /// Returns the sending host's fraction of the costs of a frame. If the hosts are slower than the
  /// link, the time that a further message adds is the larger of the two hosts' costs. This time
  /// can be less than half of the sum of both costs, because a real host has several threads. In
  /// that case, each host gets half of the costs.
  double share_of_sender(std::size_t i, double costs, double send, double receive) const {
    if (is_link_slower(i) || costs <= 0) return send + receive > 0 ? send / (send + receive) : 0.5;
    const double larger = std::clamp(times_[i].one_way / costs, 0.5, 1.0);
    return times_[i].departed * nearly < times_[i].one_way ? 1 - larger : larger;
  }

  const std::vector<std::uint64_t> sizes_;
  const std::vector<Times> times_;
  double latency_ = 0;
  double nanos_per_byte_ = 0;  // the link's time per byte; 0 = the hosts are slower
};

/// Measures the costs of frames. Each batch has samples of all sizes. There are pauses between
/// batches.
class FrameMeasurement {
 public:
  FrameMeasurement(Bursts& bursts, std::uint32_t target, std::uint64_t frame_bytes)
      : bursts_(bursts),
        target_(target),
        pace_(bursts.thread()),
        samples_(samples_of_batch(!pace_.can_be_disturbed())) {
    tuning::StopRule rule;
    if (samples_ > 1) rule.batches_most *= 2;  // disturbed batches are rejected
    for (const std::uint64_t size : sizes_up_to(frame_bytes)) sizes_.emplace_back(size, rule);
  }

  FrameFigures measure() {
    for (SizeMeasurement& one : sizes_) one.take_batch(bursts_, target_, 1);  // warm-up, not used
    const auto needs_more = [](const SizeMeasurement& one) { return one.needs_more(); };
    while (std::any_of(sizes_.begin(), sizes_.end(), needs_more)) {
      const bool is_disturbed = pace_.run([this] {
        for (SizeMeasurement& one : sizes_) one.take_batch(bursts_, target_, samples_);
      });
      for (SizeMeasurement& one : sizes_) one.add_batch(is_disturbed);
    }
    return figures();
  }

 private:
  /// Returns the costs, computed from all sizes with usable times. Returns unusable figures if
  /// these sizes do not suffice.
  FrameFigures figures() const {
    std::vector<std::uint64_t> sizes, wanted;
    std::vector<Times> times;
    std::vector<double> spreads;
    for (const SizeMeasurement& one : sizes_) {
      wanted.push_back(one.size());
      if (!one.found().is_usable()) continue;
      sizes.push_back(one.size());
      times.push_back(one.found().times());
      spreads.push_back(one.found().spread());
    }
    if (!suffice_for_costs(sizes, wanted)) return {};
    FrameFigures figures = CostFinder(std::move(sizes), std::move(times)).find();
    std::sort(spreads.begin(), spreads.end());
    figures.spread = spreads[spreads.size() / 2];
    figures.is_usable = true;
    return figures;
  }

  Bursts& bursts_;
  const std::uint32_t target_;
  BatchPace pace_;
  const std::size_t samples_;
  std::vector<SizeMeasurement> sizes_;
};

/// Returns a measurement of the time to fold or copy one byte.
tuning::Measurement work_measurement() {
  tuning::StopRule rule;
  rule.batches_most *= 2;  // disturbed batches are rejected
  return tuning::Measurement({1.0 / WorkMeasurement::block_bytes}, rule);
}

}  // namespace

tuning::FrameCosts FrameFigures::costs() const {
  constexpr double exact_enough = 0.01;
  const auto time = [](Nanos value) {
    return Nanos(std::llround(tuning::rounded(static_cast<double>(value.count()))));
  };
  std::vector<tuning::CostTable::Point> send, receive;
  for (std::size_t i = 0; i < count; ++i) {
    send.push_back({points[i].bytes, time(points[i].send)});
    receive.push_back({points[i].bytes, time(points[i].receive)});
  }
  return {.send = tuning::CostTable(std::move(send)).simplified(exact_enough),
          .receive = tuning::CostTable(std::move(receive)).simplified(exact_enough),
          .send_spread = tuning::rounded(spread),
          .receive_spread = tuning::rounded(spread)};
}

bool suffice_for_costs(const std::vector<std::uint64_t>& measured,
                       const std::vector<std::uint64_t>& wanted) {
  if (measured.size() < std::max<std::size_t>(1, wanted.size() / 2)) return false;
  if (measured.front() != wanted.front()) return false;
  return measured.back() == wanted.back() || measured.back() > groups::little_bytes + 1;
}

FrameFigures measure_frames(Bursts& bursts, std::uint32_t target, std::uint64_t frame_bytes) {
  return FrameMeasurement(bursts, target, frame_bytes).measure();
}

bool WorkMeasurement::Work::needs_more() const {
  return fold.state() == State::more || copy.state() == State::more;
}

WorkMeasurement::WorkMeasurement()
    : undisturbed_{work_measurement(), work_measurement()}, all_(undisturbed_) {}

void WorkMeasurement::add(const std::vector<Nanos>& folds, const std::vector<Nanos>& copies,
                          bool is_disturbed) {
  all_.fold.add({folds});
  all_.copy.add({copies});
  if (is_disturbed) {
    undisturbed_.fold.reject();
    undisturbed_.copy.reject();
  } else {
    undisturbed_.fold.add({folds});
    undisturbed_.copy.add({copies});
  }
}

WorkFigures WorkMeasurement::figures() const {
  const Work& found = undisturbed_.is_usable() ? undisturbed_ : all_;
  return {found.fold.figure(), found.fold.spread(), found.copy.figure(), found.copy.spread(),
          found.is_usable()};
}

WorkFigures measure_work(paths::Thread& thread) {
  constexpr std::size_t count = WorkMeasurement::block_bytes / sizeof(double);
  constexpr std::size_t samples = 50;
  std::vector<double> left(count, 1.0), right(count, 2.0);
  const base::CombineElements sum =
      base::reduce_operation("sum")->elements(base::Scalar::f64, base::Values::checked);
  const auto times_of = [&](auto work) {
    std::vector<Nanos> times;
    for (std::size_t i = 0; i < samples; ++i) {
      const Nanos begin = thread.now();
      work();
      times.push_back(thread.now() - begin);
    }
    return times;
  };
  const auto into = std::as_writable_bytes(std::span(left));
  const auto from = std::as_bytes(std::span(right));
  WorkMeasurement measurement;
  BatchPace pace(thread);
  while (measurement.needs_more()) {
    std::vector<Nanos> folds, copies;
    const bool is_disturbed = pace.run([&] {
      folds = times_of([&] { sum(into, into, from); });
      copies = times_of([&] { std::memcpy(into.data(), from.data(), from.size()); });
    });
    measurement.add(folds, copies, is_disturbed);
  }
  return measurement.figures();
}

Nanos expected_time_of_work() { return BatchPace::apart * tuning::StopRule().batches_least; }

Cost cost_of_frames(Nanos latency, double bits_per_second, std::uint64_t frame_bytes,
                    bool is_virtual) {
  const auto samples = static_cast<double>(samples_of_batch(is_virtual));
  constexpr double batches = 5, trains = 4;  // two of the four trains are single messages
  constexpr Nanos of_train = 300us;          // time of the hosts for a train
  Cost cost;
  for (const std::uint64_t size : sizes_up_to(frame_bytes)) {
    const auto messages = static_cast<double>(3 * (1 + length_of_train(size)));
    const double bytes = messages * static_cast<double>(size);
    const double sending = bits_per_second > 0 ? bytes * 8e9 / bits_per_second : 0;
    cost.bytes += batches * samples * bytes;
    cost.time += Nanos(
        std::llround(batches * samples *
                     (sending + trains * static_cast<double>((4 * latency + of_train).count()))));
  }
  cost.time = std::max(cost.time, BatchPace::apart * static_cast<int>(batches));
  return cost;
}

}  // namespace commands
