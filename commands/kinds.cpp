// SPDX-License-Identifier: Apache-2.0
// commands/kinds.cpp — `paths kinds`: the reference of wrappers, from their own descriptions.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/near_match.hpp"
#include "commands/commands.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

using paths::SettingHelp;
using paths::WrapperKind;

/// What the kind does to the path it stands on.
std::string character(const WrapperKind& kind) {
  std::string text;
  if (kind.begins()) text += "Begins a path that has no thread. ";
  if (kind.joins()) text += "Joins: paths that meet in it share everything below. ";
  if (kind.crosses()) text += "The path goes on at the host named by `to`. ";
  if (kind.ends()) text += "Ends a path. ";
  if (!kind.roles.empty())
    text += fmt::format("A path writes `name: role`; roles: {}. ", fmt::join(kind.roles, ", "));
  if (!text.empty()) text.pop_back();
  return text;
}

void print_text(const WrapperKind& kind) {
  std::cout << fmt::format("{}\n  {}\n", kind.name, kind.help);
  if (const std::string more = character(kind); !more.empty()) std::cout << "  " << more << '\n';
  std::size_t width = 0;
  for (const SettingHelp& setting : kind.settings) width = std::max(width, setting.name.size());
  for (const SettingHelp& setting : kind.settings) {
    const std::string fallback =
        setting.fallback == "required" ? "required" : "default " + setting.fallback;
    std::cout << fmt::format("    {:<{}}  {} ({}, {})\n", setting.name, width, setting.help,
                             setting.type, fallback);
  }
  std::cout << '\n';
}

void print_markdown(const WrapperKind& kind) {
  std::cout << fmt::format("### {}\n\n{}", kind.name, kind.help);
  if (const std::string more = character(kind); !more.empty()) std::cout << ' ' << more;
  std::cout << "\n\n";
  if (kind.settings.empty()) return;
  std::cout << "| setting | type | default | |\n| --- | --- | --- | --- |\n";
  for (const SettingHelp& setting : kind.settings)
    std::cout << fmt::format("| `{}` | {} | {} | {} |\n", setting.name, setting.type,
                             setting.fallback, setting.help);
  std::cout << '\n';
}

struct KindsOptions {
  std::vector<std::string> names;
  std::string format = "text";
};

void print_kinds(const KindsOptions& options) {
  const paths::WrapperKinds& kinds = wrappers::all_kinds();
  for (const std::string& name : options.names) {
    if (kinds.find(name) != nullptr) continue;
    const auto near = base::near_match(name, kinds.names());
    throw std::invalid_argument(
        fmt::format("expected {}, found '{}'{}", base::either_of(kinds.names()), name,
                    near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }
  for (const WrapperKind& kind : kinds.all()) {
    const bool is_asked = std::count(options.names.begin(), options.names.end(), kind.name) > 0;
    if (!options.names.empty() && !is_asked) continue;
    options.format == "markdown" ? print_markdown(kind) : print_text(kind);
  }
}

}  // namespace

void add_kinds_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KindsOptions>();
  CLI::App* command =
      app.add_subcommand("kinds", "Describe the kinds of wrappers and their settings");
  command->add_option("KIND", options->names, "only these");
  command->add_option("--format", options->format, "text or markdown")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "markdown"}));
  set_examples(*command,
               "  paths kinds\n"
               "  paths kinds emulate_link forward\n");
  command->callback([options, &exit_code] {
    print_kinds(*options);
    exit_code = succeeded;
  });
}

}  // namespace commands
