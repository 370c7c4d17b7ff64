// SPDX-License-Identifier: Apache-2.0
// paths/run/process_peers.cpp — id and keys of a run
#include "paths/run/process_peers.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "paths/host/peers_of.hpp"
#include "paths/keys/keyring.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/travel_error.hpp"

namespace paths {
namespace {

std::shared_ptr<const Keyring> keyring_of(const Plan& plan, std::uint32_t place,
                                          const RunKey* run_key) {
  if (plan.transport != Plan::Transport::tcp) return nullptr;
  const std::string name = place_name(plan, place);
  if (plan.security == Plan::Security::plain)
    spdlog::warn(
        "host {}: `security: plain`: any process that reaches its port can read and forge "
        "what hosts send",
        name);
  if (plan.security != Plan::Security::run) return nullptr;
  if (run_key == nullptr) throw TravelError(name, "", "", no_run_key);
  return std::make_shared<const Keyring>(*run_key);
}

}  // namespace

std::shared_ptr<const Peers> peers_of_process(const Plan& plan, std::uint32_t place,
                                              const RunKey* run_key) {
  // A switch is a process too, but it meets no other process.
  const bool is_host = place < plan.hosts.size();
  return peers_of(plan, run_key != nullptr ? std::optional(run_key->id()) : std::nullopt, is_host,
                  keyring_of(plan, place, run_key));
}

}  // namespace paths
