// SPDX-License-Identifier: Apache-2.0
// commands/run.cpp — `paths run`: start of a config's hosts as processes of this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/address.hpp"
#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "commands/commands.hpp"
#include "commands/config_copy.hpp"
#include "paths/host/host.hpp"
#include "paths/keys/key_file.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/find_program.hpp"
#include "paths/run/free_ports.hpp"
#include "paths/run/launch.hpp"
#include "paths/run/needs.hpp"
#include "paths/run/process_peers.hpp"
#include "paths/run/run_switch.hpp"
#include "paths/wire/address.hpp"
#include "paths/wire/socket_folder.hpp"
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
  refuse("command line", fmt::format("expected a program next to paths or in PATH, found no '{}'{}",
                                     name, near ? fmt::format("; did you mean '{}'?", *near) : ""));
}

/// Values that all processes of a run get from this process; "" or nullptr = none.
struct Run {
  std::shared_ptr<const paths::RunKey> key;
  std::string sockets, first_port;
};

/// Returns the environment variables that paths::main() of the program reads, with their values.
/// The list contains all such variables, so that the program inherits none of them from a shell. An
/// empty value means that the option was not given.
std::vector<std::pair<std::string, std::string>> variables(const RunOptions& options,
                                                           const std::string& host,
                                                           const Run& run = {}) {
  const paths::Overrides& overrides = options.overrides;
  const auto& instrument = overrides.instrument;
  return {
      {"PATHS_CONFIG", std::filesystem::absolute(options.file).string()},
      {"PATHS_CLOCK", options.clock},
      {"PATHS_HOST", host},
      {"PATHS_ALGORITHM", overrides.algorithm.value_or("")},
      {"PATHS_ROOT", overrides.root.value_or("")},
      {"PATHS_INSTRUMENT", instrument ? (*instrument ? "1" : "0") : ""},
      {"PATHS_TRACE",
       options.trace.empty() ? "" : std::filesystem::absolute(options.trace).string()},
      {"PATHS_PORT", overrides.port ? std::to_string(*overrides.port) : ""},
      {"PATHS_TRANSPORT", overrides.transport.value_or("")},
      {"PATHS_SOCKETS", run.sockets},
      {"PATHS_FIRST_PORT", run.first_port},
      {"PATHS_STACK", overrides.stack.value_or("")},
  };
}

paths::LaunchOptions launch_options(const paths::Plan& plan) {
  paths::LaunchOptions options;
  options.reader_deadline = plan.deadline;
  options.must_join = true;
  return options;
}

/// Runs the program once, in a process that simulates all hosts on the virtual clock.
int run_virtual(const RunOptions& options, const paths::Plan& plan,
                std::vector<std::string> words) {
  paths::Launch process;
  process.command = std::move(words);
  process.variables = variables(options, "");
  process.plain = true;
  return paths::launch({process}, launch_options(plan));
}

/// Returns the run key: the given key, otherwise a new key. If other machines start some hosts,
/// this process cannot choose a new key for all hosts. If no key is given in that case, the result
/// is nullptr.
/// Throws: ConfigError if the run needs a key that this process cannot choose.
std::shared_ptr<const paths::RunKey> key_of_run(const RunOptions& options, const paths::Plan& plan,
                                                std::size_t hosts_here) {
  if (auto given = paths::find_run_key(options.run_key)) return given;
  if (hosts_here == plan.hosts.size())
    return std::make_shared<const paths::RunKey>(paths::Secret::random());
  const bool needs_key = plan.transport->is_network && plan.security == paths::Plan::Security::run;
  if (needs_key) refuse(options.file, paths::no_run_key);
  return nullptr;
}

/// Returns the command that starts the process that emulates a cluster's switch: this program with
/// the subcommand `switch`.
paths::Launch switch_process(const RunOptions& options, const paths::Plan& plan,
                             std::uint32_t cluster, const Run& run) {
  paths::Launch process;
  process.host = paths::place_name(plan, paths::switch_number(plan, cluster));
  process.is_host = false;
  process.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "switch",
                     std::filesystem::absolute(options.file).string(), plan.clusters[cluster]};
  process.variables = variables(options, process.host, run);
  process.run_key = run.key;
  return process;
}

/// Reserves ports that no other run uses. Returns nullopt if the config sets addresses or ports.
/// Also returns nullopt if other machines start some hosts, because these hosts expect the usual
/// ports.
std::optional<paths::FreePorts> ports_of(const paths::Plan& plan, std::size_t hosts_here) {
  if (!plan.are_addresses_usual || hosts_here < plan.hosts.size()) return std::nullopt;
  // The ports of switches follow the ports of hosts, and the ports for protected links follow both.
  const std::size_t places = plan.hosts.size() + plan.clusters.size();
  return paths::FreePorts::take(plan.protected_links.empty() ? places : 2 * places);
}

/// Returns the file of an address; empty if the address is not a file.
std::string file_of(const std::string& address) {
  const auto parts = base::parse_address(address);
  return parts && !parts->transport->is_network ? parts->place : "";
}

/// Returns the length in bytes of the longest name of a socket in the run's folder, without the
/// name of the folder.
std::size_t longest_relative(const paths::Plan& plan) {
  constexpr std::size_t door_of_interface_bytes =
      std::string_view("doors/0123456789abcdef.door").size();
  std::size_t longest = 0;
  const auto note = [&](const std::string& address) {
    if (file_of(address).starts_with('/')) return;
    // The door of a host (its socket for shared memory) has a longer name than its Unix socket.
    const std::size_t bytes = file_of(address).empty()
                                  ? door_of_interface_bytes
                                  : file_of(paths::door_address(address)).size();
    longest = std::max(longest, bytes);
  };
  for (const auto& host : plan.hosts) note(host.address);
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster)
    if (paths::is_switch_emulated(plan, cluster)) note(paths::switch_address(plan, cluster));
  return longest;
}

