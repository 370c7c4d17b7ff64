// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_liveness.hpp — signs of life on the connections of lanes
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "paths/wire/lane_frame.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/signs_of_life.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Decides which peers of a host's lanes are silent, and which peers need a sign of life from this
/// host.
///
/// Borrows:     all arguments of the constructor.
/// Thread-safe: no; guarded by its owner's mutex.
class LaneLiveness {
 public:
  LaneLiveness(const runtime::Runtime& runtime, const Peers& peers, Transport& transport)
      : runtime_(runtime), peers_(peers), transport_(transport) {}

  void note_arrival(std::uint32_t host) { signs_[host].note_arrival(); }
  void note_departure(std::uint32_t host) { signs_[host].note_departure(); }

  /// Returns the age of the last frame of a host; nullopt if it is unknown.
  std::optional<base::Nanos> age_of(std::uint32_t host) const {
    const auto signs = signs_.find(host);
    return signs == signs_.end() ? std::nullopt : signs->second.age(runtime_.now());
  }

  using Beat = std::pair<ConnectionId, LaneKind>;
  /// A host from which frames may still arrive.
  struct Watched {
    std::vector<ConnectionId> connections = {};  ///< connections with this host
    bool is_met = true;          ///< whether the host has accepted a connection, or made one
    std::optional<Beat> beat{};  ///< sign of life to send if one is due; nullopt = send none
  };
  struct Look {
    std::map<std::uint32_t, std::string> silent = {};  ///< silent hosts, with a text about each
    std::vector<Beat> beats = {};                      ///< signs of life to send now
  };
  /// Checks the hosts. A host is silent if no frame, and no part of a large frame, has arrived from
  /// it for `silent_max`. A host whose `is_met` is false counts as silent only after the deadline,
  /// because it may still start.
  Look look(const std::map<std::uint32_t, Watched>& hosts, base::Nanos silent_max);

 private:
  std::optional<std::string> silence_of(SignsOfLife& signs, const Watched& host,
                                        base::Nanos silence, base::Nanos silent_max) const;

  const runtime::Runtime& runtime_;
  const Peers& peers_;
  Transport& transport_;
  std::map<std::uint32_t, SignsOfLife> signs_;
  OwnStops stops_;
};

}  // namespace paths
