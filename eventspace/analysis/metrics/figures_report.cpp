// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/figures_report.cpp — report of the figures that are computed for each
// round.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "eventspace/analysis/metrics/figures.hpp"

namespace eventspace {

Place place_of(const Structure& structure, std::uint32_t wrapper) {
  const Structure::Wrapper& one = structure.wrappers[wrapper];
  const Structure::Host& host = structure.hosts[one.host];
  return {.wrapper = one.name.empty() ? one.kind : one.name,
          .kind = one.kind,
          .host = host.name,
          .cluster = structure.clusters[host.cluster],
          .position = one.position};
}

namespace {

Place place_of_hop(const Shape& shape, const Hop& hop) {
  Place place = place_of(shape.structure, hop.wrapper);
  place.stage = hop.stage;
  return place;
}

/// Returns the declared latency of a link in nanoseconds, or -1 if the link has none.
std::int64_t declared_latency(const Structure::Wrapper& link) {
  const auto time = base::parse_time(setting_of(link, "latency"));
  return time ? time->count() : -1;
}

/// Returns the nanoseconds that a link needs to transmit a byte, or 0 if its bandwidth is unlimited
/// or unknown.
double nanos_of_byte(const Structure::Wrapper& link) {
  const auto rate = base::parse_bits_per_second(setting_of(link, "bandwidth"));
  return rate && *rate > 0 ? 8e9 / static_cast<double>(*rate) : 0;
}

}  // namespace

/// Writes the figures into reports.
class Figures::Reporting {
 public:
  explicit Reporting(const Figures& all)
      : shape_(all.shape_),
        hops_(all.hops_),
        tree_of_hop_(all.tree_of_hop_),
        joins_(all.joins_),
        paths_(all.paths_),
        trees_(all.trees_),
        critical_leaves_(all.critical_leaves_),
        links_(all.links_) {}

  void report_joins(Report& report) const;
  void report_hops(Report& report) const;
  void report_links(Report& report) const;
  void report_paths(Report& report) const;
  void report_critical(Report& report, const std::vector<std::int64_t>& noise) const;

 private:
  JoinReport::Contributor report_contributor(std::uint32_t probe,
                                             const ContributorFigures& figures) const;
  std::map<std::uint32_t, std::vector<std::uint32_t>> hops_of_links() const;
  std::uint32_t busiest_of(const std::vector<std::uint32_t>& hops) const;
  CriticalReport report_tree(std::uint32_t number, const std::vector<std::int64_t>& noise) const;
  void report_series(const std::vector<std::uint32_t>& trees, const std::string& what,
                     Report& report) const;
  std::string cluster_of(std::uint32_t tree) const;
  std::string graph_of(std::uint32_t tree) const { return shape_.graphs[shape_.trees[tree].graph]; }

