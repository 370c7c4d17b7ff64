// SPDX-License-Identifier: Apache-2.0
// commands/kinds.cpp — `paths kinds`: reference of wrappers, collectives and algorithms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "base/near_match.hpp"
#include "collectives/algorithms/all.hpp"
#include "commands/commands.hpp"
#include "paths/config/algorithm.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

using paths::AlgorithmWord;
using paths::SettingHelp;
using paths::TransferWord;
using paths::WrapperKind;

/// An entry of the reference that `paths kinds` prints: a wrapper, collective or algorithm.
struct Described {
  std::string group;  ///< heading such as "Wrappers"
  std::string name;
  std::string help;  ///< description in full sentences
  std::vector<SettingHelp> settings;
};

/// Returns sentences about the effect of a kind of wrapper on its path.
std::string character(const WrapperKind& kind) {
  std::string text;
  if (kind.drives_own_path()) text += " Begins a path without a thread.";
  if (kind.joins()) text += " Joins: paths that meet in it share everything below.";
  if (kind.crosses()) text += " The path continues at the host named by `to`.";
  if (kind.ends()) text += " Ends a path.";
  if (!kind.roles.empty())
    text += fmt::format(" A path writes `name: role`; roles: {}.", fmt::join(kind.roles, ", "));
  return text;
}

/// Returns a text that lists the collectives and settings that a config may combine with a value of
/// its key `algorithm`.
std::string combinations(const AlgorithmWord& word) {
  std::string text;
  if (!word.collectives.empty())
    text += fmt::format(" For collectives of kind {}.", fmt::join(word.collectives, ", "));
  std::vector<std::string_view> graphs;
  if (word.over_tree) graphs.emplace_back("tree");
  if (word.over_all_to_all) graphs.emplace_back("all_to_all");
  if (!graphs.empty())
    text += fmt::format(" Graph: {}{}.", fmt::join(graphs, " or "),
                        graphs.size() > 1 ? " (default)" : "");
  if (!word.transfers.empty())
    text +=
        fmt::format(" Transfer: {} (default: {}).", fmt::join(word.transfers, ", "), word.transfer);
  if (word.needs_proof) text += " Needs a condition that a part of the values can decide.";
  return text;
}

std::vector<Described> all_described() {
  std::vector<Described> all;
  for (const WrapperKind& kind : wrappers::all_kinds().all())
    all.push_back({"Wrappers", kind.name, kind.help + character(kind), kind.settings});
  for (const WrapperKind& kind : wrappers::all_kinds().all())
    if (kind.collective)
      all.push_back({"Collectives", kind.name, kind.collective->help, kind.collective->settings});
  for (const AlgorithmWord& word : paths::algorithm_words())
    all.push_back({"Algorithms", word.name, word.help + combinations(word), word.settings});
  for (const TransferWord& word : paths::transfer_words())
    all.push_back({"Transfers", word.name, word.help, word.settings});
  return all;
}

void print_text(const Described& one) {
  std::cout << fmt::format("{}\n  {}\n", one.name, one.help);
  std::size_t width = 0;
  for (const SettingHelp& setting : one.settings) width = std::max(width, setting.name.size());
  for (const SettingHelp& setting : one.settings) {
    const std::string fallback =
        setting.fallback == "required" ? "required" : "default " + setting.fallback;
    std::cout << fmt::format("    {:<{}}  {} ({}, {})\n", setting.name, width, setting.help,
                             setting.type, fallback);
  }
  std::cout << '\n';
}

void print_markdown(const Described& one) {
  std::cout << fmt::format("### {}\n\n{}\n\n", one.name, one.help);
  if (one.settings.empty()) return;
  std::cout << "| setting | type | default | |\n| --- | --- | --- | --- |\n";
  for (const SettingHelp& setting : one.settings)
    std::cout << fmt::format("| `{}` | {} | {} | {} |\n", setting.name, setting.type,
                             setting.fallback, setting.help);
  std::cout << '\n';
}

using Json = nlohmann::ordered_json;

template <class Word>
Json described_json(const Word& word) {
  Json settings = Json::array();
  for (const SettingHelp& setting : word.settings)
    settings.push_back({{"name", setting.name},
                        {"type", setting.type},
                        {"fallback", setting.fallback},
                        {"help", setting.help}});
  return {{"help", word.help}, {"settings", settings}};
}

/// If the word stands for any schedule, returns the names of all schedules that a config may have
/// as its value of the key `algorithm`. Otherwise returns an empty list.
std::vector<std::string> schedules_of(const AlgorithmWord& word) {
  std::vector<std::string> names;
  for (const collectives::Algorithm& one : collectives::all_algorithms())
    if (&word == paths::schedule_word() && one.does(collectives::Collective::allreduce))
      names.push_back(one.name);
  return names;
}

/// Prints the input of scripts/schema.py, which generates the schema of the config.
void print_json() {
  Json all = {{"wrappers", Json::object()},
              {"collectives", Json::object()},
              {"algorithms", Json::object()},
              {"transfers", Json::object()}};
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    Json& json = all["wrappers"][kind.name] = described_json(kind);
    json["job"] = eventspace::job_name(kind.job);
    json["roles"] = kind.roles;
    if (!kind.collective) continue;
    Json& collective = all["collectives"][kind.name] = described_json(*kind.collective);
    collective["has_algorithms"] = paths::has_algorithms(kind.name);
  }
  for (const AlgorithmWord& word : paths::algorithm_words()) {
    Json& json = all["algorithms"][word.name] = described_json(word);
    json["relaxation"] = word.relaxation;
    json["transfers"] = word.transfers;
    json["schedules"] = schedules_of(word);
  }
  for (const TransferWord& word : paths::transfer_words())
    all["transfers"][word.name] = described_json(word);
  all["transports"] = base::transport_words();
  std::cout << all.dump(1) << '\n';
}

struct KindsOptions {
  std::vector<std::string> names;
  std::string format = "text";
};

void print_kinds(const KindsOptions& options) {
  const std::vector<Described> all = all_described();
  const std::set<std::string> asked(options.names.begin(), options.names.end());
  std::vector<std::string_view> known;
  for (const Described& one : all)
    if (std::count(known.begin(), known.end(), one.name) == 0) known.push_back(one.name);
  for (const std::string& name : asked) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    throw std::invalid_argument(base::not_one_of(name, known));
  }
  if (options.format == "json") return print_json();
  const bool is_markdown = options.format == "markdown";
  std::string group;
  for (const Described& one : all) {
    if (!asked.empty() && !asked.contains(one.name)) continue;
    if (group != one.group) std::cout << (is_markdown ? "## " : "") << one.group << "\n\n";
    group = one.group;
    is_markdown ? print_markdown(one) : print_text(one);
  }
}

}  // namespace

void add_kinds_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KindsOptions>();
  CLI::App* command = app.add_subcommand(
      "kinds", "Describe the kinds of wrappers and collectives, and the words of algorithms");
  command->add_option("KIND", options->names, "only these");
  command->add_option("--format", options->format, "text, markdown, or json of all")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  set_examples(*command,
               "  paths kinds\n"
               "  paths kinds emulate_link conditional\n");
  command->callback([options, &exit_code] {
    print_kinds(*options);
    exit_code = succeeded;
  });
}

}  // namespace commands
