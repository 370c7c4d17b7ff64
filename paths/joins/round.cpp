// SPDX-License-Identifier: Apache-2.0
// paths/joins/round.cpp — opening, closing and reuse of the rounds of a join.
#include "paths/joins/round.hpp"

namespace paths {

Failure Round::first_failure_above() const {
  for (const Contribution& one : by_slot)
    if (one.failure) return one.failure;
  return nullptr;
}

void Round::clear() {
  for (Contribution& one : by_slot) {
    one.is_here = false;
    one.payload = {};
    one.failure = nullptr;
  }
  here = 0;
  gone.store(0, std::memory_order_relaxed);
  has_leader = false;
  failure = nullptr;
  result.reset();
  fold.reset();
  until = base::Nanos::max();
}

/// Finds an open round. Looks first at the round that was opened last, because most contributions
/// belong to that round.
OpenRounds::Map::iterator OpenRounds::at(const Key& key) {
  return newest_ != all_.end() && newest_->first == key ? newest_ : all_.find(key);
}

Round* OpenRounds::find(const Key& key) {
  const auto found = at(key);
  return found == all_.end() ? nullptr : found->second.get();
}

Round& OpenRounds::open(const Key& key) {
  if (closed_.empty()) {
    newest_ = all_.emplace(key, std::make_unique<Round>(slots_)).first;
    closed_.reserve(all_.size());  // prevents allocation of memory in leave()
  } else {
    closed_.back().key() = key;
    newest_ = all_.insert(std::move(closed_.back())).position;
    closed_.pop_back();
  }
  newest_->second->key = key;
  return *newest_->second;
}

OpenRounds::Map::node_type OpenRounds::close(const Key& key) {
  const auto round = at(key);
  if (round == newest_) newest_ = all_.end();
  return all_.extract(round);
}

void OpenRounds::leave(Round& round, runtime::Mutex& mutex) {
  if (round.gone.fetch_add(1, std::memory_order_acq_rel) + 1 < slots_) return;
  runtime::Lock lock(mutex);
  Map::node_type closed = close(round.key);
  lock.unlock();
  if (!recycles_) return;
  closed.mapped()->clear();
  lock.lock();
  closed_.push_back(std::move(closed));
}

}  // namespace paths
