// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/simulated_cores.cpp — begin and end of work on shared cores.
#include "paths/messages/channels/simulated_cores.hpp"

#include <optional>
#include <utility>

#include "base/link_model/host_costs.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/plan/machines.hpp"

namespace paths {
std::unique_ptr<SimulatedCores> SimulatedCores::make(runtime::Runtime& runtime, const Plan& plan) {
  const tuning::HostCosts* const costs = simulated_costs(plan, runtime);
  if (costs == nullptr || costs->cores == 0) return nullptr;
  return std::make_unique<SimulatedCores>(runtime, plan);
}

SimulatedCores::SimulatedCores(runtime::Runtime& runtime, const Plan& plan)
    : runtime_(runtime),
      cores_(machines_of(plan), plan.costs->cores),
      service_(runtime.spawn(runtime::ContextRole::service, {"service of shared cores"},
                             [this] { serve(); })) {}

void SimulatedCores::begin(std::uint32_t host, base::Nanos time, End end) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  cores_.begin(host, runtime_.now(), time, std::move(end));
  if (cores_.next_end() < sleeps_until_) earlier_.wake_all(wakes);
}

void SimulatedCores::leave(std::uint32_t host) {
  const runtime::Lock lock(mutex_);
  cores_.cancel(host, runtime_.now());
}

void SimulatedCores::serve() {
  runtime::Lock lock(mutex_);
  while (true) {
    while (const std::optional<End> end = cores_.take_ended(runtime_.now())) {
      lock.unlock();
      (*end)();
      lock.lock();
    }
    sleeps_until_ = cores_.next_end();
    const auto until = sleeps_until_ == base::Nanos::max()
                           ? runtime::Deadline::never()
                           : runtime::Deadline::written_at(sleeps_until_);
    earlier_.wait(lock, until, {"work on them"});
  }
}

}  // namespace paths
