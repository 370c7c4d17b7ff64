// SPDX-License-Identifier: Apache-2.0
// commands/run.cpp — `paths run`: a config's hosts as processes of this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "commands/commands.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/launch.hpp"
#include "paths/run/needs.hpp"
#include "paths/run/run_switch.hpp"
#include "paths/wire/socket_folder.hpp"
#include "runtime/runtime.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
  throw base::ConfigError({{base::Position{place, 0, 0}, message}});
}

std::string found_program(const std::string& name) {
  if (const auto file = paths::find_program(name)) return *file;
  if (name.find('/') != std::string::npos)
    refuse("command line", fmt::format("expected a program, but '{}' is none", name));
  const std::vector<std::string> beside = paths::programs_beside();
  const std::vector<std::string_view> names(beside.begin(), beside.end());
  std::optional<std::string> near;
  if (const auto beside_us = base::near_match(name, names)) near = *beside_us;
  if (const std::string here = "./" + name; paths::find_program(here)) near = here;
  refuse("command line", fmt::format("expected a program beside paths or in PATH, found no '{}'{}",
                                     name, near ? fmt::format("; did you mean '{}'?", *near) : ""));
}

/// What paths::main() of the program reads. Every variable is set, so that none is inherited from
/// a shell; empty means not given.
std::vector<std::pair<std::string, std::string>> variables(const RunOptions& options,
                                                           const std::string& host,
                                                           const std::string& run = "",
                                                           const std::string& sockets = "") {
  const paths::Overrides& overrides = options.overrides;
  const auto& instrument = overrides.instrument;
  return {
      {"PATHS_CONFIG", std::filesystem::absolute(options.file).string()},
      {"PATHS_CLOCK", options.clock},
      {"PATHS_HOST", host},
      {"PATHS_RUN", run},
      {"PATHS_ALGORITHM", overrides.algorithm.value_or("")},
      {"PATHS_ROOT", overrides.root.value_or("")},
      {"PATHS_INSTRUMENT", instrument ? (*instrument ? "1" : "0") : ""},
      {"PATHS_TRACE",
       options.trace.empty() ? "" : std::filesystem::absolute(options.trace).string()},
      {"PATHS_PORT", overrides.port ? std::to_string(*overrides.port) : ""},
      {"PATHS_TRANSPORT", overrides.transport.value_or("")},
      {"PATHS_SOCKETS", sockets},
      {"PATHS_STACK", overrides.stack.value_or("")},
  };
}

/// All hosts in one process, which takes our place.
[[noreturn]] void run_virtual(const RunOptions& options, std::vector<std::string> words) {
  paths::Launch process;
  process.command = std::move(words);
  process.variables = variables(options, "");
  throw std::runtime_error(paths::become(process));
}

/// Which run the processes belong to. Where others of it are started elsewhere, who starts them all
/// says it, or nobody does.
std::string run_id(bool is_whole_run) {
  if (const char* given = std::getenv("PATHS_RUN"); given != nullptr && *given != 0) return given;
  if (!is_whole_run) return {};
  return fmt::format("{} {}", runtime::Runtime().utc_at_zero().count(), getpid());
}

/// By this program.
paths::Launch switch_process(const RunOptions& options, const paths::Plan& plan,
                             std::uint32_t cluster, const std::string& run,
                             const std::string& sockets) {
  paths::Launch process;
  process.host = paths::place_name(plan, paths::switch_number(plan, cluster));
  process.is_host = false;
  process.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "switch",
                     std::filesystem::absolute(options.file).string(), plan.clusters[cluster]};
  process.variables = variables(options, process.host, run, sockets);
  return process;
}

int run_steady(const RunOptions& options, const paths::Plan& plan,
               const std::vector<std::string>& words) {
  const auto hosts = paths::hosts_on_this_machine(plan);
  if (hosts.empty())
    refuse(options.file, "none of its hosts has an address of this machine: nothing to run here");
  paths::check_needs(plan, hosts);
  std::vector<paths::Launch> processes;
  std::vector<std::string> addresses;
  std::optional<paths::RunFolder> sockets;
  if (plan.transport == paths::Plan::Transport::ipc) sockets.emplace();
  const std::string id = run_id(hosts.size() == plan.hosts.size());
  const std::string folder = sockets ? sockets->path().string() : "";
  const auto is_file = [](const std::string& address) { return address.starts_with("ipc:///"); };
  for (const std::uint32_t host : hosts) {
    paths::Launch process;
    process.host = plan.hosts[host].name;
    process.command = words;
    process.variables = variables(options, process.host, id, folder);
    if (is_file(plan.hosts[host].address)) addresses.push_back(plan.hosts[host].address);
    // The first host of the config reports, so a table of it stays a table.
    process.plain = host == 0 || hosts.size() == 1;
    processes.push_back(std::move(process));
  }
  for (const std::uint32_t cluster : paths::switches_beside(plan, hosts)) {
    processes.push_back(switch_process(options, plan, cluster, id, folder));
    const std::string address = paths::switch_address(plan, cluster);
    if (is_file(address)) addresses.push_back(address);
  }
  const paths::SocketCleaner cleaner(std::move(addresses));
  return paths::launch(processes);
}

}  // namespace

int run_hosts(RunOptions& options) {
  options.overrides.traced = !options.trace.empty();
  // Mistakes in the config are said once and before anything has started.
  const paths::Plan plan = paths::load_plan(options.file, wrappers::all_kinds(), options.overrides);
  std::vector<std::string> words = options.program;
  words[0] = found_program(words[0]);
  if (options.clock == "virtual") run_virtual(options, std::move(words));
  return run_steady(options, plan, words);
}

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a program on every host of a config that belongs on this machine: each host is a\n"
      "process, the first one that fails stops all. Lines of all but the config's first host\n"
      "are shown as 'host| line'.");
  command->add_option("FILE", options->file, "a config of either level")->required();
  command
      ->add_option("PROGRAM", options->program,
                   "after --: a program beside paths or in PATH, and its arguments")
      ->required();
  command
      ->add_option("--clock", options->clock,
                   "steady: real time and processes; virtual: all hosts simulated in one process")
      ->type_name("NAME")
      ->check(CLI::IsMember({"steady", "virtual"}))
      ->capture_default_str();
  command
      ->add_option("--trace", options->trace,
                   "a directory to write a trace into, for `paths analyze`; puts event collectors\n"
                   "around every wrapper unless the config says otherwise")
      ->type_name("DIR");
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths run configs/one-host.yaml -- noise_allreduce --iterations 100\n"
               "  paths run configs/multicluster.yaml --clock virtual -- noise_allreduce\n"
               "\nOn several machines, start the program on each with ssh, Slurm or an MPI\n"
               "launcher, or `paths run` once per machine.");
  command->callback([options, &exit_code] { exit_code = run_hosts(*options); });
}

}  // namespace commands
