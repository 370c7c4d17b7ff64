// SPDX-License-Identifier: Apache-2.0
// paths/plan/identity.hpp — host that a process runs, and hosts on this machine.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Function that returns the value of an environment variable; "" if the variable is not set.
using Variables = std::function<std::string(const std::string& name)>;
std::string environment_variable(const std::string& name);

/// Returns the host of the plan that this process runs. The variable PATHS_HOST has the name of the
/// host. Without this variable, the index of the host in the config is the number that an MPI
/// launcher or Slurm gave this process (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or SLURM_PROCID).
/// Returns nullopt if none of these variables is set. The process must then run all hosts.
/// Throws: ConfigError for a name or number that the plan does not have.
std::optional<std::uint32_t> identity(const Plan& plan,
                                      const Variables& variable = environment_variable);

/// Returns a warning if identity() may have returned the first host wrongly. This happens if a
/// launcher gave this process the number 0 but started too few processes, or if the process is a
/// batch script of Slurm. Otherwise returns "". Only a process that runs the first host gets a
/// warning, so that only one process of a run prints it.
std::string doubt_about_identity(const Plan& plan,
                                 const Variables& variable = environment_variable);

/// Returns the host named `name`. `where` is the variable or option that gave the name.
/// Throws: ConfigError if the plan has no host of this name.
std::uint32_t host_named(const Plan& plan, const std::string& where, const std::string& name);

/// Returns the hosts of the plan whose address belongs to this machine, in the order of the plan.
/// Unix sockets and loopback addresses belong to every machine.
std::vector<std::uint32_t> hosts_on_this_machine(const Plan& plan);

}  // namespace paths
