// SPDX-License-Identifier: Apache-2.0
// paths/run/live_tracing.cpp — thread that writes the records, and readings of other hosts' clocks.
#include "paths/run/live_tracing.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace paths {

void LiveTracing::start() {
  // Uses a separate thread, because a flush in a service context would delay the operations of
  // other hosts.
  flushing_ = runtime_.spawn(runtime::ContextRole::thread, {"trace of", "this process", 0}, [this] {
    while (true) {
      runtime_.sleep_for(flush_every);
      flush_all();
    }
  });
  for (Host* host : hosts()) watch_clocks_of(host->deployment());
}

void LiveTracing::wired(Deployment& deployment) {
  if (deployment.recorder().is_on()) note_clock_watch(deployment, watch_clocks_of(deployment));
}

void LiveTracing::reserve(eventspace::Recorder& recorder,
                          std::size_t /*virtual_lane_records*/) const {
  recorder.reserve(lane_records, eventspace::WhenFull::drop);
}

std::vector<std::string> LiveTracing::finish() {
  if (flushing_) {
    flushing_.cancel();
    flushing_.join();
  }
  return Tracing::finish();
}

/// Starts a task that reads and records the clocks of peers until the deployment ends.
std::shared_ptr<runtime::Task> LiveTracing::watch_clocks_of(Deployment& deployment) {
  const auto watch = std::make_shared<runtime::Task>(
      runtime_.spawn(runtime::ContextRole::service, {"clocks of", deployment.name(), 0},
                     [this, &deployment] { watch_clocks(deployment); }));
  deployment.before_end([watch] {
    watch->cancel();
    watch->join();
  });
  return watch;
}

void LiveTracing::watch_clocks(Deployment& deployment) {
  std::vector<std::uint32_t> peers = deployment.remote_calls().peers();
  while (!peers.empty()) {
    std::erase_if(peers, [&](std::uint32_t peer) {
      try {
        look_at_clock(deployment, peer);
        return false;
      } catch (const TravelError& error) {  // the peer has ended, or its clock cannot be read
        spdlog::debug("{}; its clock is no longer read", error.what());
        return true;
      }
    });
    runtime_.sleep_for(clocks_every);
  }
}

void LiveTracing::look_at_clock(Deployment& deployment, std::uint32_t peer) {
  RemoteCalls::ClockReading best = deployment.remote_calls().read_clock(peer);
  for (int look = 1; look < clock_looks; ++look) {
    const RemoteCalls::ClockReading reading = deployment.remote_calls().read_clock(peer);
    if (reading.answered - reading.asked < best.answered - best.asked) best = reading;
  }
  eventspace::EventRecord record;
  record.place = peer;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::clock);
  record.sequence = static_cast<std::uint64_t>(best.shown.count());
  record.down_nanos = best.asked.count();
  record.up_nanos = best.answered.count();
  deployment.recorder().add(record);
}

std::unique_ptr<Tracing> make_tracing(runtime::Runtime& runtime, const Plan& plan,
                                      const WrapperKinds& kinds, std::uint64_t seed,
                                      TraceOptions options) {
  if (runtime.is_virtual())
    return std::make_unique<Tracing>(runtime, plan, kinds, seed, std::move(options));
  return std::make_unique<LiveTracing>(runtime, plan, kinds, seed, std::move(options));
}

}  // namespace paths
