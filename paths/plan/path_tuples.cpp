// SPDX-License-Identifier: Apache-2.0
// paths/plan/path_tuples.cpp — templates of tuples, from the settings of wrappers and elements.
#include "paths/plan/path_tuples.hpp"

#include <algorithm>
#include <optional>

namespace paths {

namespace {

/// Templates in the settings of a wrapper.
struct Written {
  std::optional<pastset::Template> value;   ///< template of the tuples that pass the wrapper
  std::optional<pastset::Template> stored;  ///< template of the element at the path's end
};

Written written_for(const Plan& plan, const WrapperKind& kind, const Plan::PlanWrapper& wrapper) {
  Written written;
  for (const SettingHelp& setting : kind.settings) {
    const base::Settings* value = wrapper.settings.find(setting.name);
    if (value == nullptr) continue;
    if (setting.type == "template") written.value = pastset::Template::parse(value->text());
    const auto element =
        setting.type == "element" ? plan.element_named(value->text()) : std::nullopt;
    if (element && kind.ends()) written.stored = plan.elements[*element].tuple_template;
  }
  return written;
}

std::uint64_t bytes_max(const pastset::Template& tuple) {
  constexpr std::uint64_t variable_max = std::uint64_t{1} << 32;  // a field's length has 4 bytes
  std::uint64_t bytes = 0;
  for (const pastset::Field& field : tuple.fields())
    bytes += field.is_variable() ? variable_max + 3 : field.fixed_bytes();
  return bytes;
}

}  // namespace

PathValues::Templates templates_at(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path,
                                   StageId from) {
  PathValues::Templates found;
  bool is_beyond = false;  // whether the loop has reached `from`
  for (StageId at = plan.paths[path].stage; at != no_stage; at = plan.stages[at].below) {
    is_beyond = is_beyond || at == from;
    if (is_beyond && found.moved && plan.stages[at].below != no_stage) continue;
    const Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[at].wrapper];
    const WrapperKind& kind = kinds.at(wrapper.kind);
    const Written here = written_for(plan, kind, wrapper);
    if (here.stored) found.read = here.stored;
    if (!found.moved && kind.ends()) found.moved = found.read;
    if (here.value) found.moved = here.value;
    if (!is_beyond && kind.template_below != nullptr && found.moved)
      found.moved = kind.template_below(wrapper.settings, *found.moved);
  }
  return found;
}

std::optional<std::uint64_t> tuple_bytes_max(const Plan& plan, const WrapperKinds& kinds,
                                             std::uint32_t path) {
  std::optional<std::uint64_t> most;
  std::optional<pastset::Template> moved;
  const auto note = [&most](const std::optional<pastset::Template>& tuple) {
    if (tuple) most = std::max(most.value_or(0), bytes_max(*tuple));
  };
  for (StageId at = plan.paths[path].stage; at != no_stage; at = plan.stages[at].below) {
    const Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[at].wrapper];
    const WrapperKind& kind = kinds.at(wrapper.kind);
    const Written here = written_for(plan, kind, wrapper);
    note(here.value);
    note(here.stored);
    if (here.value) moved = here.value;
    if (kind.template_below == nullptr || !moved) continue;
    moved = kind.template_below(wrapper.settings, *moved);
    note(moved);
  }
  return most;
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
