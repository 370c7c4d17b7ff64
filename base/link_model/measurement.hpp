// SPDX-License-Identifier: Apache-2.0
// base/link_model/measurement.hpp — a figure from times that were taken, how sure it is, and when
// it is enough.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace tuning {

/// What the machine did while a batch of samples was taken.
struct Interference {
  base::Nanos wall{0};
  base::Nanos cpu{0};                      ///< of this process; counts where it never waits
  std::uint64_t steal_ticks = 0;           ///< that other machines had of ours
  std::uint64_t involuntary_switches = 0;  ///< of our threads
  bool never_waits = false;                ///< the test is one process that only computes
  /// Whether the batch says more of the machine than of what is measured: time was stolen, our
  /// threads were sent away more than once in 20 ms, or less than 0.9 of the time was ours.
  bool disturbs() const;
};

/// How far a measurement goes.
struct StopRule {
  std::size_t batches_least = 5;
  std::size_t batches_most = 12;               ///< those that were rejected count
  base::Nanos time_most = base::Nanos::max();  ///< of all samples together
  double agreement = 0.03;                     ///< part of the figure by which it may be off
  double usable = 0.25;                        ///< beyond which it is no figure at all
};

/// A figure from times of one thing or of several: each of them is the lowest of the medians of its
/// batches, and the figure is their sum, each by its weight. One time has the weight 1; what more
/// bytes take has -1 for the few and 1 for the many, by which goes what both have in common.
///
/// Why:     machines are slow for a tenth of a second to two seconds at a time. A mean is off by
///          hundreds of percent, the median of any number of samples in a row by a quarter; of
///          medians of batches that lie apart the lowest is off by 2 %. A single minimum leaves
///          out what every message pays.
/// Time:    has none; who feeds it has a clock, and keeps batches apart (by 100 ms, say).
/// Sharing: its owner's business.
class Measurement {
 public:
  explicit Measurement(std::vector<double> weights, StopRule rule = {});

  /// A batch: some samples, at least one, of each of the things.
  void add(const std::vector<std::vector<base::Nanos>>& batch);
  /// One that was disturbed.
  void reject() { ++rejected_; }

  enum class State { more, agreed, over };
  /// agreed: the two lowest medians of each thing are so near that the figure is off by no more
  /// than the rule says. over: they are not, and that is all the time there is.
  State state() const;
  /// What was found, in ns; 0 before the first batch.
  double figure() const;
  /// How far the second lowest medians are from the lowest, as part of the figure; infinite with
  /// less than two batches, and where the figure is not above 0 but they differ.
  double spread() const;
  /// Agreed, or over and still good for something. Else there is nothing to tell but that the
  /// machine was busy.
  bool is_usable() const;

  std::size_t batches() const { return batches_; }
  std::size_t rejected() const { return rejected_; }

 private:
  struct Lowest {
    double weight = 1;
    base::Nanos first = base::Nanos::max();
    base::Nanos second = base::Nanos::max();
  };

  StopRule rule_;
  std::vector<Lowest> things_;
  std::size_t batches_ = 0, rejected_ = 0;
  base::Nanos time_{0};
};

/// How many samples a batch has when one takes so long: as many as fill `batch`, from `least` to
/// `most`.
std::size_t samples_of_batch(base::Nanos sample, base::Nanos batch, std::size_t least,
                             std::size_t most);

}  // namespace tuning
