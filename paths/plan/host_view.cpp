// SPDX-License-Identifier: Apache-2.0
// paths/plan/host_view.cpp — deadlines and failures of operations on a host.
#include "paths/plan/host_view.hpp"

#include <algorithm>
#include <chrono>

namespace paths {

/// If the config has no deadline, the default of one minute applies. For this default an
/// approximate reading of the clock is exact enough.
runtime::Deadline deadline_of(const Plan& plan, const runtime::Runtime& runtime) {
  if (plan.deadline_written) return runtime::Deadline::written_at(runtime.now() + plan.deadline);
  return runtime::Deadline::default_at(runtime.roughly_now() + plan.deadline);
}

const tuning::HostCosts* simulated_costs(const Plan& plan, const runtime::Runtime& runtime) {
  return runtime.is_virtual() ? plan.costs.get() : nullptr;
}

runtime::Deadline HostView::deadline() const { return deadline_of(*plan_, runtime_); }

base::Nanos HostView::operation_end(base::Nanos time_left) const {
  if (time_left == base::Nanos(0)) return base::Nanos(0);
  return runtime_.roughly_now() + std::clamp(time_left, -plan_->deadline, plan_->deadline);
}

base::Nanos HostView::round_end(base::Nanos until, std::uint32_t wrapper) const {
  if (until == base::Nanos::max()) return until;
  return until + time_per_host() * std::min(plan_->wrappers[wrapper].hosts_above, hosts_max);
}

base::Nanos HostView::time_per_host() const {
  constexpr base::Nanos longest = std::chrono::milliseconds(125);
  return std::min(longest, plan_->deadline);
}

Failure HostView::failure(const std::string& wrapper, std::uint32_t path, const std::string& reason,
                          FailureCause cause) const {
  return std::make_shared<TravelError>(name(), plan_->paths[path].graph, wrapper, reason, cause);
}

}  // namespace paths
