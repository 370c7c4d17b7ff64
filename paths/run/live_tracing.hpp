// SPDX-License-Identifier: Apache-2.0
// paths/run/live_tracing.hpp — traces that are written while the run goes on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "paths/run/tracing.hpp"

namespace paths {

/// Traces on the steady clock.
///
/// Context: a separate thread writes the records every `flush_every`, so that recording never waits
///          for a file. A recorder that adds more than `lane_records` records between two writes
///          loses the excess, and the loss is counted. Service contexts read the clocks of other
///          hosts.
class LiveTracing final : public Tracing {
 public:
  static constexpr base::Nanos flush_every = std::chrono::milliseconds(50);
  /// Hosts read the clocks of their peers in series of `clock_looks` readings, with the pause
  /// `clocks_every` between two series. Only the fastest reading of a series is recorded.
  static constexpr int clock_looks = 16;
  static constexpr base::Nanos clocks_every = std::chrono::seconds(1);
  static constexpr std::size_t lane_records = 1 << 16;

  using Tracing::Tracing;
  ~LiveTracing() override { stop_watching(); }
  void start() override;
  std::vector<std::string> finish() override;

 private:
  void wired(Deployment& deployment) override;
  void reserve(eventspace::Recorder& recorder, std::size_t virtual_lane_records) const override;
  std::string clock_name() const override { return "steady"; }
  std::shared_ptr<runtime::Task> watch_clocks_of(Deployment& deployment);
  void watch_clocks(Deployment& deployment);
  void look_at_clock(Deployment& deployment, std::uint32_t peer);

  runtime::Task flushing_;
};

/// Makes a Tracing if `runtime` has the virtual clock, otherwise a LiveTracing.
std::unique_ptr<Tracing> make_tracing(runtime::Runtime& runtime, const Plan& plan,
                                      const WrapperKinds& kinds, std::uint64_t seed,
                                      TraceOptions options);

}  // namespace paths
