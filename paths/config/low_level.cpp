// SPDX-License-Identifier: Apache-2.0
// paths/config/low_level.cpp — conversion of a low-level config into a plan.
#include "paths/config/low_level.hpp"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <utility>

#include "base/link_model/host_costs.hpp"
#include "base/text_file.hpp"
#include "collectives/tuner/decision_table.hpp"
#include "paths/config/read_liveness.hpp"
#include "paths/config/read_security.hpp"
#include "paths/config/shared_text.hpp"

namespace paths {
namespace {

std::optional<std::uint32_t> read_host(base::MapReader& reader, const Plan& plan) {
  const base::Settings host = reader.take_required("host", "the name of a host");
  if (host.is_null() && !reader.has("host")) return std::nullopt;
  const auto index = plan.host_named(host.text());
  if (!index) reader.mistake("host", not_named("the name of a host", host, names_of(plan.hosts)));
  return index;
}

void read_element(const base::Settings& name, const base::Settings& value, Plan& plan,
                  base::Mistakes& mistakes) {
  Plan::PlanElement element;
  element.name = name.text();
  element.position = name.position();
  base::MapReader reader(value, mistakes, "element " + element.name);
  element.host = read_host(reader, plan).value_or(0);
  const base::Settings written = reader.take_required("template", "a template such as f64");
  std::string wrong;
  if (written.is_scalar()) {
    if (const auto parsed = pastset::Template::parse(written.text(), &wrong))
      element.tuple_template = *parsed;
    else
      reader.mistake("template", wrong);
  } else if (reader.has("template")) {
    reader.mistake("template", "expected a template such as f64, found " + written.describe());
  }
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  element.delta = static_cast<std::uint64_t>(reader.integer("delta", 0, 0, most));
  element.keep_newest = static_cast<std::uint64_t>(reader.integer("keep_newest", 0, 0, most));
  if (element.delta > 0 && element.keep_newest > 0)
    reader.mistake("delta", "an element that keeps only its newest never makes a mover wait");
  read_shared(reader, plan, element);
  reader.finish();
  plan.elements.push_back(std::move(element));
}

void read_elements(const base::Settings& section, Plan& plan, base::Mistakes& mistakes) {
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "an element", mistakes)) read_element(name, value, plan, mistakes);
}

/// Reports that two objects have the same name: `name` and `first`. The parser has already refused
/// repeated keys in the text, but a key in the text may be equal to a generated name.
void refuse_second(std::string_view what, const base::Settings& name, const base::Settings& first,
                   PlanText& text, base::Mistakes& mistakes) {
  mistakes.add(name.position(), fmt::format("a second {} is named {}{}", what, name.text(),
                                            also_at(first.position())));
  text.whole = false;
}

void refuse_repeated(const base::Settings& section, std::string_view what, PlanText& text,
                     base::Mistakes& mistakes) {
  std::unordered_map<std::string_view, const base::Settings*> first;
  for (const auto& [name, value] : section.entries()) {
    const auto [found, is_new] = first.try_emplace(name.text(), &name);
    if (!is_new) refuse_second(what, name, *found->second, text, mistakes);
  }
}

/// Returns the settings that only the wrapper's kind reads: all except `kind`, `host` and
/// `contributors`.
base::Settings own_settings(const base::Settings& map) {
  std::vector<base::Settings::Entry> own;
  for (const auto& entry : map.entries()) {
    const std::string& key = entry.first.text();
    if (key != "kind" && key != "host" && key != "contributors") own.push_back(entry);
  }
  return base::Settings::map(std::move(own), map.position());
}

bool read_wrapper(const base::Settings& name, const base::Settings& value,
                  const WrapperKinds& kinds, Plan& plan, PlanText& text, base::Mistakes& mistakes) {
  if (!value.is_map()) {
    mistakes.add(value.is_null() ? name.position() : value.position(),
                 fmt::format("wrapper {}: expected {{kind: ..., host: ..., settings}}, found {}",
                             name.text(), value.describe()));
    return false;
  }
  // Reads only the settings that all kinds of wrapper have. The other settings are read later, when
  // all hosts and paths have been read.
  std::vector<base::Settings::Entry> common;
  for (const auto& entry : value.entries())
    if (entry.first.text() == "kind" || entry.first.text() == "host") common.push_back(entry);
  base::MapReader reader(base::Settings::map(std::move(common), value.position()), mistakes,
                         "wrapper " + name.text());
  Plan::PlanWrapper wrapper;
  wrapper.name = name.text();
  const base::Settings kind = reader.take_required("kind", "a kind of wrapper");
  wrapper.kind = kind.text();
  const bool known = kinds.find(wrapper.kind) != nullptr;
  if (reader.has("kind") && !known)
    reader.mistake("kind", not_named("a kind of wrapper", kind, kinds.names()));
  const auto host = read_host(reader, plan);
  reader.finish();
  if (!known || !host) return false;
  wrapper.host = *host;
  wrapper.settings = own_settings(value);
  if (const base::Settings* contributors = value.find("contributors"))
    text.contributors.emplace_back(static_cast<std::uint32_t>(plan.wrappers.size()), *contributors);
  plan.wrappers.push_back(std::move(wrapper));
  text.wrappers.push_back(name);
  return true;
}

