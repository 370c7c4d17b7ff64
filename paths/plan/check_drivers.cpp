// SPDX-License-Identifier: Apache-2.0
// paths/plan/check_drivers.cpp — check for drivers (wrappers) that trigger each other for ever.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/plan/check_plan.hpp"

namespace paths {
namespace {

/// Finds cycles in which wrappers move tuples for ever, although no thread of the program moves a
/// tuple. A driver (a wrapper that starts operations itself) runs again when its element gets a new
/// tuple. A join proceeds when all its contributors have contributed. Only threads of the program
/// are certain to end.
///
/// The check builds a graph of paths, stages and elements. First it removes all nodes that no node
/// feeds, such as paths of threads. It then removes each path or stage with a removed feeding node,
/// and each element of which all feeding nodes are removed. The nodes that remain run for ever,
/// because drivers trigger each other.
class DriverCheck {
 public:
  DriverCheck(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
              base::Mistakes& mistakes)
      : plan_(plan), kinds_(kinds), text_(text), mistakes_(mistakes) {}

  void run() {
    const bool drives =
        std::any_of(plan_.paths.begin(), plan_.paths.end(),
                    [this](const auto& one) { return kind_of(one.stage).drives_own_path(); });
    if (!drives) return;
    element_node_ = add(plan_.elements.size(), false);
    stage_node_ = add(plan_.stages.size(), true);
    path_node_ = add(plan_.paths.size(), true);
    for (std::uint32_t path = 0; path < plan_.paths.size(); ++path) add_path(path);
    for (StageId stage = 0; stage < plan_.stages.size(); ++stage) add_stage(stage);
    take_away_what_rests();
    for (std::uint32_t element = 0; element < plan_.elements.size(); ++element)
      report_cycle(element_node_ + element);
  }

 private:
  using NodeId = std::uint32_t;
  /// Node of the checked graph: a path, stage or element. If `needs_all` is true, the node becomes
  /// active again after all nodes in `fed_by` have been active. Otherwise the node becomes active
  /// again after any node in `fed_by` has been active.
  struct Node {
    bool needs_all = false;
    bool rests = false;
    bool was_reported = false;
    std::vector<NodeId> fed_by, feeds;
  };

  NodeId add(std::size_t count, bool needs_all) {
    const auto first = static_cast<NodeId>(nodes_.size());
    nodes_.resize(nodes_.size() + count, Node{needs_all, false, false, {}, {}});
    return first;
  }

  void feed(NodeId from, NodeId into) {
    nodes_[from].feeds.push_back(into);
    nodes_[into].fed_by.push_back(from);
  }

  const Plan::PlanWrapper& wrapper_of(StageId stage) const {
    return plan_.wrappers[plan_.stages[stage].wrapper];
  }
  const WrapperKind& kind_of(StageId stage) const {
    return *kinds_.of_wrapper[plan_.stages[stage].wrapper];
  }

  /// Returns the nodes of the elements that the wrapper's settings name. If `key` is not empty,
  /// only the setting `key` is read.
  std::vector<NodeId> elements_of(StageId stage, std::string_view key = {}) const {
    std::vector<NodeId> found;
    for (const SettingHelp& setting : kind_of(stage).settings) {
      if (!setting.type.starts_with("element") || (!key.empty() && setting.name != key)) continue;
      const base::Settings* name = wrapper_of(stage).settings.find(setting.name);
      const auto element = name != nullptr ? plan_.element_named(name->text()) : std::nullopt;
      if (element) found.push_back(element_node_ + *element);
    }
    return found;
  }

  void add_path(std::uint32_t path) {
    const StageId stage = plan_.paths[path].stage;
    const WrapperKind& kind = kind_of(stage);
    if (!kind.drives_own_path()) return feed(path_node_ + path, stage_node_ + stage);
    if (kind.job == Job::push) {
      for (const NodeId element : elements_of(stage)) feed(element, path_node_ + path);
      return feed(path_node_ + path, stage_node_ + stage);
    }
    for (const NodeId element : elements_of(plan_.end_of(stage))) feed(element, path_node_ + path);
    for (const NodeId element : elements_of(stage, kind.fetches_into))
      feed(path_node_ + path, element);
  }

  void add_stage(StageId stage) {
    if (plan_.stages[stage].below != no_stage)
      feed(stage_node_ + stage, stage_node_ + plan_.stages[stage].below);
    // add_path() has already handled the elements that the settings of a driver name, because the
    // driver's own path reads or fills them.
    if (kind_of(stage).drives_own_path()) return;
    for (const NodeId element : elements_of(stage)) feed(stage_node_ + stage, element);
  }

  void take_away_what_rests() {
    // For each node: number of the feeding nodes that do not rest. A resting node counts as
    // removed.
    std::vector<std::size_t> going(nodes_.size());
    std::vector<NodeId> resting;
    for (NodeId node = 0; node < nodes_.size(); ++node) {
      going[node] = nodes_[node].fed_by.size();
      if (going[node] == 0) resting.push_back(node);
    }
    while (!resting.empty()) {
      const NodeId node = resting.back();
      resting.pop_back();
      if (std::exchange(nodes_[node].rests, true)) continue;
      for (const NodeId next : nodes_[node].feeds)
        if (--going[next] == 0 || nodes_[next].needs_all) resting.push_back(next);
    }
  }

  /// Reports the cycle of nodes that keeps `node` active. Does nothing if `node` rests. At least
  /// one active node feeds each active node. A walk from node to feeding node therefore reaches a
  /// cycle.
  void report_cycle(NodeId node) {
    std::vector<NodeId> way;
    while (!nodes_[node].rests && !std::exchange(nodes_[node].was_reported, true)) {
      way.push_back(node);
      const auto& above = nodes_[node].fed_by;
      node = *std::find_if(above.begin(), above.end(),
                           [this](NodeId one) { return !nodes_[one].rests; });
    }
    const auto begin = std::find(way.begin(), way.end(), node);
    if (begin == way.end()) return;
    std::string names;
    // First path in the plan that begins at a driver in the cycle.
    const Plan::PlanPath* first = nullptr;
    for (auto one = way.end(); one != begin;) {
      --one;
      if (*one >= path_node_) {
        const Plan::PlanPath* path = &plan_.paths[*one - path_node_];
        if (first == nullptr || path < first) first = path;
      } else if (*one < stage_node_) {
        names += (names.empty() ? "" : ", ") + plan_.elements[*one].name;
      }
    }
    ENSURE(first != nullptr);
    mistakes_.add(text_.of_stage(first->stage),
                  fmt::format("a cycle of drivers that never ends: the tuples of {} return to it, "
                              "with no thread between; elements on the way: {}",
                              wrapper_of(first->stage).kind, names));
  }

  const Plan& plan_;
  const PlanKinds& kinds_;
  const PlanText& text_;
  base::Mistakes& mistakes_;
  std::vector<Node> nodes_;
  // Ids of the first element, the first stage and the first path. Nodes are numbered in this
  // order.
  NodeId element_node_ = 0, stage_node_ = 0, path_node_ = 0;
};

}  // namespace

void check_drivers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                   base::Mistakes& mistakes) {
  DriverCheck(plan, kinds, text, mistakes).run();
}

}  // namespace paths
