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

/// The hosts and switches that are lost to this host, with reasons.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class LostHosts {
 public:
  /// Requires: `state` outlives this object.
  explicit LostHosts(const EndpointState& state) : state_(state) {}
  /// Returns false if the loss was known.
  bool add(std::uint32_t host, const std::string& why) { return lost_.emplace(host, why).second; }
  /// Notes that a lost host had ended as it should.
  void mark_ended(std::uint32_t host) { ended_.insert(host); }
  bool has(std::uint32_t host) const { return lost_.contains(host); }
  bool has_ended(std::uint32_t host) const { return ended_.contains(host); }
  const std::map<std::uint32_t, std::string>& all() const { return lost_; }

  /// Notes the text about the first lost host that had not ended.
  void note_first(std::uint32_t host, const std::string& why);
  /// Returns that text; "" if there is none.
  const std::string& first_text() const { return first_text_; }

  /// Returns a lost place on the way from here to `target`.
  std::optional<std::uint32_t> on_way_to(std::uint32_t target) const;
  /// Whether the exit of a cluster cannot be reached, or cannot reach this host.
  bool has_cluster(std::uint32_t cluster) const;

 private:
  bool is_behind_switch(std::uint32_t host) const;

  const EndpointState& state_;
  std::map<std::uint32_t, std::string> lost_;
  std::set<std::uint32_t> ended_;
  std::string first_text_;
};

}  // namespace paths
