// SPDX-License-Identifier: Apache-2.0
// commands/measure.cpp — `paths measure`: measurement of the links between a config's hosts.

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/errors.hpp"
#include "commands/commands.hpp"
#include "commands/config_copy.hpp"
#include "commands/network_measurement.hpp"
#include "wrappers/all.hpp"
#include "wrappers/main.hpp"

namespace commands {
namespace {

/// Internal subcommand that `paths measure` runs as the program of each host.
constexpr const char* of_host = "measuring";
constexpr std::size_t streams_limit = 1024;

struct MeasureCommand {
  RunOptions run;
  MeasureOptions measure;
};

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  command.add_option("-o,--output", options.output, "file to write, for `links: {from: FILE}`")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--streams", options.streams_most,
                  "greatest number of parallel streams to try between two clusters")
      ->check(CLI::Range(std::size_t{1}, streams_limit))
      ->capture_default_str();
  command.add_flag("--costs", options.has_costs,
                   "also measure the time that hosts spend on messages, folds and copies, for\n"
                   "`costs: {from: FILE}`; done in any case if FILE exists and has costs");
}

/// Checks the config before any host starts. Without this check, each host would report the same
/// mistakes.
void check_config(const MeasureCommand& command, const base::Settings& config) {
  const paths::Plan plan = paths::read_plan(config, wrappers::all_kinds(), command.run.overrides);
  try {
    NetworkMeasurement({"", command.measure.streams_most, command.measure.has_costs})
        .prepare(plan, {.clock = runtime::ClockKind::virtual_time});
  } catch (const std::invalid_argument& wrong) {
    throw base::ConfigError({{base::Position{command.run.file, 0, 0}, wrong.what()}});
  }
}

int measure(MeasureCommand& command) {
  const ConfigCopy copy(command.run.file);
  check_config(command, copy.settings());
  command.run.file = copy.file();
  command.run.program = {std::filesystem::read_symlink("/proc/self/exe").string(),
                         of_host,
                         "--output",
                         command.measure.output,
                         "--streams",
                         std::to_string(command.measure.streams_most)};
  if (command.measure.has_costs) command.run.program.push_back("--costs");
  return run_hosts(command.run);
}

/// Runs one host's part of the measurement. `paths run` starts this program in the same way as an
/// application.
int measure_as_host(const MeasureOptions& options) {
  NetworkMeasurement measurement(options);
  paths::Program program;
  program.name = "measure";
  program.help = "One host's part of `paths measure`.";
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    measurement.prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { measurement.run(thread); };
  program.finish = [&](const paths::RunSummary& run) { measurement.finish(run); };
  std::string name = program.name;
  char* words[] = {name.data(), nullptr};
  return paths::main(1, words, program);
}

void add_host_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MeasureOptions>();
  CLI::App* command = app.add_subcommand(of_host, "One host's part of `paths measure`.");
  command->group("");  // hides the command in the help
  add_measure_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = measure_as_host(*options); });
}

}  // namespace

void add_measure_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MeasureCommand>();
  CLI::App* command = app.add_subcommand(
      "measure",
      "Measure latency, bandwidth and streams of the links between the hosts of a config, "
      "by\nsending over them, and write them to a file. Prints changes if the file exists.");
  command->add_option("FILE", options->run.file, "a config of either level")->required();
  add_measure_options(*command, options->measure);
  command
      ->add_option("--clock", options->run.clock,
                   "steady: real time and processes; virtual: the links as they are emulated")
      ->type_name("NAME")
      ->check(CLI::IsMember({"steady", "virtual"}))
      ->capture_default_str();
  add_run_key_option(*command, options->run.run_key);
  add_override_options(*command, options->run.overrides);
  set_examples(*command,
               "  paths measure configs/three-by-four.yaml -o network.yaml\n"
               "  paths measure configs/three-by-four.yaml --clock virtual -o network.yaml\n"
               "\nOn several machines, once per machine, as `paths run`.");
  command->callback([options, &exit_code] { exit_code = measure(*options); });
  add_host_command(app, exit_code);
}

}  // namespace commands
