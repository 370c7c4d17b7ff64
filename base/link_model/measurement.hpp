// SPDX-License-Identifier: Apache-2.0
// base/link_model/measurement.hpp — a figure from timing samples, its spread, and a stop rule
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace tuning {

/// Activity of the machine during a batch of samples.
struct Interference {
  base::Nanos wall{0};
  std::uint64_t steal_ticks = 0;           ///< CPU ticks that other virtual machines took from ours
  std::uint64_t involuntary_switches = 0;  ///< involuntary context switches of our threads
  /// Whether the machine disturbed the batch: CPU time was stolen, or our threads were preempted
  /// more than once per 20 ms on average.
  bool disturbs() const;
};

/// Limits and accuracy of a measurement.
struct StopRule {
  std::size_t batches_least = 5;
  std::size_t batches_most = 12;  ///< maximum number of batches, including rejected ones
  double agreement = 0.03;        ///< largest spread() at which state() can be `agreed`
};

/// A figure computed from the times of one or several actions, such as sends of few and of many
/// bytes. The time of an action is the lowest of the medians of its batches. The figure is the
/// weighted sum of these times. A single action has the weight 1. For the cost of additional bytes,
/// the weights are -1 (few bytes) and 1 (many bytes), so the time that both actions share cancels.
///
/// Why: machines are slow for 0.1 to 2 seconds at a time. A mean is off by hundreds of percent, and
///   the median of any number of consecutive samples by a quarter. The lowest median of batches
///   that lie apart is off by 2 %. A single minimum omits costs that every message pays.
/// Units: the caller measures all times. The caller pauses between batches, for example for 100 ms.
/// Thread-safe: no.
class Measurement {
 public:
  explicit Measurement(std::vector<double> weights, StopRule rule = {});

  /// Adds a batch of samples. The batch has one list for each action, in the order of the weights.
  /// Each list has the times of that action, at least one.
  void add(const std::vector<std::vector<base::Nanos>>& batch);
  void reject() { ++rejected_; }

  enum class State { more, agreed, over };
  /// Returns `agreed` if there are enough batches and spread() is at most the rule's `agreement`.
  /// Otherwise returns `over` if the maximum number of batches is reached, and `more` if further
  /// batches are needed.
  State state() const;
  /// Returns the weighted sum of the lowest medians in ns (the figure); 0 before the first batch.
  double figure() const;
  /// Returns the weighted sum of the distances between the lowest and the second lowest medians,
  /// relative to figure(). The result is infinite if there are fewer than two batches. It is also
  /// infinite if figure() is not above 0 and the medians differ.
  double spread() const;
  /// Whether there are enough batches and the spread is at most 0.25. With a larger spread,
  /// figure() shows only that the machine was busy.
  bool is_usable() const;

 private:
  struct Lowest {
    double weight = 1;
    base::Nanos first = base::Nanos::max();
    base::Nanos second = base::Nanos::max();
  };

  StopRule rule_;
  std::vector<Lowest> things_;
  std::size_t batches_ = 0, rejected_ = 0;
};

/// Returns how many samples of duration `sample` fit into the duration `batch`, clamped to `least`
/// .. `most`.
std::size_t samples_of_batch(base::Nanos sample, base::Nanos batch, std::size_t least,
                             std::size_t most);

}  // namespace tuning
