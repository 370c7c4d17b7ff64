// SPDX-License-Identifier: Apache-2.0
// paths/run/tracing.cpp — writer of the trace records of a process's hosts.
#include "paths/run/tracing.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "paths/plan/print_plan.hpp"
#include "paths/run/structure_of.hpp"

namespace paths {

namespace {

/// Writes the files of a trace that are the same for all hosts.
void describe(const std::filesystem::path& directory, const Plan& plan, const WrapperKinds& kinds) {
  eventspace::write_config(directory, print_plan(plan, kinds));
  eventspace::write_structure(directory, structure_of(plan, kinds));
}

}  // namespace

Tracing::Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
                 std::uint64_t seed, TraceOptions options)
    : runtime_(runtime), kinds_(kinds), options_(std::move(options)), seed_(seed) {
  describe(options_.directory, plan, kinds_);
}

Tracing::~Tracing() { stop_watching(); }

void Tracing::stop_watching() {
  for (Host* host : hosts_) host->watch_deployments(nullptr);
}

void Tracing::add(Host& host) {
  trace(options_.directory, host, fmt::format("host {}", host.name()),
        std::clamp<std::size_t>(virtual_records / host.plan().hosts.size(), 256, 1 << 14));
  hosts_.push_back(&host);
  host.watch_deployments(this);
}

void Tracing::trace(const std::filesystem::path& directory, HostView& view, std::string name,
                    std::size_t virtual_lane_records) {
  reserve(view.recorder(), virtual_lane_records);
  auto writer =
      std::make_unique<eventspace::TraceWriter>(directory, header_of(view), view.recorder());
  const runtime::Lock lock(mutex_);
  traced_.push_back({&view, std::move(name), std::move(writer)});
}

void Tracing::reserve(eventspace::Recorder& recorder, std::size_t virtual_lane_records) const {
  recorder.reserve(virtual_lane_records, eventspace::WhenFull::flush);
}

void Tracing::made(Deployment& deployment) {
  // Capacity in records of a lane of the deployment's recorder. The capacity is small, because
  // there may be many deployments.
  constexpr std::size_t lane_records_of_deployment = 1 << 10;
  const auto directory = std::filesystem::path(options_.directory) /
                         eventspace::further_traces_folder_name /
                         fmt::format("{}.{}", deployment.label(), deployment.number());
  try {
    describe(directory, deployment.plan(), kinds_);
    trace(directory, deployment,
          fmt::format("host {} in deployment '{}'", deployment.name(), deployment.label()),
          lane_records_of_deployment);
  } catch (const std::runtime_error& error) {
    spdlog::warn("{}; deployment '{}' of host {} is not traced", error.what(), deployment.label(),
                 deployment.name());
  }
}

void Tracing::ended(Deployment& deployment) noexcept {
  std::list<Traced> found;
  {
    const runtime::Lock lock(mutex_);
    for (auto one = traced_.begin(); one != traced_.end(); ++one)
      if (one->view == &deployment) {
        found.splice(found.begin(), traced_, one);
        break;
      }
  }
  finish(found);
}

eventspace::TraceHeader Tracing::header_of(const HostView& view) const {
  eventspace::TraceHeader header;
  header.host = view.name();
  header.host_number = view.index();
  header.plan = view.plan().digest.text();
  header.clock = clock_name();
  header.origin_utc_nanos = runtime_.utc_at_zero().count();
  header.seed = seed_;
  header.command = options_.command;
  header.started = runtime::utc_text();
  return header;
}

void Tracing::flush_all() {
  const runtime::Lock lock(mutex_);
  for (Traced& one : traced_) {
    try {
      one.writer->flush();
    } catch (const std::runtime_error& error) {
      one.failure = error.what();
      // Reports the failure now, not at the end, because the run may be long or may be killed.
      spdlog::warn("{}; nothing more of {} is traced", one.failure, one.name);
    }
  }
}

void Tracing::note_clock_watch(const HostView& view, std::shared_ptr<runtime::Task> watch) {
  const runtime::Lock lock(mutex_);
  for (Traced& one : traced_)
    if (one.view == &view) one.clocks = watch;
}

std::vector<std::string> Tracing::finish() {
  std::list<Traced> all;
  {
    const runtime::Lock lock(mutex_);
    all.swap(traced_);
  }
  finish(all);
  return lacks_;
}

void Tracing::finish(std::list<Traced>& ended) {
  for (Traced& one : ended) {
    if (one.clocks) {
      one.clocks->cancel();
      one.clocks->join();
    }
    try {
      one.writer->finish();
    } catch (const std::runtime_error& error) {
      one.failure = error.what();
    }
    const runtime::Lock lock(mutex_);
    options_.outcome->written += one.writer->written();
    options_.outcome->lacking += one.writer->lost() + one.view->recorder().dropped();
    std::string lack = lack_of(one);
    if (!lack.empty()) lacks_.push_back(std::move(lack));
  }
}

std::string Tracing::lack_of(const Traced& one) {
  const std::uint64_t dropped = one.view->recorder().dropped();
  if (one.failure.empty() && dropped == 0) return {};
  std::string text = fmt::format("the trace of {} lacks", one.name);
  if (dropped > 0)
    text += fmt::format(" {} records that were made faster than they could be written", dropped);
  if (!one.failure.empty())
    text += fmt::format("{} {} records that could not be written ({})", dropped > 0 ? " and" : "",
                        one.writer->lost(), one.failure);
  return text;
}

}  // namespace paths
