// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link_table.cpp — making, finding and forgetting of links
#include "paths/wire/shared_memory/link_table.hpp"

#include <algorithm>

namespace paths {

LinkPtr LinkTable::add_accepted() {
  const runtime::Lock lock(mutex_);
  return add_locked(std::nullopt);
}

std::pair<ConnectionId, LinkPtr> LinkTable::connect(std::uint32_t host) {
  const runtime::Lock lock(mutex_);
  LinkPtr& link = by_peer_[host];
  if (link)
    if (const auto connection = link->connect()) return {*connection, nullptr};
  link = add_locked(host);
  return {*link->connect(), link};
}

LinkPtr LinkTable::find(ConnectionId connection) const {
  const runtime::Lock lock(mutex_);
  const auto found = links_.find(static_cast<std::uint32_t>(connection >> 32));
  return found == links_.end() ? nullptr : found->second;
}

bool LinkTable::forget_unused(const LinkPtr& link) {
  const runtime::Lock lock(mutex_);
  if (!link->is_unused()) return false;
  forget_locked(link);
  link->end();
  return true;
}

void LinkTable::forget(const LinkPtr& link) {
  const runtime::Lock lock(mutex_);
  forget_locked(link);
}

std::vector<LinkPtr> LinkTable::take_all() {
  const runtime::Lock lock(mutex_);
  std::vector<LinkPtr> all;
  for (const auto& [number, link] : std::exchange(links_, {})) all.push_back(link);
  by_peer_.clear();
  return all;
}

bool LinkTable::is_flushed() const {
  const runtime::Lock lock(mutex_);
  return std::none_of(links_.begin(), links_.end(),
                      [](const auto& one) { return one.second->has_kept(); });
}

LinkPtr LinkTable::add_locked(std::optional<std::uint32_t> host) {
  const std::uint32_t number = next_++;
  return links_[number] = std::make_shared<Link>(number, host);
}

void LinkTable::forget_locked(const LinkPtr& link) {
  links_.erase(link->number);
  if (!link->is_ours()) return;
  const auto found = by_peer_.find(*link->host);
  if (found != by_peer_.end() && found->second == link) by_peer_.erase(found);
}

}  // namespace paths
