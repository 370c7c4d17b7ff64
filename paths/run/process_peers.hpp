// SPDX-License-Identifier: Apache-2.0
// paths/run/process_peers.hpp — peers of a process of the run, with the keys to reach them
#pragma once
#include <memory>

#include "paths/keys/run_key.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Error text for a host that cannot listen because the run has no key.
inline constexpr const char* no_run_key =
    "cannot listen on TCP: the run has no key; make one with `paths keygen --run -o FILE` and give "
    "it to all processes with --run-key FILE, or say `security: plain` in the config's `network`";

/// Returns the peers of a host or switch that is a process of its own. `place` is the host's index
/// in the plan, or the number of the switch. The id of the run and the keys come from `run_key`. If
/// `run_key` is nullptr, the id is the digest of the plan. Logs a warning if connections of the
/// plan are not protected (`security: plain`).
/// Throws: TravelError if the connections need a run key and there is none. ConfigError if the
///         connections need a key of this host, and the key file of this host has none.
std::shared_ptr<const Peers> peers_of_process(const Plan& plan, std::uint32_t place,
                                              const RunKey* run_key);

}  // namespace paths