/// Reads the generated wrappers of `config`, and the wrappers that the user wrote in `section`. A
/// wrapper that cannot be read is left out of the plan.
void read_wrappers(Expansion& config, const base::Settings& section, const WrapperKinds& kinds,
                   Plan& plan, PlanText& text, base::Mistakes& mistakes) {
  const auto leave_out = [&](const base::Settings& name) {
    text.broken.insert(name.text());
    text.whole = false;
  };
  auto& numbers = config.wrapper_numbers;
  for (const auto& [name, value] : section.entries()) {
    const auto found = numbers.find(name.text());
    if (found == numbers.end()) continue;
    refuse_second("wrapper", name, config.wrappers[found->second].name, text, mistakes);
  }
  plan.wrappers.reserve(config.wrappers.size());
  for (Expansion::Wrapper& made : config.wrappers) {
    const auto number = static_cast<std::uint32_t>(plan.wrappers.size());
    const bool is_name = check_name(made.name, "a wrapper", mistakes);
    const auto host =
        is_name ? find_host(config, made.host, plan, made.name.position(), mistakes) : std::nullopt;
    if (!host) {
      numbers.erase(made.name.text());
      leave_out(made.name);
      continue;
    }
    // If an earlier wrapper was left out, this wrapper's index in the plan differs from its index
    // in `config`.
    if (!text.whole) numbers[made.name.text()] = number;
    plan.wrappers.push_back(
        {made.name.text(), std::move(made.kind), *host, std::move(made.settings), 0});
    text.wrappers.push_back(std::move(made.name));
  }
  for (const auto& [name, value] : section.entries()) {
    const auto number = static_cast<std::uint32_t>(plan.wrappers.size());
    if (check_name(name, "a wrapper", mistakes) &&
        read_wrapper(name, value, kinds, plan, text, mistakes))
      numbers.try_emplace(name.text(), number);
    else
      leave_out(name);
  }
}

void read_deadline(base::MapReader& reader, Plan& plan) {
  const auto deadline = reader.time("deadline");
  if (!deadline) return;
  plan.deadline = *deadline;
  plan.deadline_written = true;
  if (plan.deadline <= base::Nanos{0})
    reader.mistake("deadline", fmt::format("expected more than 0, found {}",
                                           reader.take("deadline").describe()));
}

constexpr std::uint64_t stack_bytes_min = std::uint64_t{64} << 10;
constexpr std::uint64_t stack_bytes_max = std::uint64_t{64} << 30;

bool is_stack(std::uint64_t bytes) { return bytes >= stack_bytes_min && bytes <= stack_bytes_max; }

/// Returns the error text for a stack size outside the permitted range.
std::string expected_stack(std::string_view found) {
  return fmt::format("expected a size from {} to {}, found {}", base::format_bytes(stack_bytes_min),
                     base::format_bytes(stack_bytes_max), found);
}

void read_stack(base::MapReader& reader, const Overrides& overrides, Plan& plan,
                base::Mistakes& mistakes) {
  if (reader.has("stack")) {
    const base::Settings written = reader.take("stack");
    plan.stack_bytes = base::parse_bytes(written.text()).value_or(0);
    if (!is_stack(plan.stack_bytes)) reader.mistake("stack", expected_stack(written.describe()));
  }
  if (!overrides.stack) return;
  plan.stack_bytes = base::parse_bytes(*overrides.stack).value_or(0);
  if (!is_stack(plan.stack_bytes))
    mistakes.add({"command line", 0, 0},
                 "--stack: " + expected_stack(fmt::format("'{}'", *overrides.stack)));
}

void read_waiting_and_memory(base::MapReader& reader, Plan& plan) {
  const std::string word = reader.choice("waiting", {"adaptive", "sleep"}, "adaptive");
  plan.waiting = word == "sleep" ? runtime::Waiting::sleep : runtime::Waiting::adaptive;
  plan.shared_memory = reader.flag("shared_memory", true);
  plan.requires_shared_memory = reader.has("shared_memory") && plan.shared_memory;
  read_shared_spaces(reader, plan);
}

/// Adds a mistake of a file that the key `key` of a config names. `named_at` is the position of the
/// file's name. The mistake of a file that cannot be read has no line, and gets this position.
void add_of_file(base::Mistakes& mistakes, const base::Position& named_at, std::string_view key,
                 const base::Mistake& mistake) {
  const auto& [position, message] = mistake;
  if (position.line > 0)
    mistakes.add(position, fmt::format("{}: {}", key, message));
  else
    mistakes.add(named_at, fmt::format("{}: {}: {}", key, position.text(), message));
}

/// Reads the table from which groups take their schedules (key `decisions`). The config contains
/// the table itself, or the name of a file that contains the table.
void read_decisions(base::MapReader& reader, Plan& plan) {
  base::Settings table = reader.take("decisions");
  if (table.is_null()) return;
  if (table.is_scalar()) {
    try {
      table = base::load_settings(base::file_beside(table.text(), table.position().file));
    } catch (const base::ConfigError& error) {
      for (const auto& [position, message] : error.mistakes())
        add_of_file(reader.mistakes(), table.position(), "decisions", {position, message});
      return;
    }
  }
  plan.decisions = std::make_shared<const tuner::DecisionTable>(table, reader.mistakes());
}

