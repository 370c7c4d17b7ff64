// SPDX-License-Identifier: Apache-2.0
// paths/plan/print_plan.cpp — a plan as the low level of the config.
#include "paths/plan/print_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/units.hpp"

namespace paths {
namespace {

using base::Settings;

Settings word(std::string text) { return Settings::scalar(std::move(text)); }

/// A map that is being written.
class Map {
 public:
  Map& add(std::string key, Settings value) {
    entries_.emplace_back(word(std::move(key)), std::move(value));
    return *this;
  }
  Map& add(std::string key, std::string value) {
    return add(std::move(key), word(std::move(value)));
  }
  Settings done() { return Settings::map(std::move(entries_)); }

 private:
  std::vector<Settings::Entry> entries_;
};

Settings print_hosts(const Plan& plan) {
  Map hosts;
  for (const Plan::PlanHost& host : plan.hosts) {
    Map map;
    map.add("cluster", plan.clusters[host.cluster]);
    if (host.threads > 0) map.add("threads", std::to_string(host.threads));
    if (host.speed != 1.0) map.add("speed", fmt::format("{}", host.speed));
    map.add("address", host.address);
    if (!host.groups.empty()) map.add("groups", fmt::format("{}", fmt::join(host.groups, "/")));
    hosts.add(host.name, map.done());
  }
  return hosts.done();
}

Settings print_shared_spaces(const Plan& plan) {
  Map map;
  if (plan.shared_access != pastset::SharedAccess::own_processes)
    map.add(
        "access",
        std::string(pastset::shared_access_words.at(static_cast<std::size_t>(plan.shared_access))));
  if (plan.lock_patience != pastset::usual_lock_patience)
    map.add("lock_patience", base::format_time(plan.lock_patience));
  return map.done();
}

Settings print_sizes(const pastset::SharedSizes& sizes) {
  Map map;
  map.add("slots", std::to_string(sizes.slots));
  map.add("memory", base::format_bytes(sizes.arena_bytes));
  if (sizes.line != pastset::SharedSizes().line) map.add("line", std::to_string(sizes.line));
  return map.done();
}

Settings print_elements(const Plan& plan) {
  Map elements;
  for (const Plan::PlanElement& element : plan.elements) {
    Map map;
    map.add("host", plan.hosts[element.host].name);
    map.add("template", element.tuple_template.text());
    if (element.delta > 0) map.add("delta", std::to_string(element.delta));
    if (element.keep_newest > 0) map.add("keep_newest", std::to_string(element.keep_newest));
    if (element.shared) map.add("shared", print_sizes(*element.shared));
    elements.add(element.name, map.done());
  }
  return elements.done();
}

Settings print_wrappers(const Plan& plan) {
  Map wrappers;
  for (const Plan::PlanWrapper& wrapper : plan.wrappers) {
    if (wrapper.name.empty()) continue;
    Map map;
    map.add("kind", wrapper.kind);
    map.add("host", plan.hosts[wrapper.host].name);
    for (const auto& [key, value] : wrapper.settings.entries()) map.add(key.text(), value);
    wrappers.add(wrapper.name, map.done());
  }
  return wrappers.done();
}

/// Those of which something is known.
Settings print_graphs(const Plan& plan) {
  Map graphs;
  for (const Plan::PlanGraph& graph : plan.graphs) {
    if (graph.kind.empty()) continue;
    Map map;
    map.add("kind", graph.kind);
    if (graph.of != graph.name) map.add("of", graph.of);
    if (!graph.algorithm.empty()) map.add("algorithm", graph.algorithm);
    for (const auto& [key, value] : graph.settings.entries()) map.add(key.text(), value);
    if (!graph.condition.is_null()) map.add("condition", graph.condition);
    graphs.add(graph.name, map.done());
  }
  return graphs.done();
}

Settings print_stage(const Plan& plan, const WrapperKinds& kinds, StageId id) {
  const Plan::PlanStage& stage = plan.stages[id];
  const Plan::PlanWrapper& wrapper = plan.wrappers[stage.wrapper];
  if (wrapper.name.empty()) {
    const Settings settings = wrapper.settings.is_map() ? wrapper.settings : Settings::map({});
    return Map().add(wrapper.kind, settings).done();
  }
  const WrapperKind* kind = kinds.find(wrapper.kind);
  if (kind == nullptr || kind->roles.empty()) return word(wrapper.name);
  return Map().add(wrapper.name, kind->roles.at(stage.role)).done();
}

Settings print_path(const Plan& plan, const WrapperKinds& kinds, const Plan::PlanPath& path) {
  Map map;
  map.add("graph", path.graph);
  map.add("host", plan.hosts[path.host].name);
  const std::uint32_t last = path.first_thread + path.threads - 1;
  if (path.threads == 1) map.add("threads", std::to_string(path.first_thread));
  if (path.threads > 1) map.add("threads", fmt::format("{}-{}", path.first_thread, last));
  std::vector<Settings> through;
  for (StageId stage = path.stage; stage != no_stage; stage = plan.stages[stage].below)
    through.push_back(print_stage(plan, kinds, stage));
  return map.add("through", Settings::list(std::move(through))).done();
}

Settings print_lanes(const Plan& plan) {
  const std::uint64_t frame = plan.lanes.frame_bytes;
  Map map;
  map.add("inbox", base::format_bytes(plan.lanes.inbox_bytes));
  map.add("frame", frame == 0 ? "unlimited" : base::format_bytes(frame));
  if (plan.lanes.striping != 1) map.add("striping", std::to_string(plan.lanes.striping));
  return map.done();
}

/// Whole hosts by their names.
Settings print_groups(const Plan& plan) {
  Map groups;
  for (const Plan::PlanGroup& group : plan.groups) {
    std::vector<Settings> members;
    auto next = group.threads.begin();
    std::uint32_t first = 0;
    for (const Plan::PlanHost& host : plan.hosts) {
      const auto end = std::find_if(next, group.threads.end(), [&](std::uint32_t thread) {
        return thread >= first + host.threads;
      });
      if (next != end && end - next == host.threads)
        members.push_back(Settings::scalar(host.name));
      else
        for (; next != end; ++next)
          members.push_back(Settings::scalar(fmt::format("{}/{}", host.name, *next - first)));
      next = end;
      first += host.threads;
    }
    groups.add(group.name, Settings::list(std::move(members)));
  }
  return groups.done();
}

Settings print_ways(const Plan& plan) {
  Map ways;
  for (std::uint32_t from = 0; from < plan.clusters.size(); ++from) {
    const Ways::Cluster& cluster = plan.ways->clusters[from];
    Map map;
    map.add("exit", plan.hosts[cluster.exit].name);
    for (const auto& [key, value] : cluster.text()) map.add(key.text(), value);
    Map to;
    const auto& all = plan.ways->links;
    for (auto link = all.lower_bound({from, 0}); link != all.end() && link->first.first == from;
         ++link)
      to.add(plan.clusters[link->first.second],
             link->second.is_null() ? Settings::map({}) : link->second);
    if (const Settings links = to.done(); !links.entries().empty()) map.add("to", links);
    ways.add(plan.clusters[from], map.done());
  }
  return ways.done();
}

}  // namespace

std::string print_plan(const Plan& plan, const WrapperKinds& kinds) {
  Map all;
  all.add("network", Map()
                         .add("transport", std::string(plan.transport_word()))
                         .add("connection",
                              plan.connection == Plan::Connection::per_path ? "per_path" : "shared")
                         .add("security", plan.security_plain ? "plain" : "loopback")
                         .done());
  if (plan.deadline_written) all.add("deadline", base::format_time(plan.deadline));
  if (plan.stack_bytes != 0) all.add("stack", base::format_bytes(plan.stack_bytes));
  if (plan.waiting == runtime::Waiting::sleep) all.add("waiting", "sleep");
  if (!plan.shared_memory) all.add("shared_memory", "false");
  if (plan.requires_shared_memory) all.add("shared_memory", "true");
  if (const Settings spaces = print_shared_spaces(plan); !spaces.entries().empty())
    all.add("shared_spaces", spaces);
  if (plan.lanes.is_written) all.add("lanes", print_lanes(plan));
  all.add("hosts", print_hosts(plan));
  if (plan.lanes.is_written && plan.ways) all.add("ways", print_ways(plan));
  if (!plan.groups.empty()) all.add("groups", print_groups(plan));
  all.add("elements", print_elements(plan));
  all.add("wrappers", print_wrappers(plan));
  if (const Settings graphs = print_graphs(plan); !graphs.entries().empty())
    all.add("graphs", graphs);
  std::vector<Settings> paths;
  for (const Plan::PlanPath& path : plan.paths) paths.push_back(print_path(plan, kinds, path));
  all.add("paths", Settings::list(std::move(paths)));
  return base::print_settings(all.done());
}

}  // namespace paths
