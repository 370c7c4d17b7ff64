// SPDX-License-Identifier: Apache-2.0
// commands/switch.cpp — `paths switch`: emulated switch of a cluster as a process.
#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "commands/commands.hpp"
#include "paths/keys/key_file.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/run_switch.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

struct SwitchOptions {
  std::string file;
  std::string cluster;
  std::string run_key;
  paths::Overrides overrides;
};

std::uint32_t cluster_named(const paths::Plan& plan, const std::string& name) {
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster)
    if (plan.clusters[cluster] == name) return cluster;
  const std::vector<std::string_view> names(plan.clusters.begin(), plan.clusters.end());
  throw base::ConfigError({{base::Position{"command line", 0, 0},
                            fmt::format("expected a cluster of the config, found '{}'{}", name,
                                        base::did_you_mean(name, names))}});
}

int run(SwitchOptions& options) {
  // Takes from the environment whether the run is traced. Otherwise the digest of the plan of this
  // process would differ from the digest of the plan of the hosts.
  options.overrides.traced = !paths::environment_variable("PATHS_TRACE").empty();
  const auto plan = std::make_shared<const paths::Plan>(
      paths::load_plan(options.file, wrappers::all_kinds(), options.overrides));
  paths::run_switch(plan, cluster_named(*plan, options.cluster),
                    paths::find_run_key(options.run_key).get());
  return succeeded;
}

}  // namespace

void add_switch_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SwitchOptions>();
  CLI::App* command = app.add_subcommand(
      "switch",
      "Run the emulated switch of a cluster, for hosts that `paths run` does not start: on "
      "the\nmachine of the cluster's first host, until all of its hosts have ended");
  command->add_option("FILE", options->file, "a config of either level")->required();
  command->add_option("CLUSTER", options->cluster, "cluster of the switch")->required();
  add_run_key_option(*command, options->run_key);
  add_override_options(*command, options->overrides);
  for (const char* name : {"algorithm", "root", "instrument", "port", "transport", "stack"}) {
    std::string variable = fmt::format("PATHS_{}", name);
    for (char& letter : variable)
      letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    command->get_option(fmt::format("--{}", name))->envname(variable);
  }
  set_examples(*command, "  paths switch configs/two-by-four.yaml alpha\n");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace commands
