// SPDX-License-Identifier: Apache-2.0
// commands/tune.cpp — `paths tune`: search for the fastest schedules by running them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/errors.hpp"
#include "commands/commands.hpp"
#include "commands/config_copy.hpp"
#include "commands/tuning_run.hpp"
#include "commands/used_sizes.hpp"
#include "groups/selection/network_of.hpp"
#include "wrappers/all.hpp"
#include "wrappers/main.hpp"

namespace commands {
namespace {

/// Internal subcommand that `paths tune` runs as the program of each host.
constexpr const char* tuning_host = "tuning";

struct TuneCommand {
  RunOptions run;
  TuneOptions tune;
  std::string trace;  ///< trace of the run whose sizes are tuned; "" = none
  bool has_companion = false;
};

constexpr std::size_t sizes_max = 12;  // maximum number of sizes that are tuned for a collective

void add_tune_options(CLI::App& command, TuneOptions& options) {
  command
      .add_option("-o,--output", options.output,
                  "table to write, for `decisions: FILE`. An old one\nkeeps its pinned rows")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--collective", options.collectives,
                  "collectives to tune; all but the barrier, if none\nis named")
      ->type_name("NAME");
  command
      .add_option("--sizes", options.sizes,
                  "sizes, each twice the one before. The search is at\nevery third one")
      ->type_name("SIZE:SIZE")
      ->capture_default_str();
  std::string names;
  for (const tuner::Search& one : tuner::all_searches())
    names += (names.empty() ? "" : ", ") + one.name;
  command.add_option("--tuner", options.search, "search: " + names)
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--candidates", options.candidates,
          "schedules among which the search chooses: all, or\ntrees (flat, chain, binary and "
          "binomial)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"all", "trees"}))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "order of the runs")->capture_default_str();
  command.add_flag("--phases", options.has_phases,
                   "with --tuner exhaustive: search at every size, and also on the\nfirst 2, 4, 8 "
                   "and so on hosts");
}

/// Prints the collectives and sizes that the traced run used. For each collective, adds the sizes
/// that took the most time to TuneOptions::cells, but at most `sizes_max` sizes.
/// Throws: std::invalid_argument if the run used nothing that can be tuned.
void take_used_sizes(TuneCommand& command, const paths::Plan& plan) {
  const UsedSizes used = read_used_sizes(command.trace);
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("--only-from {}: {}", command.trace, why));
  };
  if (const std::size_t hosts = groups::participants_of(plan).size(); used.hosts != hosts)
    refuse(fmt::format("expected a trace of {} hosts with threads, found {}", hosts, used.hosts));
  const std::vector<std::string>& names = command.tune.collectives;
  std::map<collectives::Collective, std::size_t> taken;
  std::uint64_t others = 0;
  for (const UsedSize& one : used.sizes) {
    const std::string name(name_of(one.collective));
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (++taken[one.collective] > sizes_max) {
      others += one.operations;
      continue;
    }
    command.tune.cells.push_back(fmt::format("{}:{}", name, one.bytes));
    fmt::print("{}{}: {} operations, {:.3f} s\n", name,
               one.bytes > 0 ? " of " + base::format_bytes(one.bytes) : "", one.operations,
               std::chrono::duration<double>(one.time).count());
  }
  if (others > 0)
    fmt::print("{} operations of other sizes are not tuned: a collective has more than {} sizes\n",
               others, sizes_max);
  if (used.of_parts > 0)
    fmt::print("{} operations of groups of some of the hosts are not tuned\n", used.of_parts);
  std::fflush(stdout);  // before the processes of the hosts print
  if (command.tune.cells.empty())
    refuse(fmt::format("expected operations of groups of all hosts{}, found none",
                       names.empty() ? "" : ", by the named collectives"));
}

/// Throws: ConfigError if a program is given without `--under`, `--under` without a program, or
///         both on the virtual clock.
void check_companion(const TuneCommand& command) {
  const std::vector<std::string>& program = command.run.companion;
  const auto refuse = [](const std::string& why) {
    throw base::ConfigError({{base::Position{"command line", 0, 0}, why}});
  };
  if (!command.has_companion && !program.empty())
    refuse(
        fmt::format("expected one config, found '{}', too; --under runs a program next to each "
                    "host",
                    program.front()));
  if (command.has_companion && program.empty())
    refuse("--under: expected a program and its arguments, such as: --under -- PROGRAM --size 8");
  if (command.has_companion && command.run.clock == "virtual")
    refuse(
        "--under: expected the steady clock, because the time of another program has no effect "
        "on the virtual clock");
}

