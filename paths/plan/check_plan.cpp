// SPDX-License-Identifier: Apache-2.0
// paths/plan/check_plan.cpp — checks of a plan as a whole.
#include "paths/plan/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/near_match.hpp"

namespace paths {
namespace {

std::string described(const Plan& plan, std::uint32_t wrapper) {
  const Plan::PlanWrapper& it = plan.wrappers[wrapper];
  return it.name.empty() ? it.kind : it.name;
}

/// Checks single stages and their neighbours, and reports mistakes.
class StructureCheck {
 public:
  StructureCheck(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes)
      : plan_(plan), kinds_(kinds), text_(text), mistakes_(mistakes) {}

  void run() {
    entered_by_.assign(plan_.stages.size(), nothing);
    stage_of_join_.assign(plan_.wrappers.size(), no_stage);
    used_.assign(plan_.wrappers.size(), false);
    for (StageId stage = 0; stage < plan_.stages.size(); ++stage) check_stage(stage);
    for (const Plan::PlanPath& path : plan_.paths) check_path(path);
    if (!text_.whole) return;
    for (std::uint32_t wrapper = 0; wrapper < plan_.wrappers.size(); ++wrapper)
      if (!used_[wrapper])
        mistakes_.add(text_.of_wrapper(wrapper),
                      fmt::format("no path goes through wrapper {}", described(plan_, wrapper)));
  }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  const WrapperKind& kind(StageId stage) const {
    return *kinds_.of_wrapper[plan_.stages[stage].wrapper];
  }

  void check_stage(StageId id) {
    const Plan::PlanStage& stage = plan_.stages[id];
    used_[stage.wrapper] = true;
    const bool at_end = stage.below == no_stage;
    if (at_end && !kind(id).ends()) {
      std::vector<std::string_view> ends;
      for (const WrapperKind& one : kinds_.all.all())
        if (one.ends()) ends.emplace_back(one.name);
      mistakes_.add(text_.of_stage(id),
                    fmt::format("the path never reaches an element: it ends in "
                                "{}, expected {} at its end",
                                described(plan_, stage.wrapper), base::either_of(ends)));
    }
    if (!at_end && kind(id).ends())
      mistakes_.add(text_.of_stage(stage.below),
                    fmt::format("nothing may follow {}, which ends the path",
                                described(plan_, stage.wrapper)));
    if (!at_end) check_crossing(id, stage.below);
    if (!at_end && kind(id).maps) check_mapped(id);
    if (!kind(id).joins()) return;
    StageId& known = stage_of_join_[stage.wrapper];
    if (known != no_stage)
      mistakes_.add(text_.of_stage(id), fmt::format("two paths that meet in {} but disagree below",
                                                    described(plan_, stage.wrapper)));
    known = id;
  }

  void check_crossing(StageId above, StageId below) {
    const Plan::PlanWrapper& wrapper = plan_.wrappers[plan_.stages[above].wrapper];
    std::uint32_t here = wrapper.host;
    if (kind(above).crosses()) {
      const base::Settings* to = wrapper.settings.find("to");
      const auto host = to != nullptr ? plan_.host_named(to->text()) : std::nullopt;
      if (!host) return;  // the reader of the wrapper's settings reports the mistake
      here = *host;
    }
    check_host(below, here);
  }

