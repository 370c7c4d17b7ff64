// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/predictor.hpp — predictions of a run with changes of links, hosts
// and threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/attribution/forward_pass.hpp"

namespace eventspace {

/// A change of all delays that have any of the labels `labels`.
struct Change {
  std::vector<std::uint32_t> labels;
  LabelChange change;
};

/// Predicts a run with changes of links, hosts and threads.
///
/// Requires: the hosts of the run have a common clock. `bindings` outlives the object.
/// Memory: as much as a ForwardPass.
class Predictor {
 public:
  explicit Predictor(const Bindings& bindings);

  std::int64_t run_nanos(const std::vector<Change>& changes) const {
    return pass_.run_nanos(by_label(changes));
  }
  Prediction predict(const std::vector<Change>& changes) const {
    return pass_.predict(by_label(changes));
  }
  /// Returns the recorded time of the run.
  std::int64_t recorded_nanos() const { return recorded_nanos_; }

  /// Returns the numbers of the labels for which `is` returns true.
  template <typename Is>
  std::vector<std::uint32_t> labels_that(const Is& is) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 0; number < labels().count(); ++number)
      if (is(labels().at(number))) found.push_back(number);
    return found;
  }
  /// Returns the latency of a label of a link or network. It is the declared latency, or the
  /// typical latency if none is declared. Returns 0 if the label has no latency.
  double latency_nanos_of(std::uint32_t label) const;
  /// Returns changes that set the latency of each of the labels `numbers`. The new latency is
  /// `latency_of(latency)`, in nanoseconds. Labels without a latency are left out.
  template <typename LatencyOf>
  std::vector<Change> with_latencies(const std::vector<std::uint32_t>& numbers,
                                     const LatencyOf& latency_of) const {
    std::vector<Change> changes;
    for (const std::uint32_t number : numbers) {
      const double latency = latency_nanos_of(number);
      if (latency <= 0) continue;
      const double becomes = latency_of(latency);
      changes.push_back(
          {{number},
           {.added_nanos = std::max(0.0, becomes) - latency, .least_nanos = latency / 2}});
    }
    return changes;
  }

  const Moments& moments() const { return moments_; }
  const Structure& structure() const { return moments_.structure(); }
  const Labels& labels() const { return moments_.labels(); }

 private:
  Changes by_label(const std::vector<Change>& changes) const;

  const Moments& moments_;
  ForwardPass pass_;
  std::int64_t recorded_nanos_ = 0;
  std::vector<double> latencies_;  // result of latency_nanos_of() for each label
};

}  // namespace eventspace
