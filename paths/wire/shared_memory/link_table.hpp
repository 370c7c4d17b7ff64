// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link_table.hpp — shared-memory links of one host by number and by peer
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/shared_memory/link.hpp"

namespace paths {

using LinkPtr = std::shared_ptr<Link>;

/// The links of one host that have not ended.
/// Thread-safe: yes.
class LinkTable {
 public:
  /// Makes a link for a peer that has connected.
  LinkPtr add_accepted();
  /// Makes a connection to `host`. Also returns the link if it is new; the caller must open it.
  std::pair<ConnectionId, LinkPtr> connect(std::uint32_t host);
  /// Returns the link of a connection; nullptr if there is none.
  LinkPtr find(ConnectionId connection) const;
  /// Removes and ends a link if it has no connections. A later connection makes a new link.
  /// Requires: this host made the link.
  bool forget_unused(const LinkPtr& link);
  void forget(const LinkPtr& link);
  std::vector<LinkPtr> take_all();
  /// Returns whether no link keeps frames.
  bool is_flushed() const;

 private:
  LinkPtr add_locked(std::optional<std::uint32_t> host);
  void forget_locked(const LinkPtr& link);

  mutable runtime::Mutex mutex_;
  std::uint32_t next_ = 1;
  std::unordered_map<std::uint32_t, LinkPtr> links_;    // keyed by number of the link
  std::unordered_map<std::uint32_t, LinkPtr> by_peer_;  // links that this host made
};

}  // namespace paths
