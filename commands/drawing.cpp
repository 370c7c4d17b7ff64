// SPDX-License-Identifier: Apache-2.0
// commands/drawing.cpp — conversion of a plan's stages to trees from elements to threads.
#include "commands/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace commands {
namespace {

using base::Settings;
using paths::Plan;
using paths::StageId;

/// Returns settings as text: "less: 0.01, contributions: any" for a map, "[a, b]" for a list.
std::string in_words(const Settings& settings) {
  std::string text;
  for (const Settings& item : settings.items())
    text += (text.empty() ? "[" : ", ") + in_words(item);
  if (!settings.items().empty()) return text + "]";
  for (const auto& [key, value] : settings.entries()) {
    const std::string inner = in_words(value);
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key.text(),
                        value.is_map() ? "{" + inner + "}" : inner);
  }
  return settings.is_scalar() ? settings.text() : text;
}

class Maker {
 public:
  Maker(const Plan& plan, const paths::WrapperKinds& kinds) : plan_(plan), kinds_(kinds) {}

  Drawing make() {
    for (StageId stage = 0; stage < plan_.stages.size(); ++stage)
      drawing_.nodes.push_back(stage_node(stage));
    std::vector<std::vector<std::pair<std::uint32_t, std::size_t>>> above(plan_.stages.size());
    for (StageId stage = 0; stage < plan_.stages.size(); ++stage)
      if (const StageId below = plan_.stages[stage].below; below != paths::no_stage)
        above[below].emplace_back(plan_.stages[stage].slot, stage);
    for (const Plan::PlanPath& path : plan_.paths)
      if (path.threads > 0) {
        above[path.stage].emplace_back(path.slot, drawing_.nodes.size());
        drawing_.nodes.push_back(path_node(path));
      }
    for (StageId stage = 0; stage < plan_.stages.size(); ++stage) {
      std::stable_sort(above[stage].begin(), above[stage].end());
      for (const auto& [slot, node] : above[stage]) drawing_.nodes[stage].above.push_back(node);
    }
    std::set<std::pair<std::string, StageId>> seen;
    for (const Plan::PlanPath& path : plan_.paths) {
      rank(path.graph);
      const StageId end = plan_.end_of(path.stage);
      if (seen.emplace(path.graph, end).second) add_tree(path.graph, end);
    }
    std::stable_sort(drawing_.trees.begin(), drawing_.trees.end(),
                     [&](const auto& a, const auto& b) { return rank(a.graph) < rank(b.graph); });
    return std::move(drawing_);
  }

 private:
  Drawing::Node node_on(std::uint32_t host) const {
    Drawing::Node node;
    node.host = plan_.hosts[host].name;
    node.cluster = plan_.cluster_of(host);
    return node;
  }

  Drawing::Node stage_node(StageId id) const {
    const Plan::PlanStage& stage = plan_.stages[id];
    const Plan::PlanWrapper& wrapper = plan_.wrappers[stage.wrapper];
    const paths::WrapperKind& kind = kinds_.at(wrapper.kind);
    Drawing::Node node = node_on(wrapper.host);
    node.name = wrapper.name.empty() ? wrapper.kind : wrapper.name;
    if (!wrapper.name.empty()) node.details = wrapper.kind;
    if (kind.joins()) {
      node.shape = Drawing::Shape::join;
      node.details += fmt::format(" of {}", wrapper.slots);
    } else if (!kind.roles.empty()) {
      node.details += fmt::format(" {}", kind.roles.at(stage.role));
    }
    if (const std::string words = in_words(wrapper.settings); !words.empty())
      node.details += (node.details.empty() ? "" : "; ") + words;
    return node;
  }

  Drawing::Node path_node(const Plan::PlanPath& path) const {
    Drawing::Node node = node_on(path.host);
    node.shape = Drawing::Shape::threads;
    const std::uint32_t last = path.first_thread + path.threads - 1;
    node.name = path.threads == 1 ? fmt::format("thread {}", last)
                                  : fmt::format("threads {}-{}", path.first_thread, last);
    return node;
  }

  /// Returns the element that a path accesses at its last stage; nullptr if it accesses none.
  const Plan::PlanElement* element_of(StageId end) const {
    const Plan::PlanWrapper& wrapper = plan_.wrappers[plan_.stages[end].wrapper];
    for (const paths::SettingHelp& setting : kinds_.at(wrapper.kind).settings) {
      const Settings* name = wrapper.settings.find(setting.name);
      if (setting.type != "element" || name == nullptr) continue;
      if (const auto index = plan_.element_named(name->text())) return &plan_.elements[*index];
    }
    return nullptr;
  }

  void add_tree(const std::string& graph, StageId end) {
    const Plan::PlanElement* element = element_of(end);
    if (element == nullptr) {
      drawing_.trees.push_back({graph, end});
      return;
    }
    const auto [found, is_new] =
        elements_.try_emplace({graph, element->name}, drawing_.nodes.size());
    if (is_new) {
      Drawing::Node node = node_on(element->host);
      node.shape = Drawing::Shape::element;
      node.name = element->name;
      node.details = element->tuple_template.text();
      if (element->keep_newest > 0)
        node.details += fmt::format("; keeps the newest {}", element->keep_newest);
      if (element->delta > 0) node.details += fmt::format("; delta {}", element->delta);
      if (element->shared) node.details += "; shared";
      drawing_.nodes.push_back(node);
      drawing_.trees.push_back({graph, found->second});
    }
    drawing_.nodes[found->second].above.push_back(end);
  }

  std::size_t rank(const std::string& graph) {
    return ranks_.try_emplace(graph, ranks_.size()).first->second;
  }

  const Plan& plan_;
  const paths::WrapperKinds& kinds_;
  Drawing drawing_;
  std::map<std::pair<std::string, std::string>, std::size_t> elements_;
  std::map<std::string, std::size_t> ranks_;
};

}  // namespace

Drawing make_drawing(const Plan& plan, const paths::WrapperKinds& kinds) {
  return Maker(plan, kinds).make();
}

}  // namespace commands