/// Checks the options before any host starts. Without this check, each host would report the same
/// mistakes.
void check_options(TuneCommand& command, const base::Settings& config) {
  const paths::Plan plan = paths::read_plan(config, wrappers::all_kinds(), command.run.overrides);
  try {
    if (!command.trace.empty()) take_used_sizes(command, plan);
    TuningRun(command.tune).check(plan);
  } catch (const std::invalid_argument& wrong) {
    throw base::ConfigError({{base::Position{"command line", 0, 0}, wrong.what()}});
  }
}

int tune(TuneCommand& command) {
  check_companion(command);
  command.tune.under = fmt::format("{}", fmt::join(command.run.companion, " "));
  const ConfigCopy copy(command.run.file);
  check_options(command, copy.settings());
  command.run.file = copy.file();
  std::vector<std::string>& words = command.run.program;
  words = {std::filesystem::read_symlink("/proc/self/exe").string(),
           tuning_host,
           "--output",
           command.tune.output,
           "--sizes",
           command.tune.sizes,
           "--tuner",
           command.tune.search,
           "--candidates",
           command.tune.candidates,
           "--seed",
           std::to_string(command.tune.seed)};
  for (const std::string& collective : command.tune.collectives) {
    words.emplace_back("--collective");
    words.push_back(collective);
  }
  for (const std::string& cell : command.tune.cells) {
    words.emplace_back("--cell");
    words.push_back(cell);
  }
  if (command.tune.has_phases) words.emplace_back("--phases");
  if (!command.tune.under.empty()) words.push_back("--under=" + command.tune.under);
  return run_hosts(command.run);
}

/// Runs one host's part of the tuning. `paths run` starts this program in the same way as an
/// application.
int tune_as_host(const TuneOptions& options) {
  TuningRun tuning(options);
  paths::Program program;
  program.name = "tune";
  program.help = "One host's part of `paths tune`.";
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    tuning.prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { tuning.run(thread); };
  program.finish = [&](const paths::RunSummary& run) { tuning.finish(run); };
  std::string name = program.name;
  char* words[] = {name.data(), nullptr};
  return paths::main(1, words, program);
}

void add_tuning_host_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand(tuning_host, "One host's part of `paths tune`.");
  command->group("");  // hides the command in the help
  add_tune_options(*command, *options);
  command->add_option("--cell", options->cells, "collective with one size in bytes");
  command->add_option("--under", options->under, "program that runs next to each host");
  command->callback([options, &exit_code] { exit_code = tune_as_host(*options); });
}

}  // namespace

void add_tune_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command = app.add_subcommand(
      "tune",
      "Find the fastest schedule of each collective and size by running schedules on the "
      "hosts\nof a config, and write them to a table. A run that was ended continues.");
  command->add_option("FILE", options->run.file, "a config of either level")->required();
  add_tune_options(*command, options->tune);
  command
      ->add_option("--clock", options->run.clock,
                   "steady: real time and processes; virtual: one exact\nrun of each schedule")
      ->type_name("NAME")
      ->check(CLI::IsMember({"steady", "virtual"}))
      ->capture_default_str();
  command
      ->add_option("--only-from", options->trace,
                   "tune only the collectives and sizes that this traced run used, the\nmost "
                   "expensive collective first")
      ->type_name("TRACE")
      ->excludes("--sizes");
  command->add_flag("--under", options->has_companion,
                    "run PROGRAM next to each host during all measurements. It is started\n"
                    "again when it ends, and stopped at the end");
  command->add_option("PROGRAM", options->run.companion,
                      "with --under, after --: a program next to paths or in PATH, and\n"
                      "its arguments");
  add_run_key_option(*command, options->run.run_key);
  add_override_options(*command, options->run.overrides);
  set_examples(*command,
               "  paths tune configs/two-by-four.yaml -o decisions.yaml --clock virtual\n"
               "  paths tune configs/two-by-four.yaml -o decisions.yaml --collective allreduce "
               "--sizes 8B:64KiB\n"
               "  paths tune configs/two-by-four.yaml -o decisions.yaml --only-from TRACE\n");
  command->callback([options, &exit_code] { exit_code = tune(*options); });
  add_tuning_host_command(app, exit_code);
}

}  // namespace commands