/// Reads the costs of hosts (key `costs`). The config contains the costs themselves, or the name of
/// a file that `paths measure` wrote.
void read_costs(base::MapReader& reader, Plan& plan) {
  base::Settings costs = reader.take("costs");
  if (costs.is_null()) return;
  base::Mistakes& mistakes = reader.mistakes();
  std::string file;
  if (const base::Settings* const from = costs.find("from")) {
    base::MapReader inside(costs, mistakes, "costs");
    file = base::file_beside(inside.word("from", ""), from->position().file);
    inside.finish();
    try {
      const base::Settings measured = base::load_settings(file);
      const base::Settings* const found = measured.find("costs");
      if (found == nullptr)
        return mistakes.add(from->position(),
                            fmt::format("costs: expected a file with the key `costs`, as `paths "
                                        "measure` writes it, found {} without it",
                                        file));
      costs = *found;
    } catch (const base::ConfigError& error) {
      for (const auto& [position, message] : error.mistakes())
        add_of_file(mistakes, from->position(), "costs", {position, message});
      return;
    }
  }
  if (!costs.is_map())
    return mistakes.add(costs.position(), "costs: expected a map, found " + costs.describe());
  tuning::HostCosts read = tuning::read_host_costs(costs, mistakes);
  read.file = file;
  read.position = costs.position();
  plan.costs = std::make_shared<const tuning::HostCosts>(std::move(read));
}

}  // namespace

base::Settings take_section(base::MapReader& reader, std::string_view key,
                            base::Settings::Kind kind) {
  base::Settings value = reader.take(key);
  if (!value.is_null() && value.kind() != kind)
    reader.mistake(
        key, fmt::format("expected {}, found {}",
                         kind == base::Settings::Kind::map ? "a map" : "a list", value.describe()));
  return value;
}

std::optional<std::uint32_t> find_host(const Expansion& config, std::uint32_t host,
                                       const Plan& plan, const base::Position& position,
                                       base::Mistakes& mistakes) {
  const base::Settings& name = config.hosts[host];
  if (host < plan.hosts.size() && plan.hosts[host].name == name.text()) return host;
  const auto found = plan.host_named(name.text());
  if (!found)
    mistakes.add(position, "host: " + not_named("the name of a host", name, names_of(plan.hosts)));
  return found;
}

Plan read_low_level(Expansion config, const WrapperKinds& kinds, const Overrides& overrides,
                    PlanText& text, base::Mistakes& mistakes) {
  const base::Settings settings = config.written;
  Plan plan;
  base::MapReader reader(settings, mistakes, "the config");
  // If the section `network` is missing, an empty map at the position of the config replaces it.
  // The position names the config file, from which defaults of the network are derived.
  const base::Settings network = settings.find("network") != nullptr
                                     ? reader.take("network")
                                     : base::Settings::map({}, settings.position());
  read_deadline(reader, plan);
  read_stack(reader, overrides, plan, mistakes);
  read_waiting_and_memory(reader, plan);
  read_decisions(reader, plan);
  read_costs(reader, plan);
  const base::Settings hosts = take_section(reader, "hosts", base::Settings::Kind::map);
  const base::Settings elements = take_section(reader, "elements", base::Settings::Kind::map);
  const base::Settings wrappers = take_section(reader, "wrappers", base::Settings::Kind::map);
  const base::Settings groups = take_section(reader, "groups", base::Settings::Kind::map);
  const base::Settings graphs = take_section(reader, "graphs", base::Settings::Kind::map);
  const base::Settings paths = take_section(reader, "paths", base::Settings::Kind::list);
  if (hosts.entries().empty() && !config.is_partial)
    mistakes.add(settings.position(),
                 "hosts: missing in the config, expected a map of hosts "
                 "(or of clusters, at the high level)");
  refuse_repeated(elements, "element", text, mistakes);
  refuse_repeated(graphs, "graph", text, mistakes);
  read_hosts(hosts, network, plan, overrides, mistakes);
  if (plan.costs && !plan.clusters.empty())
    tuning::check_clusters(*plan.costs, plan.clusters, mistakes);
  if (const base::Settings* const security = network.find("security"); security != nullptr)
    read_host_keys(*security, plan, mistakes);
  read_ways(reader, plan, mistakes);
  read_protected_links(network, plan, mistakes);
  reader.finish();
  read_groups(groups, plan, mistakes);
  read_elements(elements, plan, mistakes);
  plan.index_names();
  read_wrappers(config, wrappers, kinds, plan, text, mistakes);
  finish_liveness(network, plan, mistakes);
  read_paths(std::move(config), paths, kinds, plan, text, mistakes);
  read_graphs(graphs, kinds, plan, text, mistakes);
  give_movers_room(plan);
  return plan;
}

}  // namespace paths
