// SPDX-License-Identifier: Apache-2.0
// paths/plan/print_plan.cpp — printer of a plan as a low-level config.
#include "paths/plan/print_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/link_model/host_costs.hpp"
#include "base/settings_print.hpp"
#include "base/units.hpp"
#include "collectives/tuner/decision_table.hpp"
#include "paths/keys/host_keys.hpp"

namespace paths {
namespace {

using base::MapBuilder;
using base::Settings;

Settings word(std::string text) { return Settings::scalar(std::move(text)); }

Settings print_liveness(const Plan::Liveness& liveness) {
  MapBuilder map;
  map.add("beat", base::format_time(liveness.beat));
  map.add("silent", base::format_time(liveness.silent));
  return map.done();
}

Settings map_of(const Plan::PlanWrapper& wrapper) {
  return wrapper.settings.is_map() ? wrapper.settings : Settings::map({});
}

Settings print_shared_spaces(const Plan& plan) {
  MapBuilder map;
  if (plan.shared_access != pastset::SharedAccess::own_processes)
    map.add(
        "access",
        std::string(pastset::shared_access_words.at(static_cast<std::size_t>(plan.shared_access))));
  if (plan.lock_patience != pastset::usual_lock_patience)
    map.add("lock_patience", base::format_time(plan.lock_patience));
  return map.done();
}

Settings print_sizes(const pastset::SharedSizes& sizes) {
  MapBuilder map;
  map.add("slots", std::to_string(sizes.slots));
  map.add("memory", base::format_bytes(sizes.arena_bytes));
  if (sizes.line != pastset::SharedSizes().line) map.add("line", std::to_string(sizes.line));
  return map.done();
}

Settings print_security(const Plan& plan) {
  if (plan.security != Plan::Security::keys)
    return Settings::scalar(
        std::string(Plan::security_words.at(static_cast<std::size_t>(plan.security))));
  MapBuilder keys;
  keys.add("keys", plan.host_keys->written);
  if (!plan.host_keys->own_written.empty()) keys.add("key", plan.host_keys->own_written);
  return keys.done();
}

Settings print_protected_links(const Plan& plan) {
  std::vector<Settings> links;
  for (const auto& [cluster, other] : plan.protected_links)
    links.push_back(Settings::list(
        {Settings::scalar(plan.clusters[cluster]), Settings::scalar(plan.clusters[other])}));
  return Settings::list(std::move(links));
}

Settings print_lanes(const Plan& plan) {
  const std::uint64_t frame = plan.lanes.frame_bytes;
  MapBuilder map;
  map.add("inbox", base::format_bytes(plan.lanes.inbox_bytes));
  map.add("frame", frame == 0 ? "unlimited" : base::format_bytes(frame));
  if (plan.lanes.striping != 1) map.add("striping", std::to_string(plan.lanes.striping));
  return map.done();
}

/// Prints groups with their members. If all threads of a host are members, prints the name of the
/// host instead of the threads.
Settings print_groups(const Plan& plan) {
  MapBuilder groups;
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
  MapBuilder ways;
  for (std::uint32_t from = 0; from < plan.clusters.size(); ++from) {
    const Ways::Cluster& cluster = plan.ways->clusters[from];
    MapBuilder map;
    map.add("exit", plan.hosts[cluster.exit].name);
    for (const auto& [key, value] : cluster.text()) map.add(key.text(), value);
    MapBuilder to;
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

/// Prints a plan section by section. It prints large sections entry by entry.
class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const WrapperKinds& kinds, const TextReader& read)
      : plan_(plan), kinds_(kinds), read_(read) {}

  void run() {
    print_run();
    print_hosts();
    if (plan_.lanes.is_written && plan_.ways) add("ways", print_ways(plan_));
    if (!plan_.groups.empty()) add("groups", print_groups(plan_));
    print_elements();
    print_wrappers();
    print_graphs();
    print_paths();
    read_(text_);
  }

 private:
  using Words = std::vector<base::PrintedWord>;
  using SomeWords = std::span<const base::PrintedWord>;

  void print_run();
  void print_hosts();
  void print_elements();
  void print_wrappers();
  void print_graphs();
  void print_paths();
  void print_path(const Plan::PlanPath& path);
  void print_way(StageId stage);
  void print_stage(StageId id);
  bool is_list_of_words(StageId stage);
  const std::string* role_of(const Plan::PlanStage& stage);
  void find_meetings();

  void add(std::string_view key, const Settings& value) {
    base::print_entry(text_, key, {}, value, 0);
  }
  void add(std::string_view key, const std::string& value) { add(key, word(value)); }

  /// Prints an entry of a section. If `is_first` is true, first prints the line with the name of
  /// the section.
  void add_to(std::string_view section, bool& is_first, std::string_view key, SomeWords words,
              const Settings& value) {
    if (is_first) text_.append(section).append(":\n");
    is_first = false;
    text_ += "  ";
    base::print_entry(text_, key, words, value, 2);
    hand_over();
  }

  /// Passes the text printed so far to the function `read_` if the text has at least 64 KiB.
  void hand_over() {
    constexpr std::size_t read_bytes = 64 << 10;
    if (text_.size() < read_bytes) return;
    read_(text_);
    text_.clear();
  }

  const Plan& plan_;
  const WrapperKinds& kinds_;
  const TextReader& read_;
  std::string text_;
  const WrapperKind* last_kind_ = nullptr;
  const Plan::PlanWrapper* last_in_place_ = nullptr;
  std::string in_place_text_;     ///< printed text of the wrapper last_in_place_
  std::vector<bool> is_meeting_;  ///< whether several paths enter a stage, by stage index
  /// Printed text of the wrappers from a stage to the end of its paths, keyed by stage. Contains
  /// only stages that several paths enter.
  std::unordered_map<StageId, std::string> ways_below_;
};

void PlanPrinter::print_run() {
  MapBuilder network;
  network.add("transport", std::string(plan_.transport->word));
  network.add("connection", plan_.connection == Plan::Connection::per_path ? "per_path" : "shared");
  if (plan_.security_written) network.add("security", print_security(plan_));
  if (!plan_.protected_links.empty()) network.add("protected", print_protected_links(plan_));
  if (plan_.is_behind_nat) network.add("behind", "nat");
  if (plan_.liveness.is_written) network.add("liveness", print_liveness(plan_.liveness));
  add("network", network.done());
  if (plan_.deadline_written) add("deadline", base::format_time(plan_.deadline));
  if (plan_.stack_bytes != 0) add("stack", base::format_bytes(plan_.stack_bytes));
  if (plan_.waiting == runtime::Waiting::sleep) add("waiting", "sleep");
  if (!plan_.shared_memory) add("shared_memory", "false");
  if (plan_.requires_shared_memory) add("shared_memory", "true");
  if (const Settings spaces = print_shared_spaces(plan_); !spaces.entries().empty())
    add("shared_spaces", spaces);
  if (plan_.lanes.is_written) add("lanes", print_lanes(plan_));
  if (plan_.decisions) add("decisions", plan_.decisions->settings());
  if (plan_.costs) add("costs", tuning::settings_of(*plan_.costs));
}

void PlanPrinter::print_hosts() {
  bool is_first = true;
  for (const Plan::PlanHost& host : plan_.hosts) {
    const std::string threads = std::to_string(host.threads);
    const std::string speed = fmt::format("{}", host.speed);
    const std::string groups = fmt::format("{}", fmt::join(host.groups, "/"));
    Words words = {{"cluster", plan_.clusters[host.cluster]}};
    if (host.threads > 0) words.emplace_back("threads", threads);
    if (host.speed != 1.0) words.emplace_back("speed", speed);
    words.emplace_back("address", host.address);
    if (!host.groups.empty()) words.emplace_back("groups", groups);
    add_to("hosts", is_first, host.name, words, Settings());
  }
  if (is_first) add("hosts", Settings::map({}));
}

void PlanPrinter::print_elements() {
  bool is_first = true;
  for (const Plan::PlanElement& element : plan_.elements) {
    const std::string tuple = element.tuple_template.text();
    const std::string delta = std::to_string(element.delta);
    const std::string keep_newest = std::to_string(element.keep_newest);
    Words words = {{"host", plan_.hosts[element.host].name}, {"template", tuple}};
    if (element.delta > 0) words.emplace_back("delta", delta);
    if (element.keep_newest > 0) words.emplace_back("keep_newest", keep_newest);
    MapBuilder more;
    if (element.shared) more.add("shared", print_sizes(*element.shared));
    add_to("elements", is_first, element.name, words, more.done());
  }
  if (is_first) add("elements", Settings::map({}));
}

void PlanPrinter::print_wrappers() {
  bool is_first = true;
  for (const Plan::PlanWrapper& wrapper : plan_.wrappers) {
    if (wrapper.name.empty()) continue;
    const std::array<base::PrintedWord, 2> words = {
        {{"kind", wrapper.kind}, {"host", plan_.hosts[wrapper.host].name}}};
    add_to("wrappers", is_first, wrapper.name, words, map_of(wrapper));
  }
  if (is_first) add("wrappers", Settings::map({}));
}

/// Prints the graphs, except graphs of which only the name is known.
void PlanPrinter::print_graphs() {
  bool is_first = true;
  for (const Plan::PlanGraph& graph : plan_.graphs) {
    if (graph.kind.empty()) continue;
    Words words = {{"kind", graph.kind}};
    if (graph.of != graph.name) words.emplace_back("of", graph.of);
    if (!graph.algorithm.empty()) words.emplace_back("algorithm", graph.algorithm);
    MapBuilder more;
    for (const auto& [key, value] : graph.settings.entries()) more.add(key.text(), value);
    if (!graph.condition.is_null()) more.add("condition", graph.condition);
    add_to("graphs", is_first, graph.name, words, more.done());
  }
}

void PlanPrinter::print_paths() {
  if (plan_.paths.empty()) return add("paths", Settings::list({}));
  find_meetings();
  text_ += "paths:\n";
  for (const Plan::PlanPath& path : plan_.paths) {
    print_path(path);
    hand_over();
  }
}

/// Finds the stages where paths meet. The wrappers from such a stage down are the same for all
/// paths through the stage. Their text is most of the output, and is made only once.
void PlanPrinter::find_meetings() {
  std::vector<bool> is_entered(plan_.stages.size());
  is_meeting_.assign(plan_.stages.size(), false);
  const auto enter = [&](StageId stage) {
    if (stage == no_stage) return;
    if (is_entered[stage]) is_meeting_[stage] = true;
    is_entered[stage] = true;
  };
  for (const Plan::PlanPath& path : plan_.paths) enter(path.stage);
  for (const Plan::PlanStage& stage : plan_.stages) enter(stage.below);
}

void PlanPrinter::print_path(const Plan::PlanPath& path) {
  text_ += "  - graph: ";
  base::print_word(text_, path.graph);
  text_ += "\n    host: ";
  base::print_word(text_, plan_.hosts[path.host].name);
  if (path.threads > 0) text_ += "\n    threads: " + std::to_string(path.first_thread);
  if (path.threads > 1) text_ += "-" + std::to_string(path.first_thread + path.threads - 1);
  text_ += "\n    ";
  if (is_list_of_words(path.stage)) {
    std::vector<Settings> through;
    for (StageId stage = path.stage; stage != no_stage; stage = plan_.stages[stage].below)
      through.push_back(word(plan_.wrappers[plan_.stages[stage].wrapper].name));
    base::print_entry(text_, "through", {}, Settings::list(std::move(through)), 4);
  } else {
    text_ += "through:\n";
    print_way(path.stage);
  }
}

/// Returns whether the wrappers from the stage down can be printed as a list of names. Each wrapper
/// must then have a name and no role.
bool PlanPrinter::is_list_of_words(StageId stage) {
  for (; stage != no_stage; stage = plan_.stages[stage].below)
    if (plan_.wrappers[plan_.stages[stage].wrapper].name.empty() || role_of(plan_.stages[stage]))
      return false;
  return true;
}

void PlanPrinter::print_way(StageId stage) {
  for (; stage != no_stage; stage = plan_.stages[stage].below) {
    if (!is_meeting_[stage]) {
      print_stage(stage);
      continue;
    }
    auto below = ways_below_.find(stage);
    if (below == ways_below_.end()) {
      std::string above = std::exchange(text_, {});
      print_stage(stage);
      print_way(plan_.stages[stage].below);
      below = ways_below_.emplace(stage, std::exchange(text_, std::move(above))).first;
    }
    text_ += below->second;
    return;
  }
}

/// Returns the word for the role of the stage; nullptr if the stage has no role.
const std::string* PlanPrinter::role_of(const Plan::PlanStage& stage) {
  const std::string& kind = plan_.wrappers[stage.wrapper].kind;
  if (last_kind_ == nullptr || last_kind_->name != kind) last_kind_ = kinds_.find(kind);
  const bool has_roles = last_kind_ != nullptr && !last_kind_->roles.empty();
  return has_roles ? &last_kind_->roles.at(stage.role) : nullptr;
}

void PlanPrinter::print_stage(StageId id) {
  const Plan::PlanStage& stage = plan_.stages[id];
  const Plan::PlanWrapper& wrapper = plan_.wrappers[stage.wrapper];
  text_ += "      ";
  if (wrapper.name.empty()) {
    // Consecutive paths often cross to the same host with equal settings, so the text of the
    // wrapper is reused.
    if (last_in_place_ == nullptr || last_in_place_->kind != wrapper.kind ||
        last_in_place_->settings.identity() != wrapper.settings.identity()) {
      last_in_place_ = &wrapper;
      in_place_text_ = "- ";
      base::print_entry(in_place_text_, wrapper.kind, {}, map_of(wrapper), 8);
    }
    text_ += in_place_text_;
  } else if (const std::string* role = role_of(stage)) {
    const base::PrintedWord entry(wrapper.name, *role);
    base::print_item(text_, {&entry, 1}, Settings(), 6);
  } else {
    base::print_item(text_, {}, word(wrapper.name), 6);
  }
}

}  // namespace

void print_plan(const Plan& plan, const WrapperKinds& kinds, const TextReader& read) {
  PlanPrinter(plan, kinds, read).run();
}

std::string print_plan(const Plan& plan, const WrapperKinds& kinds) {
  std::string text;
  print_plan(plan, kinds, [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace paths