/// Makes the folder for the sockets of the run. If the addresses are no files,
/// hosts need the folder only for shared memory. If the folder cannot be made in this case, each
/// host later tries to make a folder of its own, and itself reports a failure.
void make_run_folder(const paths::Plan& plan, std::optional<paths::RunFolder>& sockets) {
  const bool needs_files = !plan.transport->is_network;
  if (!needs_files && !plan.shared_memory) return;
  try {
    sockets.emplace(longest_relative(plan));
  } catch (const std::system_error&) {
    if (needs_files) throw;
  }
}

/// Checks before any host starts that all hosts can listen on their addresses. Without this check,
/// each host would report the same mistake.
void check_reachable(const std::string& file, const paths::Plan& plan,
                     const std::vector<std::uint32_t>& hosts) {
  std::vector<std::string> addresses;
  for (const paths::Plan::PlanHost& host : plan.hosts) addresses.push_back(host.address);
  for (const std::uint32_t host : hosts)
    if (const std::string why = paths::unreachable_from_others(addresses[host], addresses);
        !why.empty())
      refuse(file, fmt::format("host {}: cannot listen on {}: {}", plan.hosts[host].name,
                               addresses[host], why));
}

/// Returns the options of launch() for these hosts, with a companion for each host.
paths::LaunchOptions launch_options(const RunOptions& options, const paths::Plan& plan,
                                    const std::vector<std::uint32_t>& hosts) {
  paths::LaunchOptions launching = launch_options(plan);
  if (options.companion.empty()) return launching;
  for (const std::uint32_t host : hosts)
    launching.companions.push_back({.host = plan.hosts[host].name,
                                    .command = options.companion,
                                    .variables = {},
                                    .has_own_group = true});
  return launching;
}

int run_steady(const RunOptions& options, const paths::Plan& plan,
               const std::vector<std::string>& words) {
  const auto hosts = paths::hosts_on_this_machine(plan);
  if (hosts.empty())
    refuse(options.file, "none of its hosts has an address of this machine: nothing to run here");
  check_reachable(options.file, plan, hosts);
  paths::check_needs(plan, hosts);
  const auto ports = ports_of(plan, hosts.size());
  std::vector<paths::Launch> processes;
  std::vector<std::string> addresses;
  std::optional<paths::RunFolder> sockets;
  make_run_folder(plan, sockets);
  const Run run = {key_of_run(options, plan, hosts.size()), sockets ? sockets->path().string() : "",
                   ports ? std::to_string(ports->first()) : ""};
  const auto note_file = [&](const std::string& address) {
    if (!file_of(address).starts_with('/')) return;
    addresses.push_back(address);
    addresses.push_back(paths::door_address(address));
  };
  for (const std::uint32_t host : hosts) {
    paths::Launch process;
    process.host = plan.hosts[host].name;
    process.command = words;
    process.variables = variables(options, process.host, run);
    process.run_key = run.key;
    note_file(plan.hosts[host].address);
    // The first host prints the results. Its output gets no prefix, because a prefix would break
    // the format of the tables.
    process.plain = host == 0 || hosts.size() == 1;
    processes.push_back(std::move(process));
  }
  for (const std::uint32_t cluster : paths::switches_beside(plan, hosts)) {
    processes.push_back(switch_process(options, plan, cluster, run));
    note_file(paths::switch_address(plan, cluster));
  }
  const paths::SocketCleaner cleaner(std::move(addresses));
  return paths::launch(processes, launch_options(options, plan, hosts));
}

}  // namespace

int run_hosts(RunOptions& options) {
  options.overrides.traced = !options.trace.empty();
  const ConfigCopy copy(options.file);
  // Reads the config before any process starts, so that mistakes in the config are reported only
  // once.
  const paths::Plan plan =
      paths::read_plan(copy.settings(), wrappers::all_kinds(), options.overrides);
  options.file = copy.file();
  std::vector<std::string> words = options.program;
  words[0] = found_program(words[0]);
  if (!options.companion.empty()) options.companion[0] = found_program(options.companion[0]);
  if (options.clock == "virtual") {
    paths::find_run_key(options.run_key);  // so that the program does not inherit the key
    return run_virtual(options, plan, std::move(words));
  }
  return run_steady(options, plan, words);
}

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run",
                         "Run a program on every host of a config that belongs to this machine: "
                         "each host is a\nprocess, and the first one that fails stops all. Lines "
                         "of all hosts except the first of\nthe config are shown as 'host| line'.");
  command->add_option("FILE", options->file, "a config of either level")->required();
  command
      ->add_option("PROGRAM", options->program,
                   "after --: a program next to paths or in PATH, and its arguments")
      ->required();
  command
      ->add_option("--clock", options->clock,
                   "steady: real time and processes; virtual: all hosts simulated in one process")
      ->type_name("NAME")
      ->check(CLI::IsMember({"steady", "virtual"}))
      ->capture_default_str();
  command
      ->add_option("--trace", options->trace,
                   "directory to write a trace into, for `paths analyze`; puts event "
                   "collectors\naround every wrapper unless the config says otherwise")
      ->type_name("DIR");
  add_run_key_option(*command, options->run_key);
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths run configs/one-host.yaml -- noise_allreduce --iterations 100\n"
               "  paths run configs/multicluster.yaml --clock virtual -- noise_allreduce\n"
               "\nOn several machines, start the program on each with ssh, Slurm or an MPI\n"
               "launcher, or `paths run` once per machine.");
  command->callback([options, &exit_code] { exit_code = run_hosts(*options); });
}

}  // namespace commands
