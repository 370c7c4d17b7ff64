// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/forward_pass.cpp — moments in the order of their dependencies,
// and their times with changed delays.
#include "eventspace/analysis/attribution/forward_pass.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace eventspace {
/// Sorts moments so that each moment comes after all moments that must precede it.
class ForwardPass::Sorter {
 public:
  explicit Sorter(const Bindings& bindings)
      : bindings_(bindings), moments_(bindings.moments()), place_(moments_.count(), unplaced) {
    const Moments& moments = moments_;
    for (std::uint32_t index = 0; index < moments.count(); ++index)
      if (moments.at(index)) by_time_.push_back(index);
    std::sort(by_time_.begin(), by_time_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(moments.time_of(moments.at(a)), a) <
             std::pair(moments.time_of(moments.at(b)), b);
    });
  }

  /// Calls `visit` for each moment, in order. The arguments are the moment, its binding, and the
  /// places (indexes in this order) of the moments that must precede it.
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const std::uint32_t index : by_time_)
      if (place_[index] == unplaced) place_with_befores(index, visit);
  }

 private:
  static constexpr std::uint32_t unplaced = 0xffffffff, under_way = 0xfffffffe;
  struct Frame {
    std::uint32_t index = 0;
    Binding binding;
    std::vector<Moment> befores;
    std::size_t next = 0;
  };

  Frame frame_of(std::uint32_t index) {
    Frame frame;
    frame.index = index;
    place_[index] = under_way;
    frame.binding = bindings_.binding_of(moments_.at(index), &frame.befores);
    return frame;
  }

  /// Assigns the next place (index in the order) to the moment `first`. First assigns places to all
  /// moments without a place that must precede `first`. The recorded time of such a moment equals
  /// that of `first`, or is later on the clock of another host.
  template <typename Visit>
  void place_with_befores(std::uint32_t first, const Visit& visit) {
    std::deque<Frame> stack;  // a deque, because adding a frame must not move other frames
    stack.push_back(frame_of(first));
    while (!stack.empty()) {
      Frame& top = stack.back();
      bool is_waiting = false;
      while (top.next < top.befores.size() && !is_waiting) {
        const std::uint32_t before = moments_.index_of(top.befores[top.next++]);
        is_waiting = place_[before] == unplaced;
        if (is_waiting) stack.push_back(frame_of(before));
      }
      if (is_waiting) continue;
      std::vector<std::uint32_t> places;
      for (const Moment before : top.befores)
        if (const std::uint32_t place = place_[moments_.index_of(before)]; place < under_way)
          places.push_back(place);
      place_[top.index] = next_++;
      visit(moments_.at(top.index), top.binding, places);
      stack.pop_back();
    }
  }

  const Bindings& bindings_;
  const Moments& moments_;
  std::vector<std::uint32_t> by_time_;
  std::vector<std::uint32_t> place_;
  std::uint32_t next_ = 0;
};

ForwardPass::ForwardPass(const Bindings& bindings)
    : labels_(bindings.moments().labels().count()), times_of_label_(labels_, 0) {
  const Moments& moments = bindings.moments();
  std::vector<std::int64_t> times;
  FreeTimes free(labels_, std::numeric_limits<std::int64_t>::min());
  bool has_begun = false;
  Sorter sorter(bindings);
  sorter.for_each(
      [&](Moment moment, const Binding& binding, const std::vector<std::uint32_t>& befores) {
        const std::int64_t time = moments.time_of(moment);
        if (moment.kind == Moment::Kind::thread_begin) {
          begin_nanos_ = has_begun ? std::min(begin_nanos_, time) : time;
          has_begun = true;
        }
        Delay delay;
        delay.first_before = static_cast<std::uint32_t>(befores_.size());
        std::int64_t latest = 0;
        for (const std::uint32_t before : befores) {
          latest = delay.first_before == befores_.size() ? times[before]
                                                         : std::max(latest, times[before]);
          befores_.push_back(before);
        }
        delay.nanos = befores.empty() ? time : time - latest;
        delay.label = befores.empty() ? fixed : binding.label;
        // If the clocks of two hosts contradict each other, a delay may be shorter than the sum of
        // its parts.
        const std::int64_t whole = std::max<std::int64_t>(0, delay.nanos);
        if (!befores.empty() && binding.transmitted_nanos > 0 && whole > 0) {
          const std::int64_t recorded = std::min(binding.queued_nanos, whole);
          delay.transmission_nanos =
              static_cast<float>(std::min(binding.transmitted_nanos, whole - recorded));
          delay.part_nanos = static_cast<float>(recorded - queued(delay, latest, free));
          const std::int64_t waited = queued(delay, latest, free);
          delay.nanos -= waited;
          free[delay.label] = latest + waited + std::llround(delay.transmission_nanos);
        } else if (!befores.empty()) {
          delay.part_nanos = static_cast<float>(std::min(binding.noise_nanos, whole));
        }
        if (moment.kind == Moment::Kind::thread_end)
          ends_.push_back(static_cast<std::uint32_t>(delays_.size()));
        if (delay.label != fixed) ++times_of_label_[delay.label];
        delays_.push_back(delay);
        times.push_back(time);
      });
}

