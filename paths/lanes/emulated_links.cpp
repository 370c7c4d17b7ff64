// SPDX-License-Identifier: Apache-2.0
// paths/lanes/emulated_links.cpp — links found or made.
#include "paths/lanes/emulated_links.hpp"

#include <fmt/format.h>

#include "base/usage_error.hpp"
#include "paths/plan/plan.hpp"
#include "tuning/read_link_model.hpp"

namespace paths {

std::shared_ptr<EmulatedLink> EmulatedLinks::named(std::string_view name,
                                                   const tuning::LinkModel& model) {
  if (name.empty()) return std::make_shared<EmulatedLink>(model);
  runtime::Lock lock(mutex_);
  auto& link = links_[std::string(name)];
  if (link == nullptr) link = std::make_shared<EmulatedLink>(model);
  if (link->instance.model() != model)
    throw base::UsageError(fmt::format(
        "link {}: this host has one of that name with another latency or bandwidth", name));
  return link;
}

tuning::LinkModel model_of(const Hop& hop) {
  base::Mistakes mistakes;
  base::MapReader reader(hop.settings, mistakes, hop.link);
  tuning::LinkModel model = tuning::read_link_model(reader);
  reader.finish();
  mistakes.throw_if_any();
  return model;
}

WayCost cost_of(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  constexpr double seldom = 0.05;
  WayCost cost;
  for (const Hop& hop : way_between(plan, from, to)) {
    if (hop.settings.is_null()) continue;
    const tuning::LinkSample link = model_of(hop).worst_but(seldom);
    cost.latency += link.latency;
    const bool is_slowest =
        cost.bits_per_second == 0 || link.bits_per_second < cost.bits_per_second;
    if (link.bits_per_second > 0 && is_slowest) cost.bits_per_second = link.bits_per_second;
  }
  return cost;
}

}  // namespace paths
