// SPDX-License-Identifier: Apache-2.0
// paths/run/process_peers.cpp — id and keys of a run
#include "paths/run/process_peers.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/keys/key_file.hpp"
#include "paths/keys/keyring.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/travel_error.hpp"

namespace paths {
namespace {

/// Returns the keys of a host or switch that proves its name. A switch has the key of the exit of
/// its cluster.
std::shared_ptr<const Keyring> keyring_of_hosts(const Plan& plan, std::uint32_t place) {
  const HostKeys& all = *plan.host_keys;
  const std::uint32_t owner =
      place < plan.hosts.size() ? place : exit_of(plan, place - switch_number(plan, 0));
  const std::string& name = plan.hosts[owner].name;
  const std::string file = key_file_of(all, name);
  const Secret seed = read_key_file(file, KeyKind::host);
  const auto known = all.keys.find(name);
  const PublicKey own = public_key_of(seed);
  if (known == all.keys.end() ||
      std::find(known->second.begin(), known->second.end(), own) == known->second.end())
    throw base::ConfigError(
        {{base::Position{file, 0, 0},
          fmt::format("the key is not one that {} has for host {}", all.written, name)}});
  return std::make_shared<const Keyring>(curve_keys_of(seed), all);
}

std::shared_ptr<const Keyring> keyring_of(const Plan& plan, std::uint32_t place,
                                          const RunKey* run_key) {
  if (!plan.transport->is_network) return nullptr;
  const std::string name = place_name(plan, place);
  if (plan.security == Plan::Security::plain)
    spdlog::warn(
        "host {}: `security: plain`: any process that reaches its port can read and forge "
        "what hosts send",
        name);
  if (plan.security == Plan::Security::keys) return keyring_of_hosts(plan, place);
  if (plan.security != Plan::Security::run) return nullptr;
  if (run_key == nullptr) throw TravelError(name, "", "", no_run_key);
  return std::make_shared<const Keyring>(*run_key);
}

}  // namespace

std::shared_ptr<const Peers> peers_of_process(const Plan& plan, std::uint32_t place,
                                              const RunKey* run_key) {
  // A switch is also a process. Unlike a host, it does not connect to hosts only to detect whether
  // they are running (hosts_to_meet()).
  const bool is_host = place < plan.hosts.size();
  return peers_of(plan, run_key != nullptr ? std::optional(run_key->id()) : std::nullopt, is_host,
                  keyring_of(plan, place, run_key));
}

}  // namespace paths
