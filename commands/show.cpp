// SPDX-License-Identifier: Apache-2.0
// commands/show.cpp — `paths show`: drawing of a config or of a schedule on it.
#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/draw_schedule.hpp"
#include "commands/drawing.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

struct ShowOptions {
  std::string file;
  std::string format = "text";
  paths::Overrides overrides;
  ScheduleOptions schedule;
};

/// Draws the schedule of a collective. For this drawing, the options `--algorithm` and `--root`
/// apply to the schedule, not to the config.
int show_schedule(const ShowOptions& options) {
  ScheduleOptions schedule = options.schedule;
  schedule.file = options.file;
  schedule.algorithm = options.overrides.algorithm.value_or("");
  schedule.root = options.overrides.root.value_or("");
  if (options.format != "text")
    throw std::invalid_argument("--format: a schedule is drawn as text, found '" + options.format +
                                "'");
  std::cout << draw_schedule(read_request(schedule, {.algorithm = true}));
  return succeeded;
}

int show(const ShowOptions& options) {
  if (!options.schedule.collective.empty()) return show_schedule(options);
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
  CLI::App* command = app.add_subcommand(
      "show", "Draw the trees that a config declares, or the schedule of a collective");
  command->add_option("FILE", options->file, "a config of either level")->required();
  command->add_option("--format", options->format, "text, dot, svg or json")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "dot", "svg", "json"}));
  add_task_options(*command, options->schedule);
  command->get_option("--collective")
      ->description(
          "draw the schedule of this collective; --algorithm\nis then one of `paths algorithms`, "
          "--root any host");
  for (const char* const option : {"--size", "--element"})
    command->get_option(option)->needs("--collective");
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths show configs/two-clusters.yaml\n"
               "  paths show configs/two-clusters.yaml --algorithm magpie\n"
               "  paths show configs/multicluster-small.yaml --format svg >tree.svg\n"
               "  paths show configs/two-clusters.yaml --collective broadcast --size 1MiB \\\n"
               "      --algorithm multilevel --root b2\n");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace commands