/// Returns how long a message waits behind earlier messages if it arrives at its link at
/// `from_nanos`. `free` contains the times at which links become free.
std::int64_t ForwardPass::queued(const Delay& delay, std::int64_t from_nanos,
                                 const FreeTimes& free) {
  const std::int64_t ready = std::max(free[delay.label], from_nanos);
  return std::max<std::int64_t>(0, ready - from_nanos + std::llround(delay.part_nanos));
}

/// Returns the length of a delay after a change. It does not include the time that a message waits
/// in a queue; queued() returns that time.
std::int64_t ForwardPass::changed(const Delay& delay, const LabelChange& change) {
  const double sent = delay.transmission_nanos;
  const double noise = sent > 0 ? 0 : delay.part_nanos;
  const double rest = static_cast<double>(delay.nanos) - noise - sent;
  double more = (change.factor - 1) * rest + (change.transmission_factor - 1) * sent +
                (change.noise_factor - 1) * noise;
  if (change.added_nanos != 0 && rest + noise >= change.least_nanos)
    more += std::max(-rest, change.added_nanos);
  constexpr double most = 9e18;
  std::int64_t nanos = delay.nanos;
  add_to(nanos, std::llround(std::clamp(more, -most, most)));
  // A changed delay is at least 0. If the recorded delay is negative, because clocks differ, the
  // changed delay is at least the recorded delay.
  return std::max<std::int64_t>(std::min<std::int64_t>(0, delay.nanos), nanos);
}

LabelChange ForwardPass::change_of(std::uint32_t label, const Changes& changes,
                                   std::uint32_t passed) const {
  LabelChange all;
  const double share = static_cast<double>(passed) / times_of_label_[label];
  for (const LabelChange& one : changes[label]) {
    if (share < one.from_share || share >= one.to_share) continue;
    all.factor *= one.factor;
    all.transmission_factor *= one.transmission_factor;
    all.noise_factor *= one.noise_factor;
    all.added_nanos += one.added_nanos;
    all.least_nanos = std::max(all.least_nanos, one.least_nanos);
  }
  return all;
}

std::vector<std::int64_t> ForwardPass::times_with(const Changes& changes) const {
  std::vector<std::int64_t> times(delays_.size());
  FreeTimes free(labels_, std::numeric_limits<std::int64_t>::min());
  std::vector<std::uint32_t> passed(labels_, 0);
  for (std::size_t place = 0; place < delays_.size(); ++place) {
    const Delay& delay = delays_[place];
    const std::size_t end = end_of_befores(place);
    if (delay.first_before == end) {
      times[place] = delay.nanos;
      continue;
    }
    std::int64_t time = times[befores_[delay.first_before]];
    for (std::size_t before = delay.first_before + 1; before < end; ++before)
      time = std::max(time, times[befores_[before]]);
    const bool is_changed = delay.label < changes.size() && !changes[delay.label].empty();
    LabelChange change;
    if (is_changed) change = change_of(delay.label, changes, passed[delay.label]++);
    if (delay.transmission_nanos > 0) {
      add_to(time, queued(delay, time, free));
      constexpr double most = 9e18;
      free[delay.label] = time;
      add_to(free[delay.label],
             std::llround(std::min(most, change.transmission_factor * delay.transmission_nanos)));
    }
    add_to(time, is_changed ? changed(delay, change) : delay.nanos);
    times[place] = time;
  }
  return times;
}

std::int64_t ForwardPass::run_of(const std::vector<std::int64_t>& times) const {
  std::int64_t last = begin_nanos_;
  for (const std::uint32_t end : ends_) last = std::max(last, times[end]);
  return last - begin_nanos_;
}

std::int64_t ForwardPass::run_nanos(const Changes& changes) const {
  return run_of(times_with(changes));
}

Prediction ForwardPass::predict(const Changes& changes) const {
  const std::vector<std::int64_t> times = times_with(changes);
  Prediction prediction;
  prediction.run_nanos = run_of(times);
  prediction.critical_nanos.resize(labels_);
  const auto last = std::max_element(ends_.begin(), ends_.end(),
                                     [&](auto a, auto b) { return times[a] < times[b]; });
  if (last == ends_.end()) return prediction;
  for (std::size_t place = *last; delays_[place].label != fixed;) {
    const auto befores = befores_.begin() + delays_[place].first_before;
    const std::uint32_t before = *std::max_element(
        befores, befores_.begin() + static_cast<std::ptrdiff_t>(end_of_befores(place)),
        [&](auto a, auto b) { return times[a] < times[b]; });
    add_to(prediction.critical_nanos[delays_[place].label], times[place] - times[before]);
    place = before;
  }
  return prediction;
}

double ForwardPass::typical_nanos(std::uint32_t label) const {
  double sum = 0;
  double squares = 0;
  for (const Delay& delay : delays_) {
    if (delay.label != label) continue;
    const double noise = delay.transmission_nanos > 0 ? 0 : delay.part_nanos;
    const double nanos = static_cast<double>(delay.nanos) - noise - delay.transmission_nanos;
    if (nanos <= 0) continue;
    sum += nanos;
    squares += nanos * nanos;
  }
  return sum == 0 ? 0 : squares / sum;
}

}  // namespace eventspace
