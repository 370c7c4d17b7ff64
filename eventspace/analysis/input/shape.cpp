// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/shape.cpp — compilation of a structure into trees of collectors.
#include "eventspace/analysis/input/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace eventspace {

bool is_collector(const Structure::Wrapper& wrapper) { return wrapper.job == Job::collector; }
bool is_join(const Structure::Wrapper& wrapper) { return wrapper.job == Job::join; }

namespace {

// Limits of what can be analysed. No real run reaches them, but a forged structure may.
constexpr std::uint64_t probes_max = std::uint64_t{1} << 24;
constexpr std::uint32_t threads_max = 1u << 24;
constexpr std::uint32_t stages_in_a_row_max = 1u << 16;

class Compiler {
 public:
  explicit Compiler(Shape& shape) : shape_(shape), structure_(shape.structure) {}
  void compile() {
    if (structure_.thread_count() > threads_max)
      throw std::runtime_error(
          fmt::format("the structure has {} threads; at most {} can be analysed",
                      structure_.thread_count(), threads_max));
    if (structure_.stages.empty()) {
      shape_.first_probe.assign(1, 0);
      return;
    }
    check_ends();
    count_probes();
    make_probes();
    make_leaves();
    make_trees();
  }

 private:
  const Structure::Wrapper& wrapper_of(std::uint32_t stage) const {
    return structure_.wrapper_of(stage);
  }
  std::uint32_t slot_below(std::uint32_t stage, std::uint32_t slot) const {
    return structure_.stages[stage].slot + (is_join(wrapper_of(stage)) ? 0 : slot);
  }

  /// Checks that each chain of stages ends after a limited number of stages. A forged structure may
  /// contain endless chains.
  void check_ends() const {
    const auto& stages = structure_.stages;
    // Number of stages in the chain that begins at each stage; 0 = unknown.
    std::vector<std::uint32_t> lengths(stages.size(), 0);
    std::vector<std::uint32_t> way;
    for (std::uint32_t begin = 0; begin < stages.size(); ++begin) {
      way.clear();
      std::uint32_t stage = begin;
      for (; stage != no_stage && lengths[stage] == 0; stage = stages[stage].below) {
        way.push_back(stage);
        if (way.size() > stages_in_a_row_max) break;
      }
      std::uint32_t length = stage == no_stage ? 0 : lengths[stage];
      if (way.size() + length > stages_in_a_row_max)
        throw std::runtime_error(
            fmt::format("the structure has more than {} stages below stage {}; that many cannot be "
                        "analysed",
                        stages_in_a_row_max, begin));
      for (auto above = way.rbegin(); above != way.rend(); ++above) lengths[*above] = ++length;
    }
  }

  std::vector<std::uint32_t> way_of(const Structure::Path& path) const {
    std::vector<std::uint32_t> way;
    for (std::uint32_t stage = path.stage; stage != no_stage;
         stage = structure_.stages[stage].below)
      way.push_back(stage);
    return way;
  }

  void count_probes() {
    std::vector<std::uint64_t> probes(structure_.stages.size(), 0);
    shape_.link_ways.resize(structure_.stages.size());
    for (const Structure::Path& path : structure_.paths) {
      const auto way = way_of(path);
      std::uint32_t slot = path.slot;
      std::uint64_t slots = std::max(1u, path.threads);
      for (const std::uint32_t stage : way) {
        if (is_collector(wrapper_of(stage))) probes[stage] = std::max(probes[stage], slot + slots);
        slot = slot_below(stage, slot);
        if (is_join(wrapper_of(stage))) slots = 1;
      }
      find_crossings(way);
    }
    shape_.first_probe.assign(1, 0);
    std::uint64_t all = 0;
    for (const std::uint64_t count : probes) {
      all += count;
      if (all > probes_max)
        throw std::runtime_error(
            fmt::format("the structure has more than {} places of records; that many cannot be "
                        "analysed",
                        probes_max));
      shape_.first_probe.push_back(static_cast<std::uint32_t>(all));
    }
  }

  /// Finds for each emulated link the `forward` wrapper whose messages the link delays. A `forward`
  /// passes operations to another host. A link on the way down delays messages of the `forward`
  /// below the link. A link on the way up delays replies of the `forward` above the link. A link
  /// that is not next to a `forward` delays messages within one host.
  void find_crossings(const std::vector<std::uint32_t>& way) {
    const auto is_transparent = [&](std::uint32_t stage) {
      return is_collector(wrapper_of(stage)) || wrapper_of(stage).job == Job::link;
    };
    for (std::size_t place = 0; place < way.size(); ++place) {
      if (wrapper_of(way[place]).job != Job::link) continue;
      const bool is_up = structure_.stages[way[place]].role == 1;
      std::size_t at = place;
      while (is_transparent(way[at]) && (is_up ? at > 0 : at + 1 < way.size())) {
        if (is_up) {
          --at;
        } else {
          ++at;
        }
      }
      if (wrapper_of(way[at]).job != Job::crossing || at + 1 >= way.size()) continue;
      const std::uint32_t near = structure_.host_of(way[at]);
      const std::uint32_t far = structure_.host_of(way[at + 1]);
      shape_.link_ways[way[place]] = is_up ? Shape::LinkWay{far, near} : Shape::LinkWay{near, far};
    }
  }

