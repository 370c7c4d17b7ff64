// SPDX-License-Identifier: Apache-2.0
// paths/plan/path_tuples.cpp — templates of tuples, from the settings of wrappers and elements.
#include "paths/plan/path_tuples.hpp"

#include <optional>

namespace paths {

PathValues::Templates templates_at(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path,
                                   StageId from) {
  PathValues::Templates found;
  bool is_beyond = false;  // whether the loop has reached `from`
  for (StageId at = plan.paths[path].stage; at != no_stage; at = plan.stages[at].below) {
    is_beyond = is_beyond || at == from;
    if (is_beyond && found.moved && plan.stages[at].below != no_stage) continue;
    const Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[at].wrapper];
    const WrapperKind& kind = kinds.at(wrapper.kind);
    std::optional<pastset::Template> here;
    for (const SettingHelp& setting : kind.settings) {
      const base::Settings* value = wrapper.settings.find(setting.name);
      if (value == nullptr) continue;
      if (setting.type == "template") here = pastset::Template::parse(value->text());
      const auto element =
          setting.type == "element" ? plan.element_named(value->text()) : std::nullopt;
      if (element && kind.ends()) found.read = plan.elements[*element].tuple_template;
    }
    if (!found.moved && kind.ends()) found.moved = found.read;
    if (here) found.moved = here;
    if (!is_beyond && kind.template_below != nullptr && found.moved)
      found.moved = kind.template_below(wrapper.settings, *found.moved);
  }
  return found;
}

const PathValues& values_of(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path) {
  const Plan::PlanPath& begun = plan.paths[path];
  const Plan::PlanGraph& graph = plan.graphs[begun.graph_number];
  bool may_be_partial = false, has_rounds = !graph.kind.empty() && graph.kind != "exchange";
  for (StageId at = begun.stage; at != no_stage; at = plan.stages[at].below) {
    const WrapperKind& kind = kinds.at(plan.wrappers[plan.stages[at].wrapper].kind);
    may_be_partial = may_be_partial || kind.may_answer_partial_values;
    has_rounds = has_rounds || kind.joins();
  }
  return PathValues::of(begun.graph, templates_at(plan, kinds, path, begun.stage),
                        may_be_partial ? graph.threads : 0, has_rounds);
}

}  // namespace paths