  const Shape& shape_;
  const std::vector<HopFigures>& hops_;
  const std::vector<std::uint32_t>& tree_of_hop_;
  const std::vector<JoinFigures>& joins_;
  const std::vector<PathFigures>& paths_;
  const std::vector<TreeFigures>& trees_;
  const std::vector<Total>& critical_leaves_;
  const std::unordered_map<std::uint32_t, LinkFigures>& links_;
};

void Figures::report(Report& report, const std::vector<std::int64_t>& noise) const {
  const Reporting reporting(*this);
  reporting.report_joins(report);
  reporting.report_hops(report);
  reporting.report_links(report);
  reporting.report_paths(report);
  reporting.report_critical(report, noise);
}

void Figures::Reporting::report_joins(Report& report) const {
  for (std::uint32_t number = 0; number < joins_.size(); ++number) {
    const Join& join = shape_.joins[number];
    const JoinFigures& figures = joins_[number];
    JoinReport one;
    one.place = place_of(shape_.structure, join.wrapper);
    one.graph = graph_of(join.tree);
    one.rounds = figures.rounds;
    one.through = figures.through.summary();
    one.below = figures.below.summary();
    one.departure_spread = figures.spread.summary();
    one.late_replies = figures.late_replies;
    one.late_reply_nanos = figures.late_reply_nanos;
    one.lateness_blocks = figures.lateness.rows();
    one.critical_late_replies = figures.critical_late_replies.rounds;
    one.critical_late_reply_nanos = figures.critical_late_replies.nanos;
    report.series.push_back({"departure spread",
                             fmt::format("{} on {}", one.place.wrapper, one.place.host),
                             figures.spreads.rows()});
    std::uint64_t most = 0;
    for (std::size_t place = 0; place < join.contributors.size(); ++place) {
      const ContributorFigures& from = figures.contributors[place];
      one.contributors.push_back(report_contributor(join.contributors[place], from));
      report.series.push_back({"wait",
                               fmt::format("{} in {} on {}", one.contributors.back().name,
                                           one.place.wrapper, one.place.host),
                               from.waits.rows()});
      if (from.latest_reply > most) one.latest_reply_to = one.contributors.back().name;
      most = std::max(most, from.latest_reply);
    }
    report.joins.push_back(std::move(one));
  }
}

JoinReport::Contributor Figures::Reporting::report_contributor(
    std::uint32_t number, const ContributorFigures& figures) const {
  JoinReport::Contributor contributor;
  const Probe& entering = shape_.probes[number];
  contributor.slot = shape_.structure.stages[entering.stage].slot + entering.slot;
  contributor.is_remote = entering.is_remote;
  contributor.last = figures.last;
  contributor.left_first = figures.left_first;
  contributor.left_last = figures.left_last;
  contributor.arrival_wait = figures.wait.summary();
  contributor.departure_delay = figures.departure.summary();
  std::uint32_t probe = number;
  while (shape_.probes[probe].above != none) probe = shape_.probes[probe].above;
  const Probe& top = shape_.probes[probe];
  if (top.join_above != none) {
    const Place place = place_of(shape_.structure, shape_.joins[top.join_above].wrapper);
    contributor.name = place.wrapper;
    contributor.host = place.host;
  } else {
    contributor.host = shape_.structure.hosts[shape_.structure.host_of(top.stage)].name;
    contributor.name = contributor.host;
    if (top.leaf != none && shape_.leaves[top.leaf].thread != none)
      contributor.name = shape_.structure.thread_name(shape_.leaves[top.leaf].thread);
  }
  return contributor;
}

void Figures::Reporting::report_hops(Report& report) const {
  for (std::uint32_t number = 0; number < hops_.size(); ++number) {
    const Hop& hop = shape_.hops[number];
    const HopFigures& figures = hops_[number];
    if (hop.kind == HopKind::join) continue;
    if (hop.kind == HopKind::crossing) {
      CrossingReport crossing;
      const Structure::Host& to = shape_.structure.hosts[hop.to_host];
      crossing.place = place_of_hop(shape_, hop);
      crossing.graph = graph_of(tree_of_hop_[number]);
      crossing.to_host = to.name;
      crossing.to_cluster = shape_.structure.clusters[to.cluster];
      crossing.is_wan = hop.is_wan;
      crossing.two_way = figures.both.summary();
      crossing.blocks = figures.travel.rows();
      crossing.one_way_half_mean = figures.both.mean() / 2;
      crossing.down_one_way = figures.down.summary();
      crossing.up_one_way = figures.up.summary();
      crossing.messages = figures.messages;
      crossing.payload_bytes = figures.payload_bytes;
      crossing.critical_rounds = figures.critical.rounds;
      report.crossings.push_back(std::move(crossing));
      continue;
    }
    if (hop.wrappers == 0) continue;
    StageReport stage;
    stage.place = place_of_hop(shape_, hop);
    stage.graph = graph_of(tree_of_hop_[number]);
    stage.down = figures.down.summary();
    stage.up = figures.up.summary();
    stage.within = figures.both.summary();
    stage.is_hold = hop.kind == HopKind::link && hop.is_hold;
    stage.critical_rounds = figures.critical.rounds;
    stage.critical_nanos = figures.critical.nanos;
    report.stages.push_back(std::move(stage));
  }
}

/// Returns for each link the hops (wrappers between two collectors) that contain it, keyed by the
/// link's wrapper. A link may be on many paths.
std::map<std::uint32_t, std::vector<std::uint32_t>> Figures::Reporting::hops_of_links() const {
  std::map<std::uint32_t, std::vector<std::uint32_t>> hops;
  for (std::uint32_t number = 0; number < hops_.size(); ++number) {
    const Hop& hop = shape_.hops[number];
    if (hop.kind == HopKind::link && !hop.is_hold) hops[hop.wrapper].push_back(number);
  }
  return hops;
}

std::uint32_t Figures::Reporting::busiest_of(const std::vector<std::uint32_t>& hops) const {
  return *std::max_element(hops.begin(), hops.end(), [&](std::uint32_t a, std::uint32_t b) {
    return hops_[a].down.count() < hops_[b].down.count();
  });
}

/// Reports the links. If a link has records of its own, its times are from these records. Otherwise
/// its times are from the collectors around the link. Times from the collectors are less exact,
/// because they include the wait for earlier messages.
void Figures::Reporting::report_links(Report& report) const {
  for (const auto& [wrapper, hops] : hops_of_links()) {
    const Hop& first = shape_.hops[hops.front()];
    const Structure::Host& from = shape_.structure.hosts[first.from_host];
    const Structure::Host& to = shape_.structure.hosts[first.to_host];
    LinkReport link;
    link.place = place_of_hop(shape_, first);
    link.from_host = from.name;
    link.to_host = to.name;
    link.from_cluster = shape_.structure.clusters[from.cluster];
    link.to_cluster = shape_.structure.clusters[to.cluster];
    link.is_wan = first.is_wan;
    link.declared_nanos = declared_latency(shape_.structure.wrappers[wrapper]);
    for (const std::uint32_t hop : hops) {
      link.critical_rounds += hops_[hop].critical.rounds;
      link.payload_bytes += hops_[hop].payload_bytes;
    }
    const HopFigures& busiest = hops_[busiest_of(hops)];
    const Blocks* travels = &busiest.travel;
    const Blocks* begins = &busiest.travel_begins;
    if (const auto recorded = links_.find(wrapper); recorded != links_.end()) {
      link.source = "link records";
      link.travel = recorded->second.travel.summary();
      link.queued = recorded->second.queued.summary();
      link.payload_bytes = recorded->second.payload_bytes;
      travels = &recorded->second.travels;
      begins = &recorded->second.travel_begins;
    } else {
      link.source = "collectors around it";
      link.travel = (first.role == 1 ? busiest.up : busiest.down).summary();
    }
    link.blocks = travels->rows();
    link.block_begins = begins->rows();
    if (link.source == "link records" && link.travel.count > 0)
      link.transmission_nanos = nanos_of_byte(shape_.structure.wrappers[wrapper]) *
                                static_cast<double>(link.payload_bytes) /
                                static_cast<double>(link.travel.count);
    report.series.push_back({"travel", link.place.wrapper, link.blocks});
    report.links.push_back(std::move(link));
  }
}

void Figures::Reporting::report_paths(Report& report) const {
  for (std::uint32_t number = 0; number < paths_.size(); ++number) {
    const Structure::Path& path = shape_.structure.paths[number];
    const PathFigures& figures = paths_[number];
    if (figures.total.count() == 0) continue;
    PathReport one;
    one.graph = path.graph;
    one.host = shape_.structure.hosts[path.host].name;
    one.cluster = shape_.structure.clusters[shape_.structure.hosts[path.host].cluster];
    one.first_thread = path.first_thread;
    one.threads = path.threads;
    std::uint32_t last = path.stage;
    while (shape_.structure.stages[last].below != no_stage)
      last = shape_.structure.stages[last].below;
    const std::uint32_t to = shape_.structure.hosts[shape_.structure.host_of(last)].cluster;
    one.to_cluster = shape_.structure.clusters[to];
    one.total = figures.total.summary();
    one.network_two_way = figures.network.summary();
    one.wan_two_way = figures.wan.summary();
    if (figures.total.sum() > 0)
      one.wan_share =
          static_cast<double>(figures.wan.sum()) / static_cast<double>(figures.total.sum());
    report.paths.push_back(std::move(one));
  }
}

void Figures::Reporting::report_critical(Report& report,
                                         const std::vector<std::int64_t>& noise) const {
  std::vector<std::vector<std::uint32_t>> trees_of_graph(shape_.graphs.size());
  for (std::uint32_t number = 0; number < trees_.size(); ++number) {
    const Tree& tree = shape_.trees[number];
    if (tree.has_joins()) trees_of_graph[tree.graph].push_back(number);
  }
  for (std::uint32_t number = 0; number < trees_.size(); ++number) {
    const Tree& tree = shape_.trees[number];
    if (!tree.has_joins()) continue;
    CriticalReport critical = report_tree(number, noise);
    if (trees_of_graph[tree.graph].size() > 1) {
      critical.cluster = cluster_of(number);
      report_series({number}, fmt::format("{} in {}", critical.graph, critical.cluster), report);
    }
    report.critical.push_back(std::move(critical));
  }
  for (std::uint32_t graph = 0; graph < trees_of_graph.size(); ++graph)
    if (!trees_of_graph[graph].empty())
      report_series(trees_of_graph[graph], shape_.graphs[graph], report);
}

std::string Figures::Reporting::cluster_of(std::uint32_t tree) const {
  const std::uint32_t stage = shape_.probes[shape_.trees[tree].probes.front()].stage;
  return shape_.structure.clusters[shape_.structure.hosts[shape_.structure.host_of(stage)].cluster];
}

/// Adds series of values that cover several trees. Rows of different trees are added up if they
/// cover the same rounds.
void Figures::Reporting::report_series(const std::vector<std::uint32_t>& trees,
                                       const std::string& what, Report& report) const {
  const auto add = [&](const std::string& figure, const auto& blocks_of) {
    std::vector<Blocks::Row> all;
    bool is_any = false;
    for (const std::uint32_t tree : trees) {
      const std::vector<Blocks::Row> rows = blocks_of(trees_[tree]).rows();
      all.resize(std::max(all.size(), rows.size()));
      for (std::size_t place = 0; place < rows.size(); ++place) {
        all[place].sum += rows[place].sum;
        all[place].count += rows[place].count;
        is_any = is_any || rows[place].sum != 0;
      }
    }
    if (is_any) report.series.push_back({figure, what, std::move(all)});
  };
  add("iteration", [](const TreeFigures& tree) -> const Blocks& { return tree.iterations; });
  for (std::size_t cause = 0; cause < causes; ++cause)
    add(fmt::format("critical {}", cause_name(static_cast<Cause>(cause))),
        [cause](const TreeFigures& tree) -> const Blocks& { return tree.causes_of_rounds[cause]; });
}

CriticalReport Figures::Reporting::report_tree(std::uint32_t number,
                                               const std::vector<std::int64_t>& noise) const {
  const Tree& tree = shape_.trees[number];
  const TreeFigures& figures = trees_[number];
  CriticalReport critical;
  critical.graph = shape_.graphs[tree.graph];
  critical.rounds = figures.complete;
  critical.iterations = figures.complete + figures.answered;
  critical.incomplete_rounds = figures.incomplete;
  critical.failed_rounds = figures.failed;
  critical.iteration = figures.iteration.summary();
  critical.computation = figures.computation.summary();
  critical.communication = figures.communication.summary();
  critical.by_cause = figures.by_cause;
  const auto add = [&](Cause cause, const Place& place, const Total& total) {
    if (total.rounds == 0 || total.nanos == 0) return;
    critical.parts.push_back(
        {cause, place.wrapper, place.host, place.position, total.nanos, total.rounds});
  };
  for (const std::uint32_t leaf : tree.leaves) {
    if (shape_.leaves[leaf].thread == none) continue;
    const std::uint32_t thread = shape_.leaves[leaf].thread;
    Place place;
    place.wrapper = shape_.structure.thread_name(thread);
    place.host = shape_.structure.hosts[shape_.structure.paths[shape_.leaves[leaf].path].host].name;
    const Total& computed = critical_leaves_[leaf];
    // The noise may be in the thread's first computation, which the sum of computations does not
    // include. The reported noise must not exceed this sum.
    const std::int64_t late = std::min(noise[leaf], computed.nanos);
    critical.by_cause[static_cast<std::size_t>(Cause::computation)] -= late;
    add_to(critical.by_cause[static_cast<std::size_t>(Cause::noise)], late);
    add(Cause::computation, place, {computed.nanos - late, computed.rounds});
    add(Cause::noise, place, {late, computed.rounds});
  }
  for (const std::uint32_t join : tree.joins)
    add(Cause::join, place_of(shape_.structure, shape_.joins[join].wrapper), joins_[join].critical);
  // In tree.probes, the Probes of a stage, and therefore of a hop, are next to each other.
  std::uint32_t last_hop = none;
  for (const std::uint32_t probe : tree.probes) {
    const std::uint32_t hop_number = shape_.probes[probe].hop;
    const Hop& hop = shape_.hops[hop_number];
    if (hop.kind == HopKind::join || hop_number == last_hop) continue;
    last_hop = hop_number;
    add(cause_of(hop), place_of_hop(shape_, hop), hops_[hop_number].critical);
  }
  std::stable_sort(critical.parts.begin(), critical.parts.end(),
                   [](const auto& a, const auto& b) { return a.nanos > b.nanos; });
  return critical;
}

}  // namespace eventspace
