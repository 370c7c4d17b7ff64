// SPDX-License-Identifier: Apache-2.0
// paths/plan/identity.hpp — which host of the plan this process is, and which belong on this
// machine.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// The value of a variable of the environment; "" when it is not set.
using Variables = std::function<std::string(const std::string& name)>;
std::string environment_variable(const std::string& name);

/// PATHS_HOST names the host. Without it, the number that an MPI launcher or Slurm gave this
/// process counts the hosts in the order of the config: OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK,
/// SLURM_PROCID.
/// Nothing when none is set: the process is to be all hosts. Throws ConfigError for a name or
/// number that the plan does not have.
std::optional<std::uint32_t> identity(const Plan& plan,
                                      const Variables& variable = environment_variable);

/// Why identity() may be wrong to take this process for the first host: a launcher numbered it 0,
/// but started too few processes, or is a batch script of Slurm. "" where nothing speaks against
/// it, and on other hosts, so that one process of a run prints it.
std::string doubt_about_identity(const Plan& plan,
                                 const Variables& variable = environment_variable);

/// The host of that name, which `where` (a variable or an option) gave. Throws ConfigError.
std::uint32_t host_named(const Plan& plan, const std::string& where, const std::string& name);

/// The hosts of the plan whose address is one of this machine's, in the order of the plan. Unix
/// sockets and loopback addresses are every machine's own.
std::vector<std::uint32_t> hosts_on_this_machine(const Plan& plan);

}  // namespace paths