  /// Checks that a wrapper of the kind `map` accesses the element at the end of its path.
  void check_mapped(StageId id) {
    const auto element_of = [this](StageId stage) {
      const base::Settings* name =
          plan_.wrappers[plan_.stages[stage].wrapper].settings.find("element");
      return name != nullptr ? name->text() : "";
    };
    StageId below = plan_.stages[id].below;
    for (std::size_t steps = 0; below != no_stage && !kind(below).ends(); ++steps) {
      const bool passes = kind(below).crosses() || kind(below).job == Job::collector;
      if (steps > plan_.stages.size()) return;  // the path has a cycle, which check_path() reports
      if (!passes)
        return mistakes_.add(text_.of_stage(below),
                             fmt::format("expected only forward between {} and the element, found "
                                         "{}",
                                         described(plan_, plan_.stages[id].wrapper),
                                         described(plan_, plan_.stages[below].wrapper)));
      below = plan_.stages[below].below;
    }
    if (below != no_stage && kind(below).only_reads)
      mistakes_.add(text_.of_stage(below),
                    fmt::format("expected store at the end of a path with {}, which carries out "
                                "any operation, found {}",
                                described(plan_, plan_.stages[id].wrapper),
                                described(plan_, plan_.stages[below].wrapper)));
    // If no element has the name in the settings, the reader of the settings reports the mistake.
    const bool is_one = plan_.element_named(element_of(id)).has_value();
    if (is_one && below != no_stage && element_of(below) != element_of(id))
      mistakes_.add(text_.of_stage(id), fmt::format("element: the path leads to '{}', found '{}'",
                                                    element_of(below), element_of(id)));
  }

  void check_host(StageId stage, std::uint32_t here) {
    const std::uint32_t host = plan_.host_of(stage);
    if (host == here) return;
    mistakes_.add(text_.of_stage(stage),
                  fmt::format("{} is on host {}, but the path is on host {} here; expected "
                              "forward: {{to: {}}} before it",
                              described(plan_, plan_.stages[stage].wrapper), plan_.hosts[host].name,
                              plan_.hosts[here].name, plan_.hosts[host].name));
  }

  void check_path(const Plan::PlanPath& path) {
    const auto index = static_cast<std::uint32_t>(&path - plan_.paths.data());
    if (path.stage >= plan_.stages.size()) {
      mistakes_.add(path.position, "the path has no wrappers");
      return;
    }
    check_host(path.stage, path.host);
    const bool driven = kind(path.stage).drives_own_path();
    if (driven && path.threads > 0)
      mistakes_.add(path.position,
                    fmt::format("threads: {} drives its path itself, expected no threads",
                                described(plan_, plan_.stages[path.stage].wrapper)));
    if (!driven && path.threads == 0)
      mistakes_.add(path.position,
                    fmt::format("threads: missing in path, expected threads such as 0-3, because "
                                "{} does not drive a path itself",
                                described(plan_, plan_.stages[path.stage].wrapper)));
    for (StageId stage = path.stage; stage != no_stage; stage = plan_.stages[stage].below) {
      if (entered_by_[stage] == index) {
        mistakes_.add(path.position, fmt::format("a cycle: the path reaches {} again",
                                                 described(plan_, plan_.stages[stage].wrapper)));
        return;
      }
      const bool visited = entered_by_[stage] != nothing;
      entered_by_[stage] = index;
      if (stage != path.stage && kind(stage).drives_own_path())
        mistakes_.add(text_.of_stage(stage),
                      fmt::format("{} begins a path, expected it first on one",
                                  described(plan_, plan_.stages[stage].wrapper)));
      if (!visited) continue;
      if (!kind(stage).joins())
        mistakes_.add(path.position,
                      fmt::format("{} does not join, expected a stage of its own on every path",
                                  described(plan_, plan_.stages[stage].wrapper)));
      return;
    }
  }

