// SPDX-License-Identifier: Apache-2.0
// paths/connections/hello_places.hpp — places of hellos that wait until a host calls deploy()
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "paths/wire/transport.hpp"

namespace paths {

/// Limits the number of hellos (first frames of connections) that wait until this host calls
/// deploy(). One peer cannot keep other peers out. If all places are taken, a new hello of a peer
/// with few places replaces the newest hello of the peer that has the most places.
///
/// Thread-safe: no; the owner locks.
class HelloPlaces {
 public:
  static constexpr std::size_t places_max = 4096;
  static constexpr std::size_t places_of_each = 64;  ///< places of a peer that are never taken away

  struct Place {
    std::string label;  ///< label of the call of deploy()
    std::string peer;   ///< name of the host that sent the hello
  };
  using Taken = std::pair<ConnectionId, Place>;

  std::size_t size() const { return places_.size(); }
  bool has(ConnectionId connection) const { return places_.contains(connection); }
  /// Returns whether a hello of `peer` may take a place. If all places are taken and the hello may
  /// take one, evicts a hello of a different peer from its place and stores that hello in
  /// `evicted`.
  bool may_take(const std::string& peer, std::optional<Taken>& evicted) {
    if (places_.size() < places_max) return true;
    const auto own = count_of_.find(peer);
    if (own != count_of_.end() && own->second >= places_of_each) return false;
    evicted = newest_of_largest();
    return evicted.has_value();
  }
  void take(ConnectionId connection, Place place) {
    ++count_of_[place.peer];
    places_[connection] = std::move(place);
  }
  /// Frees the place of the connection's hello. Returns the place; nullopt if the hello had none.
  std::optional<Place> free(ConnectionId connection) {
    auto place = places_.extract(connection);
    if (!place) return std::nullopt;
    const auto count = count_of_.find(place.mapped().peer);
    if (--count->second == 0) count_of_.erase(count);
    return std::move(place.mapped());
  }

 private:
  std::optional<Taken> newest_of_largest() {
    const auto largest = std::max_element(
        count_of_.begin(), count_of_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    if (largest->second <= places_of_each) return std::nullopt;
    ConnectionId newest = 0;
    for (const auto& [connection, place] : places_)
      if (place.peer == largest->first) newest = std::max(newest, connection);
    return Taken(newest, *free(newest));
  }

  std::unordered_map<ConnectionId, Place> places_;
  std::unordered_map<std::string, std::size_t> count_of_;  // taken places, by name of the peer
};

}  // namespace paths
