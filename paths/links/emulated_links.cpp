// SPDX-License-Identifier: Apache-2.0
// paths/links/emulated_links.cpp — lookup of emulated links, and cost of routes between hosts
#include "paths/links/emulated_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/link_model/read_link_model.hpp"
#include "base/usage_error.hpp"
#include "paths/plan/plan.hpp"

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

tuning::Link link_of(const HopLink& link) {
  base::Mistakes mistakes;
  std::optional<base::Nanos> latency_back;
  if (link.back.find("latency") != nullptr)
    latency_back = base::read_time(*link.back.find("latency"), mistakes, "latency");
  base::MapReader reader(link.settings, mistakes, link.name);
  tuning::Link read = tuning::read_link(reader, latency_back);
  reader.finish();
  mistakes.throw_if_any();
  return read;
}

namespace {

/// Returns the highest rate that one pair of hosts gets on a link, in bits per second; 0 =
/// unlimited.
double pair_rate(const tuning::Link& link, double bits_per_second, std::uint32_t striping) {
  if (!link.has_streams()) return bits_per_second;
  const double streams =
      link.streams == 0 ? striping : std::min<double>(striping, static_cast<double>(link.streams));
  const double together = link.stream_rate * streams;
  return bits_per_second == 0 ? together : std::min(together, bits_per_second);
}

}  // namespace

WayCost cost_of(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  constexpr double seldom = 0.05;
  WayCost cost;
  for (const Hop& hop : way_between(plan, from, to))
    for (const HopLink* const passed : {&hop.outgoing, &hop.across, &hop.receiving}) {
      if (!passed->is_there()) continue;
      const tuning::Link link = link_of(*passed);
      const tuning::LinkSample worst = link.model.worst_but(seldom);
      cost.latency += worst.latency;
      const double rate = pair_rate(link, worst.bits_per_second, plan.lanes.striping);
      if (rate > 0 && (cost.bits_per_second == 0 || rate < cost.bits_per_second))
        cost.bits_per_second = rate;
    }
  return cost;
}

}  // namespace paths