  const Plan& plan_;
  const PlanKinds& kinds_;
  const PlanText& text_;
  base::Mistakes& mistakes_;
  std::vector<std::uint32_t> entered_by_;  ///< index of the last path that entered each stage
  std::vector<StageId> stage_of_join_;
  std::vector<bool> used_;
};

/// Key of a check of settings: the settings, and all other data on which the result of the check
/// depends. Wrappers with equal keys are checked only once.
struct SettingsUse {
  const WrapperKind* kind = nullptr;
  const void* settings = nullptr;
  std::uint32_t host = 0, slots = 0;
  friend bool operator==(const SettingsUse&, const SettingsUse&) = default;
};

struct SettingsUseHash {
  std::size_t operator()(const SettingsUse& use) const {
    std::size_t hash = std::hash<const void*>()(use.settings);
    for (const std::uint64_t part : {std::uint64_t{std::hash<const void*>()(use.kind)},
                                     std::uint64_t{use.host}, std::uint64_t{use.slots}})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
  }
};

/// Follows the tuples of every path down. Checks that each wrapper and element gets the template
/// that it expects.
class TemplateCheck {
 public:
  TemplateCheck(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                base::Mistakes& mistakes)
      : plan_(plan), kinds_(kinds), text_(text), mistakes_(mistakes) {}

  void run() {
    std::vector<bool> visited(plan_.stages.size());
    for (const Plan::PlanPath& path : plan_.paths) {
      const pastset::Template* arriving = nullptr;
      for (StageId stage = path.stage; stage != no_stage; stage = plan_.stages[stage].below) {
        arriving = pass(stage, arriving);
        if (visited[stage]) break;
        visited[stage] = true;
      }
    }
  }

 private:
  /// Templates that a wrapper expects; nullptr if the settings name no template or no known
  /// element.
  struct Expected {
    const pastset::Template* value = nullptr;
    const pastset::Template* stored = nullptr;
    std::string element;
  };

  const pastset::Template* pass(StageId id, const pastset::Template* arriving) {
    const std::uint32_t index = plan_.stages[id].wrapper;
    const base::Settings& settings = plan_.wrappers[index].settings;
    const WrapperKind& kind = *kinds_.of_wrapper[index];
    const auto [found, is_new] = expected_.try_emplace({&kind, settings.identity()});
    Expected& expected = found->second;
    if (is_new) expected = expected_of(kind, settings);
    if (expected.value != nullptr) {
      compare(id, arriving, *expected.value, "");
      arriving = expected.value;
    }
    if (kind.template_below != nullptr && arriving != nullptr)
      arriving = &made_.emplace_back(kind.template_below(settings, *arriving));
    if (expected.stored != nullptr) {
      compare(id, arriving, *expected.stored, expected.element);
      arriving = expected.stored;
    }
    return arriving;
  }

  Expected expected_of(const WrapperKind& kind, const base::Settings& settings) {
    Expected expected;
    const base::Settings* value = nullptr;
    const base::Settings* element = nullptr;
    for (const SettingHelp& setting : kind.settings) {
      if (setting.type == "template") value = settings.find(setting.name);
      if (setting.type == "element") element = settings.find(setting.name);
    }
    if (value != nullptr) expected.value = parse(value->text());
    if (element == nullptr) return expected;
    expected.element = element->text();
    if (const auto index = plan_.element_named(expected.element))
      expected.stored = &plan_.elements[*index].tuple_template;
    return expected;
  }

  /// Reports a mistake if `arriving`, the template of the tuples that arrive at a stage, differs
  /// from `expected`. `element` is the name of the element that expects this template; "" if the
  /// wrapper itself expects it.
  void compare(StageId stage, const pastset::Template* arriving, const pastset::Template& expected,
               const std::string& element) {
    if (arriving == nullptr || *arriving == expected) return;
    const std::string what =
        element.empty() ? described(plan_, plan_.stages[stage].wrapper) : "element " + element;
    mistakes_.add(text_.of_stage(stage),
                  fmt::format("template mismatch: {} takes '{}', but '{}' comes down the path",
                              what, expected.text(), arriving->text()));
  }

  const pastset::Template* parse(const std::string& text) {
    const auto [found, is_new] = parsed_.try_emplace(text);
    if (is_new) found->second = pastset::Template::parse(text);
    return found->second ? &*found->second : nullptr;
  }

