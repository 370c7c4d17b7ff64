// SPDX-License-Identifier: Apache-2.0
// paths/run/structure_of.cpp — structure of a plan, as traces store it.
#include "paths/run/structure_of.hpp"

#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace paths {
namespace {

using eventspace::Structure;

/// Index of the cluster whose values an element receives, keyed by (host, element). Contains only
/// elements that receive values of another cluster.
using Sources = std::map<std::pair<std::uint32_t, std::string>, std::uint32_t>;

const base::Settings* element_in(const Plan::PlanWrapper& wrapper, std::string_view key) {
  const base::Settings* element = wrapper.settings.find(key);
  return element != nullptr && element->is_scalar() ? element : nullptr;
}

/// Finds the elements that receive values of other clusters. A prefetch reads the element at the
/// end of its path and stores the values in a local element. A push stores values in the element at
/// the end of its path.
Sources sources_of(const Plan& plan, const WrapperKinds& kinds) {
  Sources sources;
  for (const Plan::PlanPath& path : plan.paths) {
    if (path.threads > 0) continue;
    const Plan::PlanWrapper& last = plan.wrappers[plan.stages[plan.end_of(path.stage)].wrapper];
    const Plan::PlanWrapper& begin = plan.wrappers[plan.stages[path.stage].wrapper];
    const WrapperKind& kind = kinds.at(begin.kind);
    if (const auto* into = element_in(begin, kind.fetches_into))
      sources[{path.host, into->text()}] = plan.hosts[last.host].cluster;
    else if (const auto* stored = element_in(last, "element"))
      sources[{last.host, stored->text()}] = plan.hosts[path.host].cluster;
  }
  return sources;
}

std::vector<std::uint32_t> combined_clusters(const Plan& plan, const Plan::PlanWrapper& wrapper,
                                             const Sources& sources, Job job) {
  std::vector<std::uint32_t> clusters;
  const base::Settings* combine = wrapper.settings.find("combine");
  if (job != Job::check || combine == nullptr) return clusters;
  for (const base::Settings& element : combine->items()) {
    const auto source = sources.find({wrapper.host, element.text()});
    clusters.push_back(source != sources.end() ? source->second : plan.hosts[wrapper.host].cluster);
  }
  return clusters;
}

std::string without_folder(base::Position position) {
  position.file = std::filesystem::path(position.file.text()).filename().string();
  return position.text();
}

Structure::Wrapper wrapper_of(const Plan& plan, const Plan::PlanWrapper& wrapper,
                              const Sources& sources, const WrapperKind& kind) {
  std::string settings = base::print_settings(wrapper.settings);
  while (!settings.empty() && settings.back() == '\n') settings.pop_back();
  return {wrapper.name,
          wrapper.kind,
          wrapper.host,
          wrapper.slots,
          std::move(settings),
          without_folder(wrapper.settings.position()),
          combined_clusters(plan, wrapper, sources, kind.job),
          kind.job,
          kind.answers_in_kind};
}

/// Returns the number of streams of a link; 0 if the link has no streams.
/// Requires: the settings were checked.
std::uint32_t streams_of(const base::Settings& link) {
  base::Mistakes none;
  const base::Settings* streams = link.find("streams");
  if (streams == nullptr) return 0;
  return static_cast<std::uint32_t>(
      base::read_integer(*streams, none, "streams", 1, 1 << 30).value_or(0));
}

}  // namespace

Structure structure_of(const Plan& plan, const WrapperKinds& kinds) {
  Structure structure;
  structure.clusters = plan.clusters;
  for (const auto& host : plan.hosts)
    structure.hosts.push_back({host.name, host.cluster, host.first_thread, host.threads});
  const Sources sources = sources_of(plan, kinds);
  for (const auto& wrapper : plan.wrappers)
    structure.wrappers.push_back(wrapper_of(plan, wrapper, sources, kinds.at(wrapper.kind)));
  for (const auto& stage : plan.stages)
    structure.stages.push_back({stage.wrapper, stage.below, stage.slot, stage.role});
  for (const auto& path : plan.paths)
    structure.paths.push_back(
        {path.graph, path.host, path.first_thread, path.threads, path.slot, path.stage});
  if (!plan.ways) return structure;
  for (const auto& [clusters, link] : plan.ways->links)
    if (link.find("stream_rate") != nullptr || link.find("window") != nullptr)
      structure.streams.push_back({clusters.first, clusters.second, streams_of(link)});
  return structure;
}

}  // namespace paths
