// SPDX-License-Identifier: Apache-2.0
// paths/plan/identity.cpp — host identity from launcher variables, and hosts on this machine.
#include "paths/plan/identity.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "base/address.hpp"
#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "paths/one_machine.hpp"
#include "paths/plan/names.hpp"

namespace paths {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  const bool is_option = where.starts_with("--");
  throw base::ConfigError(
      {{base::Position{is_option ? "command line" : "environment", 0, 0}, where + ": " + message}});
}

std::uint32_t host_numbered(const Plan& plan, const std::string& variable,
                            const std::string& text) {
  const auto number = base::parse_natural(text);
  if (number && *number < plan.hosts.size()) return static_cast<std::uint32_t>(*number);
  refuse(variable, fmt::format("expected the number of a host, 0 to {} in the order of the "
                               "config, found '{}'",
                               plan.hosts.size() - 1, text));
}

bool is_here(const std::string& address, const std::set<std::string>& here) {
  std::string name = base::interface_of(address);
  if (name.empty()) return true;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  if (name == "*" || name.starts_with("127.") || here.contains(name)) return true;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  bool matches = false;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const std::string text = numeric_text(one->ai_addr, one->ai_addrlen);
    matches = matches || text.starts_with("127.") || here.contains(text);
  }
  freeaddrinfo(found);
  return matches;
}

/// Environment variables that a launcher sets in each of its processes.
struct LauncherVariables {
  const char* rank;
  std::vector<const char*> sizes;  ///< variables with the number of the launcher's processes
};

/// Returns the variables of all supported launchers. Slurm is last, because processes that mpirun
/// starts inside a Slurm job inherit the variables of the job.
const std::vector<LauncherVariables>& launchers() {
  static const std::vector<LauncherVariables> all = {
      {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}},
      {"PMIX_RANK", {}},
      {"PMI_RANK", {"PMI_SIZE"}},
      {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS"}}};
  return all;
}

const LauncherVariables* launcher_of_process(const Variables& variable) {
  for (const LauncherVariables& launcher : launchers())
    if (!variable(launcher.rank).empty()) return &launcher;
  return nullptr;
}

/// Returns a reason to suspect that the launcher has started processes for too few hosts; "" if
/// there is no such reason.
std::string why_alone(const Plan& plan, const LauncherVariables& launcher,
                      const Variables& variable) {
  for (const char* size : launcher.sizes) {
    const auto processes = base::parse_natural(variable(size));
    if (processes && *processes < plan.hosts.size())
      return fmt::format("{} is {}, so {} of the config's {} hosts have no process", size,
                         *processes, plan.hosts.size() - *processes, plan.hosts.size());
  }
  // Slurm sets the rank (SLURM_PROCID) also in a batch script. However, it sets the variables of a
  // job step only in processes that srun starts.
  const bool is_slurm = std::string_view(launcher.rank) == "SLURM_PROCID";
  if (is_slurm && variable("SLURM_STEP_ID").empty() && variable("SLURM_STEP_NUM_TASKS").empty())
    return "SLURM_STEP_ID is not set, so srun did not start this process, but a batch script did";
  return "";
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::uint32_t host_named(const Plan& plan, const std::string& where, const std::string& name) {
  if (const auto host = plan.host_named(name)) return *host;
  refuse(where, fmt::format("expected the name of a host of the config, found '{}'{}", name,
                            base::did_you_mean(name, names_of(plan.hosts))));
}

std::optional<std::uint32_t> identity(const Plan& plan, const Variables& variable) {
  if (const std::string name = variable("PATHS_HOST"); !name.empty())
    return host_named(plan, "PATHS_HOST", name);
  const LauncherVariables* const launcher = launcher_of_process(variable);
  if (launcher == nullptr) return std::nullopt;
  return host_numbered(plan, launcher->rank, variable(launcher->rank));
}

std::string doubt_about_identity(const Plan& plan, const Variables& variable) {
  if (!variable("PATHS_HOST").empty() || plan.hosts.size() == 1) return "";
  const LauncherVariables* const launcher = launcher_of_process(variable);
  if (launcher == nullptr) return "";
  const std::string why = why_alone(plan, *launcher, variable);
  const std::string rank = variable(launcher->rank);
  if (why.empty() || base::parse_natural(rank) != 0u) return "";
  return fmt::format(
      "this process is host {}, because {} is {}, and waits for the other hosts; but {}. Start a "
      "process for each host (srun, mpirun or `paths run`), say which host it is by --host or "
      "PATHS_HOST, or unset {} and it is all hosts",
      plan.hosts[0].name, launcher->rank, rank, why, launcher->rank);
}

std::vector<std::uint32_t> hosts_on_this_machine(const Plan& plan) {
  const std::set<std::string> here = addresses_of_this_machine();
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (is_here(plan.hosts[host].address, here)) hosts.push_back(host);
  return hosts;
}

}  // namespace paths
