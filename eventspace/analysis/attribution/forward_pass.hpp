// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/forward_pass.hpp — how long a run would have taken if something
// had taken another time.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/attribution/bindings.hpp"

namespace eventspace {

/// Change of all times with one label. The factors are at least 0.
struct LabelChange {
  double factor = 1;               ///< factor of the time itself, such as a latency
  double transmission_factor = 1;  ///< factor of a message's transmission
  double noise_factor = 1;         ///< factor of the noise in a computation
  /// Added to each time of at least `least_nanos`, without transmission. Shorter times are those of
  /// a fast network that carries an emulated link.
  double added_nanos = 0;
  double least_nanos = 0;
  /// Part of the times with the label that changes: from a share of their number to another one.
  double from_share = 0;
  double to_share = 1;
};

/// Changes by number of the label. Labels behind the end of the list are unchanged.
using Changes = std::vector<std::vector<LabelChange>>;

/// Predicted time of a run.
struct Prediction {
  std::int64_t run_nanos = 0;
  /// What the run would wait for, step by step, back to its begin: times by number of the label.
  std::vector<std::int64_t> critical_nanos;
};

/// Predicts the time of the run with changed delays.
///
/// The delay of a moment is the time since the latest moment that it waited for. A moment happens
/// when all moments before it have happened, plus its delay. Messages over a link with a bandwidth
/// are sent one after the other, in the order in which they arrived in the run. Which tuple a read
/// returned and which values decided a condition are as recorded. So the prediction is exact where
/// no decision depends on time.
///
/// Requires: the hosts of the run have a common clock.
/// Memory: about 40 bytes for each record of an operation.
/// Source: Scalasca's replay of delays (Böhme et al. 2012) and LLAMP (Shen et al. 2024).
class ForwardPass {
 public:
  explicit ForwardPass(const Bindings& bindings);

  /// Returns the time of the run. Without changes, it is the recorded time.
  std::int64_t run_nanos(const Changes& changes) const;
  Prediction predict(const Changes& changes) const;
  /// Returns the typical time of delays with this label, without transmission. Each delay counts
  /// by its length. So short delays do not matter, such as those of a fast network that carries an
  /// emulated link.
  double typical_nanos(std::uint32_t label) const;

 private:
  class Sorter;
  struct Delay {
    // Without the queue of a message. If there is no moment before: the recorded time.
    std::int64_t nanos = 0;
    std::uint32_t label = 0;
    std::uint32_t first_before = 0;
    float transmission_nanos = 0;
    // Noise of a computation. For a message: its recorded queue, less the queue that follows from
    // the messages before it.
    float part_nanos = 0;
  };
  using FreeTimes = std::vector<std::int64_t>;        // when a link is free, by number of the label
  static constexpr std::uint32_t fixed = 0xffffffff;  // label of moments without one before them
  static std::int64_t queued(const Delay& delay, std::int64_t from_nanos, const FreeTimes& free);
  static std::int64_t changed(const Delay& delay, const LabelChange& change);
  /// Returns all changes that concern a time of a label, in one. passed: number of times with this
  /// label before it.
  LabelChange change_of(std::uint32_t label, const Changes& changes, std::uint32_t passed) const;
  std::vector<std::int64_t> times_with(const Changes& changes) const;
  std::size_t end_of_befores(std::size_t place) const {
    return place + 1 < delays_.size() ? delays_[place + 1].first_before : befores_.size();
  }
  std::int64_t run_of(const std::vector<std::int64_t>& times) const;

  std::vector<Delay> delays_;           // each after those of all moments before its moment
  std::vector<std::uint32_t> befores_;  // places of the moments before each, in `delays_`
  std::vector<std::uint32_t> ends_;     // places of the ends of threads
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> times_of_label_;  // number of times with each label
  std::int64_t begin_nanos_ = 0;
};

}  // namespace eventspace