  void make_probes() {
    shape_.probes.resize(shape_.first_probe.back());
    std::unordered_map<std::uint32_t, std::uint32_t> joins;  // number of each join, keyed by stage
    for (std::uint32_t stage = 0; stage < structure_.stages.size(); ++stage) {
      const std::uint32_t first = shape_.first_probe[stage];
      const std::uint32_t end = shape_.first_probe[stage + 1];
      if (first == end) continue;
      for (std::uint32_t probe = first; probe < end; ++probe) {
        shape_.probes[probe].stage = stage;
        shape_.probes[probe].slot = probe - first;
        shape_.probes[probe].hop = static_cast<std::uint32_t>(shape_.hops.size());
        connect(probe, joins);
      }
      make_hop(stage);
    }
    for (const Probe& probe : shape_.probes) {
      if (probe.below == none) continue;
      const bool crosses =
          structure_.host_of(probe.stage) != structure_.host_of(shape_.probes[probe.below].stage);
      if (crosses) mark_remote(probe.below);
    }
  }

  void connect(std::uint32_t probe, std::unordered_map<std::uint32_t, std::uint32_t>& joins) {
    Probe& here = shape_.probes[probe];
    std::uint32_t slot = slot_below(here.stage, here.slot);
    std::uint32_t stage = structure_.stages[here.stage].below;
    while (stage != no_stage && !is_collector(wrapper_of(stage))) {
      if (is_join(wrapper_of(stage)) && here.join == none) {
        const auto [join, is_new] =
            joins.emplace(stage, static_cast<std::uint32_t>(shape_.joins.size()));
        if (is_new) shape_.joins.emplace_back().wrapper = structure_.stages[stage].wrapper;
        here.join = join->second;
        shape_.joins[here.join].contributors.push_back(probe);
      }
      slot = slot_below(stage, slot);
      stage = structure_.stages[stage].below;
    }
    if (stage == no_stage) return;
    here.below = shape_.probe_of(stage, slot);
    if (here.below == none) return;
    if (here.join == none) {
      shape_.probes[here.below].above = probe;
    } else {
      shape_.probes[here.below].join_above = here.join;
      shape_.joins[here.join].below = here.below;
    }
  }

  /// Marks as remote the Probe `probe` (a contributor at a collector) and all Probes below it, down
  /// to the next join.
  void mark_remote(std::uint32_t probe) {
    while (probe != none && !shape_.probes[probe].is_remote) {
      shape_.probes[probe].is_remote = true;
      if (shape_.probes[probe].join != none) return;
      probe = shape_.probes[probe].below;
    }
  }

  static int weight(HopKind kind) {
    switch (kind) {
      case HopKind::join: return 5;
      case HopKind::crossing: return 4;
      case HopKind::check: return 3;
      case HopKind::link: return 2;
      case HopKind::internal: return 1;
      case HopKind::end: return 0;
    }
    return 0;
  }

  HopKind kind_of(const Structure::Wrapper& wrapper) const {
    switch (wrapper.job) {
      case Job::join: return HopKind::join;
      case Job::crossing: return HopKind::crossing;
      case Job::check: return HopKind::check;
      case Job::link: return HopKind::link;
      default: return HopKind::internal;
    }
  }

  void make_hop(std::uint32_t collector) {
    Hop hop;
    hop.stage = collector;
    hop.from_host = hop.to_host = structure_.host_of(collector);
    hop.wrapper = structure_.stages[collector].wrapper;
    int best = -1;
    std::uint32_t stage = structure_.stages[collector].below;
    for (; stage != no_stage && !is_collector(wrapper_of(stage));
         stage = structure_.stages[stage].below) {
      ++hop.wrappers;
      hop.is_periodic = hop.is_periodic || wrapper_of(stage).job == Job::gate;
      const HopKind kind = kind_of(wrapper_of(stage));
      if (weight(kind) <= best) continue;
      best = weight(kind);
      hop.kind = kind;
      hop.wrapper = structure_.stages[stage].wrapper;
      hop.role = structure_.stages[stage].role;
      if (kind == HopKind::link) set_crossing(hop, shape_.link_ways[stage]);
    }
    if (stage == no_stage) {
      // The last hop of a path gets the kind `end`. A hop with a check or a join keeps its own
      // kind, because operations spend time in the check or join.
      if (hop.kind != HopKind::check && hop.kind != HopKind::join) hop.kind = HopKind::end;
    } else {
      if (hop.kind != HopKind::link) hop.to_host = structure_.host_of(stage);
      if (hop.kind == HopKind::crossing && hop.from_host == hop.to_host)
        hop.kind = HopKind::internal;
    }
    hop.is_answered_in_kind = is_answered_in_kind(collector);
    const auto& hosts = structure_.hosts;
    hop.is_wan = hosts[hop.from_host].cluster != hosts[hop.to_host].cluster;
    shape_.hops.push_back(hop);
  }

