// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_liveness.cpp — search for silent peers and due signs of life
#include "paths/messages/carriers/lane_liveness.hpp"

#include <algorithm>

namespace paths {

LaneLiveness::Look LaneLiveness::look(const std::map<std::uint32_t, Watched>& hosts,
                                      base::Nanos silent_max) {
  const LivenessTimes times = peers_.liveness.at_most(silent_max);
  const base::Nanos longest_unmet =
      silent_max < peers_.liveness.silent ? silent_max : std::max(silent_max, peers_.deadline);
  const base::Nanos now = runtime_.now();
  const bool was_stopped = stops_.was_stopped(now, times);
  Look look;
  for (const auto& [host, watched] : hosts) {
    SignsOfLife& signs = signs_[host];
    if (was_stopped) signs.note_arrival();
    const base::Nanos silence = signs.look(now);
    if (silence >= (watched.is_met ? times.silent : longest_unmet)) {
      if (auto state = silence_of(signs, watched, silence, silent_max))
        look.silent.emplace(host, *std::move(state));
    } else if (signs.needs_beat(now, times.beat) && watched.beat) {
      look.beats.push_back(*watched.beat);
    }
  }
  return look;
}

/// Returns a text about a host from which no frame has arrived for the duration `silence`. Returns
/// nullopt if bytes of an unfinished frame have arrived from the host within `silent_max`.
std::optional<std::string> LaneLiveness::silence_of(SignsOfLife& signs, const Watched& host,
                                                    base::Nanos silence,
                                                    base::Nanos silent_max) const {
  PeerContact contact;
  for (const ConnectionId connection : host.connections) {
    contact = transport_.contact(connection);
    if (!contact.since_bytes || *contact.since_bytes >= silent_max) continue;
    signs.note_arrival();
    return std::nullopt;
  }
  return silence_text(contact, silence);
}

}  // namespace paths
