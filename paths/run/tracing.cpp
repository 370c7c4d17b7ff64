// SPDX-License-Identifier: Apache-2.0
// paths/run/tracing.cpp — has the hosts of a process write what they record into a trace directory.
#include "paths/run/tracing.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "paths/plan/print_plan.hpp"
#include "paths/plan/structure_of.hpp"

namespace paths {

Tracing::Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
                 std::uint64_t seed, TraceOptions options)
    : runtime_(runtime), options_(std::move(options)), seed_(seed) {
  eventspace::write_config(options_.directory, print_plan(plan, kinds));
  eventspace::write_structure(options_.directory, structure_of(plan, kinds));
}

void Tracing::add(Host& host) {
  const std::size_t hosts = host.plan().hosts.size();
  if (runtime_.is_virtual()) {
    host.recorder().reserve(std::clamp<std::size_t>(virtual_records / hosts, 256, 1 << 14),
                            eventspace::WhenFull::flush);
  } else {
    host.recorder().reserve(lane_records, eventspace::WhenFull::drop);
  }
  traced_.push_back({&host, std::make_unique<eventspace::TraceWriter>(
                                options_.directory, header_of(host), host.recorder())});
}

eventspace::TraceHeader Tracing::header_of(const Host& host) const {
  eventspace::TraceHeader header;
  header.host = host.name();
  header.host_number = host.index();
  header.plan = host.plan().digest.text();
  header.clock = runtime_.is_virtual() ? "virtual" : "steady";
  if (!runtime_.is_virtual()) header.origin_utc_nanos = runtime_.utc_at_zero().count();
  header.seed = seed_;
  header.command = options_.command;
  header.started = runtime_.utc_text();
  return header;
}

void Tracing::start() {
  if (runtime_.is_virtual()) return;
  // A thread: the services' one would keep those waiting whom it serves.
  flushing_ = runtime_.spawn(runtime::ContextRole::thread, {"trace of", "this process", 0}, [this] {
    while (true) {
      runtime_.sleep_for(flush_every);
      flush_all();
    }
  });
  for (const Traced& one : traced_) {
    auto watch = runtime_.spawn(runtime::ContextRole::service, {"clocks of", one.host->name(), 0},
                                [this, &host = *one.host] { watch_clocks(host); });
    one.host->wiring().before_end([watch]() mutable {
      watch.cancel();
      watch.join();
    });
  }
}

void Tracing::watch_clocks(Host& host) {
  std::vector<std::uint32_t> peers = host.wiring().peers_below();
  while (!peers.empty()) {
    std::erase_if(peers, [&](std::uint32_t peer) {
      try {
        look_at_clock(host, peer);
        return false;
      } catch (const TravelError&) {
        return true;  // it is gone; those who need it say so
      }
    });
    runtime_.sleep_for(clocks_every);
  }
}

void Tracing::look_at_clock(Host& host, std::uint32_t peer) {
  Wiring::ClockReading best = host.wiring().read_clock(peer);
  for (int look = 1; look < clock_looks; ++look) {
    const Wiring::ClockReading reading = host.wiring().read_clock(peer);
    if (reading.answered - reading.asked < best.answered - best.asked) best = reading;
  }
  eventspace::EventRecord record;
  record.place = peer;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::clock);
  record.sequence = static_cast<std::uint64_t>(best.shown.count());
  record.down_nanos = best.asked.count();
  record.up_nanos = best.answered.count();
  host.recorder().add(record);
}

void Tracing::flush_all() {
  for (Traced& one : traced_) {
    try {
      one.writer->flush();
    } catch (const std::runtime_error& error) {
      one.failure = error.what();
      // At once, too: the run may be long, or killed.
      spdlog::warn("{}; nothing more of host {} is traced", one.failure, one.host->name());
    }
  }
}

std::vector<std::string> Tracing::finish() {
  if (flushing_) {
    flushing_.cancel();
    flushing_.join();
  }
  std::vector<std::string> lacks;
  for (Traced& one : traced_) {
    try {
      one.writer->finish();
    } catch (const std::runtime_error& error) {
      one.failure = error.what();
    }
    options_.outcome->written += one.writer->written();
    options_.outcome->lacking += one.writer->lost() + one.host->recorder().dropped();
    std::string lack = lack_of(one);
    if (!lack.empty()) lacks.push_back(std::move(lack));
  }
  return lacks;
}

std::string Tracing::lack_of(const Traced& one) {
  const std::uint64_t dropped = one.host->recorder().dropped();
  if (one.failure.empty() && dropped == 0) return {};
  std::string text = fmt::format("the trace of host {} lacks", one.host->name());
  if (dropped > 0)
    text += fmt::format(" {} records that came faster than they could be written", dropped);
  if (!one.failure.empty())
    text += fmt::format("{} {} records that could not be written ({})", dropped > 0 ? " and" : "",
                        one.writer->lost(), one.failure);
  return text;
}

}  // namespace paths
