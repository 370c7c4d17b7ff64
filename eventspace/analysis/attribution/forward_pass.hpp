// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/forward_pass.hpp — prediction of a run's time if some of its
// delays had been longer or shorter.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/attribution/bindings.hpp"

namespace eventspace {

/// Change of the delays with one label. A delay is the time between a moment of the run and the
/// latest moment that had to precede that moment. The factors are at least 0.
struct LabelChange {
  double factor = 1;               ///< factor of the delay except its transmission and noise
  double transmission_factor = 1;  ///< factor of the time to transmit a message
  double noise_factor = 1;         ///< factor of the noise in a computation
  /// Nanoseconds to add to each delay. Delays shorter than `least_nanos` (without transmission)
  /// remain unchanged, because they belong to a fast network that carries an emulated link.
  double added_nanos = 0;
  double least_nanos = 0;
  /// Part of the delays with the label that changes. In the order of the delays, it is the part
  /// from the fraction `from_share` of their number to the fraction `to_share`.
  double from_share = 0;
  double to_share = 1;
};

/// Changes, indexed by the number of the label. Labels whose numbers are beyond the end of the list
/// are unchanged.
using Changes = std::vector<std::vector<LabelChange>>;

/// Prediction of a run after changes.
struct Prediction {
  std::int64_t run_nanos = 0;
  /// Total time of each label on the critical path of the predicted run, indexed by number of the
  /// label.
  std::vector<std::int64_t> critical_nanos;
};

/// Predicts the time of the run with changed delays.
///
/// The delay of a moment (event of the run) is the recorded time since the latest moment that had
/// to precede it. The predicted time of a moment is its delay, changed or not, after the latest
/// predicted time of the moments that must precede it. Messages over a link with a bandwidth are
/// sent one after another, in the recorded order. A prediction assumes that each read returns the
/// recorded tuple, and that the recorded values decide each condition. The prediction is therefore
/// exact if neither depends on time.
///
/// Requires: the hosts of the run have a common clock.
/// Memory: about 40 bytes for each record of an operation.
/// Source: replay of delays in Scalasca (Böhme et al. 2012), and LLAMP (Shen et al. 2024).
class ForwardPass {
 public:
  explicit ForwardPass(const Bindings& bindings);

  /// Returns the predicted time of the run. If `changes` is empty, returns the recorded time.
  std::int64_t run_nanos(const Changes& changes) const;
  Prediction predict(const Changes& changes) const;
  /// Returns the typical length of delays with this label, without noise and transmission. It is
  /// the mean of the lengths, weighted by the lengths. Short delays, such as those of a fast
  /// network that carries an emulated link, therefore hardly matter.
  double typical_nanos(std::uint32_t label) const;

 private:
  class Sorter;
  struct Delay {
    // Recorded delay without a message's wait in a queue. If no moment precedes the moment, `nanos`
    // is the recorded time of the moment itself.
    std::int64_t nanos = 0;
    std::uint32_t label = 0;
    std::uint32_t first_before = 0;
    float transmission_nanos = 0;
    // For a computation: its noise. For a message: its recorded wait in the queue, minus the wait
    // for earlier messages that the prediction computes itself.
    float part_nanos = 0;
  };
  // Time from which each link is free, indexed by label.
  using FreeTimes = std::vector<std::int64_t>;
  // Label of moments that no other moment precedes.
  static constexpr std::uint32_t fixed = 0xffffffff;
  static std::int64_t queued(const Delay& delay, std::int64_t from_nanos, const FreeTimes& free);
  static std::int64_t changed(const Delay& delay, const LabelChange& change);
  /// Returns a change that combines all of `changes` that concern a certain delay. It is the delay
  /// with the label `label` that comes after `passed` earlier delays with this label.
  LabelChange change_of(std::uint32_t label, const Changes& changes, std::uint32_t passed) const;
  std::vector<std::int64_t> times_with(const Changes& changes) const;
  std::size_t end_of_befores(std::size_t place) const {
    return place + 1 < delays_.size() ? delays_[place + 1].first_before : befores_.size();
  }
  std::int64_t run_of(const std::vector<std::int64_t>& times) const;

  // Delay of each moment. The delays are sorted so that each moment comes after the moments that
  // must precede it.
  std::vector<Delay> delays_;
  std::vector<std::uint32_t> befores_;  // indexes of the preceding moments of each moment
  std::vector<std::uint32_t> ends_;     // index in `delays_` of the end of each thread
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> times_of_label_;  // number of delays with each label
  std::int64_t begin_nanos_ = 0;
};

}  // namespace eventspace
