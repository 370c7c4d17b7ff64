// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link_table.hpp — table of a host's shared-memory links
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
  /// Makes a connection to `host`. If this needs a new link, makes the link and returns it as the
  /// second value; the caller must open the link. Otherwise the second value is nullptr.
  std::pair<ConnectionId, LinkPtr> connect(std::uint32_t host);
  /// Returns the link of a connection; nullptr if the link has ended or does not exist.
  LinkPtr find(ConnectionId connection) const;
  /// If a link has no connections, removes and ends the link, and returns true. A later connection
  /// makes a new link.
  /// Requires: this host made the link.
  bool forget_unused(const LinkPtr& link);
  void forget(const LinkPtr& link);
  std::vector<LinkPtr> take_all();
  /// Returns whether no link has kept frames: frames that were not written to a ring yet.
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
