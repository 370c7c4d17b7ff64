// SPDX-License-Identifier: Apache-2.0
// commands/show.cpp — `paths show`: a config as a drawing.
#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/drawing.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

struct ShowOptions {
  std::string file;
  std::string format = "text";
  paths::Overrides overrides;
};

int show(const ShowOptions& options) {
  const paths::WrapperKinds& kinds = wrappers::all_kinds();
  const paths::Plan plan = paths::load_plan(options.file, kinds, options.overrides);
  if (options.format == "json") {
    std::cout << draw_json(plan, kinds);
    return succeeded;
  }
  const Drawing drawing = make_drawing(plan, kinds);
  if (options.format == "text") std::cout << draw_text(plan, drawing);
  if (options.format == "dot") std::cout << draw_dot(drawing);
  if (options.format == "svg") std::cout << draw_svg(drawing);
  return succeeded;
}

}  // namespace

void add_show_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Draw the trees that a config declares");
  command->add_option("FILE", options->file, "a config of either level")->required();
  command->add_option("--format", options->format, "text, dot, svg or json")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "dot", "svg", "json"}));
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths show configs/two-clusters.yaml\n"
               "  paths show configs/two-clusters.yaml --algorithm magpie\n"
               "  paths show configs/multicluster-small.yaml --format svg >tree.svg\n");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace commands
