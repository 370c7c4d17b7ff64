// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_model.hpp — how long one direction of a link holds a message.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace tuning {

/// Latency and bandwidth in force from `from` on, counted from the start of the trace.
struct LinkSample {
  base::Nanos from{0};
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< 0: unlimited
  friend bool operator==(const LinkSample&, const LinkSample&) = default;
};

/// One direction of a link, as the wide-area emulation of Bongo et al. 2004, §V-D, has it:
/// constants (one sample) or a recorded trace, which begins again when it ends.
class LinkModel {
 public:
  LinkModel() = default;
  LinkModel(base::Nanos latency, double bits_per_second);
  /// Samples in order of `from`, the first at 0; `period` is the length of the whole trace.
  LinkModel(std::vector<LinkSample> samples, base::Nanos period);

  const LinkSample& at(base::Nanos now) const;

  struct Passage {
    base::Nanos free_again;  ///< when the link can take the next message
    base::Nanos arrives;
  };
  /// A message of `bytes` offered at `now` to a link that is busy until `busy_until`: it waits for
  /// the link, occupies it for bytes / bandwidth, and arrives a latency later.
  Passage pass(base::Nanos now, base::Nanos busy_until, std::uint64_t bytes) const;

  /// The worst latency and the worst bandwidth but for those in force for at most that share of
  /// the time: what to plan with. `from` means nothing in it.
  LinkSample worst_but(double share) const;
  friend bool operator==(const LinkModel&, const LinkModel&) = default;

 private:
  base::Nanos lasts(std::size_t sample) const;

  std::vector<LinkSample> samples_ = {LinkSample{}};
  base::Nanos period_{0};
};

}  // namespace tuning