  bool is_answered_in_kind(std::uint32_t stage) const {
    for (; stage != no_stage; stage = structure_.stages[stage].below)
      if (is_join(wrapper_of(stage))) return wrapper_of(stage).answers_in_kind;
    return false;
  }

  static void set_crossing(Hop& hop, const Shape::LinkWay& way) {
    hop.is_hold = way.from_host == none;
    if (hop.is_hold) return;
    hop.from_host = way.from_host;
    hop.to_host = way.to_host;
  }

  void make_leaves() {
    std::map<std::string, std::uint32_t> graphs;
    for (std::uint32_t number = 0; number < structure_.paths.size(); ++number) {
      const Structure::Path& path = structure_.paths[number];
      const auto [graph, is_new] =
          graphs.emplace(path.graph, static_cast<std::uint32_t>(shape_.graphs.size()));
      if (is_new) shape_.graphs.push_back(path.graph);
      graph_of_path_.push_back(graph->second);
      add_leaves(path, number);
    }
  }

  void add_leaves(const Structure::Path& path, std::uint32_t number) {
    std::uint32_t slot = path.slot;
    for (const std::uint32_t stage : way_of(path)) {
      if (is_join(wrapper_of(stage))) return;  // below a join, the records do not show the thread
      if (is_collector(wrapper_of(stage))) {
        for (std::uint32_t thread = 0; thread < std::max(1u, path.threads); ++thread) {
          const std::uint32_t probe = shape_.probe_of(stage, slot + thread);
          if (probe == none) continue;
          Leaf leaf{probe, number, none};
          if (path.threads > 0)
            leaf.thread = structure_.hosts[path.host].first_thread + path.first_thread + thread;
          shape_.probes[probe].leaf = static_cast<std::uint32_t>(shape_.leaves.size());
          shape_.leaves.push_back(leaf);
        }
        return;
      }
      slot = slot_below(stage, slot);
    }
  }

  void make_trees() {
    // Numbers of trees. The key identifies the join or Probe at the bottom of a tree: whether it is
    // a join, and the number of that join or Probe.
    std::map<std::pair<bool, std::uint32_t>, std::uint32_t> trees;
    for (std::uint32_t number = 0; number < shape_.probes.size(); ++number) {
      std::uint32_t probe = number;
      std::uint32_t depth = 0;
      while (shape_.probes[probe].below != none && depth < shape_.probes.size()) {
        probe = shape_.probes[probe].below;
        ++depth;
      }
      const std::uint32_t join = shape_.probes[probe].join;
      const std::pair<bool, std::uint32_t> bottom{join != none, join != none ? join : probe};
      const auto [tree, is_new] =
          trees.emplace(bottom, static_cast<std::uint32_t>(shape_.trees.size()));
      if (is_new) {
        Tree& made = shape_.trees.emplace_back();
        (join != none ? made.bottom_join : made.bottom_probe) = bottom.second;
      }
      depth_.push_back(depth);
      shape_.probes[number].tree = tree->second;
      shape_.trees[tree->second].probes.push_back(number);
    }
    for (std::uint32_t number = 0; number < shape_.trees.size(); ++number) finish_tree(number);
  }

  void finish_tree(std::uint32_t number) {
    Tree& tree = shape_.trees[number];
    std::stable_sort(tree.probes.begin(), tree.probes.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return depth_[a] < depth_[b]; });
    for (std::uint32_t place = 0; place < tree.probes.size(); ++place) {
      Probe& probe = shape_.probes[tree.probes[place]];
      probe.place = place;
      tree.has_periodic = tree.has_periodic || shape_.hops[probe.hop].is_periodic;
      if (probe.leaf != none) {
        tree.leaves.push_back(probe.leaf);
        tree.graph = graph_of_path_[shape_.leaves[probe.leaf].path];
      }
      if (probe.join == none || shape_.joins[probe.join].tree != none) continue;
      shape_.joins[probe.join].tree = number;
      tree.joins.push_back(probe.join);
    }
    std::reverse(tree.joins.begin(), tree.joins.end());
  }

  Shape& shape_;
  const Structure& structure_;
  std::vector<std::uint32_t> graph_of_path_;
  std::vector<std::uint32_t> depth_;
};

}  // namespace

Shape::Shape(const Structure& given) : structure(given) { Compiler(*this).compile(); }

// Searches `leaves`, which are sorted by path and then by thread.
std::uint32_t Shape::leaf_of(std::uint32_t path, std::uint32_t thread) const {
  const auto found = std::lower_bound(leaves.begin(), leaves.end(), std::pair(path, thread),
                                      [](const Leaf& leaf, const auto& wanted) {
                                        return std::pair(leaf.path, leaf.thread) < wanted;
                                      });
  if (found == leaves.end() || found->path != path || found->thread != thread) return none;
  return static_cast<std::uint32_t>(found - leaves.begin());
}

}  // namespace eventspace
