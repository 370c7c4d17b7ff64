// SPDX-License-Identifier: Apache-2.0
// paths/messages/lost_hosts.hpp — table of lost hosts and switches
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "paths/messages/endpoint_state.hpp"

namespace paths {

/// The hosts and switches that this host counts as lost, with the reasons.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class LostHosts {
 public:
  /// Requires: `state` outlives this object.
  explicit LostHosts(const EndpointState& state) : state_(state) {}
  /// Adds a lost host. Returns false if the loss of the host was known already.
  bool add(std::uint32_t host, const std::string& why) { return lost_.emplace(host, why).second; }
  /// Notes that the host had ended properly before it was lost.
  void mark_ended(std::uint32_t host) { ended_.insert(host); }
  bool has(std::uint32_t host) const { return lost_.contains(host); }
  bool has_ended(std::uint32_t host) const { return ended_.contains(host); }
  const std::map<std::uint32_t, std::string>& all() const { return lost_; }

  /// Stores a text about the loss of a host, if no text about an earlier loss is stored.
  void note_first(std::uint32_t host, const std::string& why);
  /// Returns the text of note_first(); "" if there is none.
  const std::string& first_text() const { return first_text_; }

  /// Returns a lost host or switch on the route from this host to `target` (`target` included);
  /// nullopt if there is none.
  std::optional<std::uint32_t> on_way_to(std::uint32_t target) const;
  /// Returns whether a cluster is cut off from this host. This is so if the exit of the cluster is
  /// lost, or if there is no route to or from the exit. It is also so if a lost switch is on one of
  /// the two routes.
  bool has_cluster(std::uint32_t cluster) const;

 private:
  bool is_behind_switch(std::uint32_t host) const;

  const EndpointState& state_;
  std::map<std::uint32_t, std::string> lost_;
  std::set<std::uint32_t> ended_;
  std::string first_text_;
};

}  // namespace paths
