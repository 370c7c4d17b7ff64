// SPDX-License-Identifier: Apache-2.0
// paths/run/program.cpp — command line of every program over paths.
#include "paths/run/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "base/say.hpp"
#include "base/version.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/keys/key_file.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/command_line.hpp"
#include "paths/run/needs.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {
namespace {

constexpr std::size_t failures_shown_max = 5;

struct CommandLine {
  std::string config;
  std::string clock = "steady";
  std::string host;
  std::uint64_t seed = 1;
  std::string trace;
  std::string run_key;
  Overrides overrides;
};

void add_options(CLI::App& app, CommandLine& line) {
  const std::string common = "Run";
  app.add_option("--config", line.config, "The config: clusters, links, collectives")
      ->envname("PATHS_CONFIG")
      ->required()
      ->group(common);
  app.add_option("--clock", line.clock, "steady: real time; virtual: all hosts in one process")
      ->envname("PATHS_CLOCK")
      ->check(CLI::IsMember({"steady", "virtual"}))
      ->group(common);
  app.add_option("--host", line.host,
                 "Which host of the config this process is; without it, and without a launcher's "
                 "rank in the environment, it is all of them")
      ->group(common);
  app.add_option("--seed", line.seed, "Seed of all random numbers")
      ->envname("PATHS_SEED")
      ->capture_default_str()
      ->group(common);
  app.add_option("--algorithm", line.overrides.algorithm, "Algorithm " + algorithm_help())
      ->envname("PATHS_ALGORITHM")
      ->group(common);
  app.add_option("--root", line.overrides.root,
                 "CLUSTER/HOST of the root of every collective's tree")
      ->envname("PATHS_ROOT")
      ->group(common);
  app.add_option("--instrument", line.overrides.instrument,
                 "Event collectors around every wrapper (1 or 0)")
      ->envname("PATHS_INSTRUMENT")
      ->check(CLI::IsMember({"0", "1"}))
      ->group(common);
  app.add_option(
         "--trace", line.trace,
         "Directory to write a trace into, for `paths analyze`; puts event collectors around "
         "every wrapper unless the config or --instrument says otherwise")
      ->envname("PATHS_TRACE")
      ->group(common);
  app.add_option("--run-key", line.run_key,
                 "File with the key of the run, for processes that `paths run` does not start; "
                 "`paths keygen --run` makes it")
      ->group(common);
  app.add_option("--port", line.overrides.port, "First port to listen on")
      ->envname("PATHS_PORT")
      ->check(CLI::Range(1, 65535))
      ->group(common);
  app.add_option("--transport", line.overrides.transport,
                 fmt::format("{}", fmt::join(base::transport_words(), " or ")))
      ->envname("PATHS_TRANSPORT")
      ->group(common);
  app.add_option("--stack", line.overrides.stack,
                 "Address space of a thread's stack (default: 8MiB; 256KiB if there are more than "
                 "30,000 threads)")
      ->type_name("SIZE")
      ->envname("PATHS_STACK")
      ->group(common);
}

/// Returns the host that this process runs; nullopt if it runs all hosts.
std::optional<std::uint32_t> which_host(const Plan& plan, const CommandLine& line) {
  if (line.clock == "virtual") {
    if (!line.host.empty())
      throw std::invalid_argument("--host: on the virtual clock one process is all hosts");
    return std::nullopt;
  }
  return line.host.empty() ? identity(plan) : host_named(plan, "--host", line.host);
}

int report(const std::vector<std::string>& failures) {
  for (std::size_t i = 0; i < failures.size() && i < failures_shown_max; ++i)
    base::say(failures[i] + '\n');
  if (failures.size() > failures_shown_max)
    base::say(fmt::format("and {} more threads\n", failures.size() - failures_shown_max));
  return failures.empty() ? 0 : exit_failed;
}

/// Prints a message about the trace. Returns the exit code of the program: a failure if a trace was
/// requested but no record could be written.
int tell_of_trace(const RunOptions& options, const Plan& plan, const std::string& program) {
  const TraceOutcome& outcome = *options.trace.outcome;
  const std::string where =
      options.is_one_host ? fmt::format(" of host {}", plan.hosts[options.host].name) : "";
  if (outcome.written == 0 && outcome.lacking > 0) {
    base::say(fmt::format("{}: not traced: none of the {} records{} could be written\n", program,
                          outcome.lacking, where));
    return exit_failed;
  }
  const auto all = static_cast<double>(outcome.written + outcome.lacking);
  if (outcome.lacking > 0)
    base::say(fmt::format("{}: the trace lacks {} records{}, {:.1f}% of them\n", program,
                          outcome.lacking, where,
                          100 * static_cast<double>(outcome.lacking) / all));
  if (!options.is_one_host || options.host == 0)
    base::say(fmt::format("{}: traced{}; `paths analyze {}` says where the time went\n", program,
                          outcome.lacking > 0 ? " in part" : "", options.trace.directory));
  return 0;
}

int run(CommandLine line, const std::vector<std::string>& words, const WrapperKinds& kinds,
        const Program& program) {
  line.overrides.traced = !line.trace.empty();
  auto plan = std::make_shared<const Plan>(load_plan(line.config, kinds, line.overrides));
  RunOptions options;
  options.clock =
      line.clock == "virtual" ? runtime::ClockKind::virtual_time : runtime::ClockKind::steady;
  options.seed = line.seed;
  options.trace = {line.trace, words};
  options.run_key = find_run_key(line.run_key);
  const auto host = which_host(*plan, line);
  if (line.clock != "virtual" && line.host.empty())
    if (const std::string doubt = doubt_about_identity(*plan); !doubt.empty())
      base::say(fmt::format("{}: {}\n", program.name, doubt));
  options.is_one_host = host && plan->hosts.size() > 1;
  if (host) options.host = *host;
  check_needs(*plan, options);
  if (program.prepare) program.prepare(*plan, options);
  if (!host && plan->hosts.size() > 1 && options.clock == runtime::ClockKind::steady)
    base::say(
        fmt::format("{}: nothing says which host this process is, so it is all {}; `paths run`, "
                    "--host, PATHS_HOST or an MPI launcher would say it\n",
                    program.name, plan->hosts.size()));
  const int code = report(run_plan(plan, kinds, options, program.thread, program.finish));
  if (code != 0 || line.trace.empty()) return code;
  return tell_of_trace(options, *plan, program.name);
}

}  // namespace

int run_program(int argc, char** argv, const WrapperKinds& kinds, const Program& program) {
  runtime::refuse_run_inside_run();
  CLI::App app(program.help, program.name);
  app.set_version_flag("--version", std::string(base::version));
  CommandLine line;
  add_options(app, line);
  if (program.options) program.options(app);
  return run_main(app, argc, argv, [&] { return run(line, {argv, argv + argc}, kinds, program); });
}

}  // namespace paths
