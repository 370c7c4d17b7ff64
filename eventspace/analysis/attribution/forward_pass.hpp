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
};

/// Changes by number of the label. Labels behind the end of the list are unchanged.
using Changes = std::vector<LabelChange>;

/// Predicts the time of the run with changed delays.
///
/// The delay of a moment is the time since the latest moment that it waited for. A moment happens
/// when all moments before it have happened, plus its delay. Which tuple a read returned, which
/// values decided a condition, and how long a message queued are as recorded. So the prediction is
/// exact where no decision depends on time.
///
/// Requires: the hosts of the run have a common clock.
/// Memory: about 40 bytes for each record of an operation.
/// Source: Scalasca's replay of delays (Böhme et al. 2012) and LLAMP (Shen et al. 2024).
class ForwardPass {
 public:
  explicit ForwardPass(const Bindings& bindings);

  /// Returns the time of the run. Without changes, it is the recorded time.
  std::int64_t run_nanos(const Changes& changes) const;
  /// Returns the typical time of delays with this label, without transmission. Each delay counts
  /// by its length. So short delays do not matter, such as those of a fast network that carries an
  /// emulated link.
  double typical_nanos(std::uint32_t label) const;

 private:
  class Sorter;
  struct Delay {
    std::int64_t nanos = 0;  // if there is no moment before: the recorded time
    std::uint32_t label = 0;
    std::uint32_t first_before = 0;
    float transmission_nanos = 0;
    float part_nanos = 0;  // queue of a message, or noise of a computation
  };
  static constexpr std::uint32_t fixed = 0xffffffff;  // label of moments without one before them
  static std::int64_t changed(const Delay& delay, const Changes& changes);

  std::vector<Delay> delays_;           // each after those of all moments before its moment
  std::vector<std::uint32_t> befores_;  // places of the moments before each, in `delays_`
  std::vector<std::uint32_t> ends_;     // places of the ends of threads
  std::int64_t begin_nanos_ = 0;
};

}  // namespace eventspace