  const Plan& plan_;
  const PlanKinds& kinds_;
  const PlanText& text_;
  base::Mistakes& mistakes_;
  std::map<std::string, std::optional<pastset::Template>> parsed_;
  std::deque<pastset::Template> made_;  // a deque, so that its elements keep their addresses
  std::unordered_map<SettingsUse, Expected, SettingsUseHash> expected_;
};

}  // namespace

PlanKinds::PlanKinds(const Plan& plan, const WrapperKinds& kinds) : all(kinds) {
  of_wrapper.reserve(plan.wrappers.size());
  for (const Plan::PlanWrapper& wrapper : plan.wrappers) {
    const bool is_as_before = !of_wrapper.empty() && of_wrapper.back()->name == wrapper.kind;
    of_wrapper.push_back(is_as_before ? of_wrapper.back() : kinds.find(wrapper.kind));
    ENSURE(of_wrapper.back() != nullptr);
  }
}

void count_slots(Plan& plan, const PlanKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes) {
  std::vector<std::uint32_t> entered(plan.stages.size());  // contributors counted so far, by stage
  std::vector<bool> visited(plan.stages.size());
  for (Plan::PlanWrapper& wrapper : plan.wrappers) wrapper.slots = 0;
  const auto enter = [&](StageId stage, std::uint32_t width) {
    plan.wrappers[plan.stages[stage].wrapper].slots += width;
    return std::exchange(entered[stage], entered[stage] + width);
  };
  for (Plan::PlanPath& path : plan.paths) {
    std::uint32_t width = std::max(1u, path.threads);
    path.slot = enter(path.stage, width);
    for (StageId id = path.stage; !visited[id];) {
      visited[id] = true;
      Plan::PlanStage& stage = plan.stages[id];
      if (kinds.of_wrapper[stage.wrapper]->joins()) width = 1;
      if (stage.below == no_stage) break;
      stage.slot = enter(stage.below, width);
      id = stage.below;
    }
  }
  for (const auto& [wrapper, written] : text.contributors) {
    if (!written.is_null() && written.text() != std::to_string(plan.wrappers[wrapper].slots))
      mistakes.add(
          written.position(),
          fmt::format("contributors: {} {} enter {}, found {}", plan.wrappers[wrapper].slots,
                      plan.wrappers[wrapper].slots == 1 ? "contributor" : "contributors",
                      described(plan, wrapper), written.describe()));
  }
}

void check_structure(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes) {
  StructureCheck(plan, kinds, text, mistakes).run();
}

void check_templates(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes) {
  TemplateCheck(plan, kinds, text, mistakes).run();
}

void check_wrappers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                    base::Mistakes& mistakes) {
  // Settings that several wrappers share are checked once. If the check used only the settings, the
  // result of the check holds for all these wrappers. Otherwise the result holds only for wrappers
  // on the same host with the same number of contributors.
  std::unordered_set<SettingsUse, SettingsUseHash> right;
  for (std::uint32_t wrapper = 0; wrapper < plan.wrappers.size(); ++wrapper) {
    const Plan::PlanWrapper& it = plan.wrappers[wrapper];
    const WrapperKind* const kind = kinds.of_wrapper[wrapper];
    // If mistakes removed parts of the plan, the count of contributors may be too low. In a
    // complete plan each wrapper has at least one contributor.
    const std::uint32_t slots = text.whole ? it.slots : std::max(1u, it.slots);
    const SettingsUse anywhere{kind, it.settings.identity(), ~0u, 0};
    const SettingsUse here{kind, it.settings.identity(), it.host, slots};
    if (right.contains(anywhere) || right.contains(here)) continue;
    const std::size_t before = mistakes.size();
    base::MapReader reader(it.settings, mistakes, described(plan, wrapper));
    const WrapperPlace place(plan, wrapper, it.host, slots);
    kind->read(reader, place);
    reader.finish();
    if (mistakes.size() == before) right.insert(place.was_asked() ? here : anywhere);
  }
}

}  // namespace paths
