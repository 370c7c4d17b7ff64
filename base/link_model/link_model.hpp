// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_model.hpp — latency and bandwidth of one direction of a link over time
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace tuning {

/// Latency and bandwidth of a link from the time `from` on. `from` counts from the start of the
/// trace.
struct LinkSample {
  base::Nanos from{0};
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< 0 = unlimited
  friend bool operator==(const LinkSample&, const LinkSample&) = default;
};

/// Predicts when a message arrives over one direction of a link. The latency and bandwidth of the
/// link either are constant (a trace of one sample), or follow a recorded trace that repeats.
///
/// Paper: Bongo et al. 2004, §V-D (wide-area emulation).
class LinkModel {
 public:
  LinkModel() = default;
  LinkModel(base::Nanos latency, double bits_per_second);
  /// `period` is the length of the trace in time; 0 = the trace does not repeat.
  /// Requires: samples are ordered by `from`, and the first is at 0.
  LinkModel(std::vector<LinkSample> samples, base::Nanos period);

  const LinkSample& at(base::Nanos now) const;
  /// Returns a copy whose latencies and bandwidths are multiplied by these factors.
  /// Requires: both factors are positive.
  LinkModel scaled(double latency_factor, double bandwidth_factor) const;

  struct Passage {
    base::Nanos free_again;  ///< time from which the link can take the next message
    base::Nanos arrives;
  };
  /// Sends `bytes` at `now` over a link that is occupied until `busy_until`. The message waits for
  /// the link, occupies it for bytes / bandwidth, and arrives one latency later.
  Passage pass(base::Nanos now, base::Nanos busy_until, std::uint64_t bytes) const;

  /// Returns a pessimistic latency and a pessimistic bandwidth of the trace, for planning. Each of
  /// the two is the worst value that remains after the still worse values are excluded. The
  /// excluded values apply for at most the fraction `share` of the trace in total. `from` of the
  /// result has no meaning.
  LinkSample worst_but(double share) const;
  friend bool operator==(const LinkModel&, const LinkModel&) = default;

 private:
  base::Nanos lasts(std::size_t sample) const;

  std::vector<LinkSample> samples_ = {LinkSample{}};
  base::Nanos period_{0};
};

}  // namespace tuning
