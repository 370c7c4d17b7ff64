// SPDX-License-Identifier: Apache-2.0
// paths/messages/lost_hosts.hpp — hosts and switches that are gone.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "paths/messages/endpoint_state.hpp"

namespace paths {

/// Which hosts and switches are lost to this host, and why.
///
/// Sharing: guarded by the mutex of the endpoint.
class LostHosts {
 public:
  /// It outlives the object.
  explicit LostHosts(const EndpointState& state) : state_(state) {}
  /// Returns whether that is news.
  bool add(std::uint32_t host, const std::string& why) { return lost_.emplace(host, why).second; }
  /// Notes that a lost one had ended as it should.
  void mark_ended(std::uint32_t host) { ended_.insert(host); }
  bool has(std::uint32_t host) const { return lost_.contains(host); }
  bool has_ended(std::uint32_t host) const { return ended_.contains(host); }
  const std::map<std::uint32_t, std::string>& all() const { return lost_; }

  /// Notes the text about the first one that had not ended.
  void note_first(std::uint32_t host, const std::string& why);
  /// Returns it; "" if there is none.
  const std::string& first_text() const { return first_text_; }

  /// Returns the place that is lost on the way to a target of a frame that passes here.
  std::optional<std::uint32_t> on_way_to(std::uint32_t target) const;
  /// Whether nothing will be heard from the exit of a cluster, or nothing can be.
  bool has_cluster(std::uint32_t cluster) const;

 private:
  bool is_behind_switch(std::uint32_t host) const;

  const EndpointState& state_;
  std::map<std::uint32_t, std::string> lost_;
  std::set<std::uint32_t> ended_;
  std::string first_text_;
};

}  // namespace paths
