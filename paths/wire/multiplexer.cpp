// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.cpp — whose each connection is.
#include "paths/wire/multiplexer.hpp"

#include <utility>

namespace paths {

Multiplexer::Multiplexer(std::unique_ptr<Transport> transport, Route route, TurnedAway turned_away)
    : transport_(std::move(transport)),
      route_(std::move(route)),
      turned_away_(std::move(turned_away)) {}

Multiplexer::~Multiplexer() = default;

std::unique_ptr<Multiplexer::Share> Multiplexer::share(std::vector<std::uint32_t> numbers) {
  return std::make_unique<Share>(*this, std::move(numbers));
}

/// Null when the connection is nobody's; else leave() is to follow.
Multiplexer::Share* Multiplexer::enter(ConnectionId connection) {
  const runtime::Lock lock(mutex_);
  const auto known = shares_.find(connection);
  if (known == shares_.end()) return nullptr;
  ++known->second->inside_;
  return known->second;
}

void Multiplexer::leave(Share& share) {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  if (--share.inside_ == 0 && !share.left_.empty()) share.left_.wake_all(wakes);
}

void Multiplexer::deliver(ConnectionId connection, Frame frame) {
  Share* share = enter(connection);
  if (share == nullptr) {
    share = route_(connection, frame);
    if (share == nullptr) return;
    const runtime::Lock lock(mutex_);
    if (share->receiver_ == nullptr) return;
    shares_.emplace(connection, share);
    ++share->inside_;
  }
  share->receiver_->deliver(connection, std::move(frame));
  leave(*share);
}

void Multiplexer::connection_lost(ConnectionId connection, const std::string& reason) {
  Share* share = enter(connection);
  if (share == nullptr) return;
  share->receiver_->connection_lost(connection, reason);
  leave(*share);
}

void Multiplexer::turned_away(const std::string& source, const std::string& reason) {
  turned_away_(source, reason);
}

// ---- one share -------------------------------------------------------------------------------

Multiplexer::Share::Share(Multiplexer& all, std::vector<std::uint32_t> numbers)
    : all_(all), numbers_(std::move(numbers)) {}

Multiplexer::Share::~Share() { stop(); }

void Multiplexer::Share::start(Receiver& receiver) {
  const runtime::Lock lock(all_.mutex_);
  receiver_ = &receiver;
}

ConnectionId Multiplexer::Share::connect(std::uint32_t host, std::uint32_t path) {
  const runtime::Lock lock(all_.mutex_);  // nothing is to come on it before it is known
  const ConnectionId connection = all_.transport_->connect(numbers_[host], path);
  all_.shares_.emplace(connection, this);
  return connection;
}

void Multiplexer::Share::send(ConnectionId connection, Frame frame) {
  all_.transport_->send(connection, std::move(frame));
}

void Multiplexer::Share::drop(ConnectionId connection) {
  {
    const runtime::Lock lock(all_.mutex_);
    all_.shares_.erase(connection);
  }
  all_.transport_->drop(connection);
}

std::string Multiplexer::Share::source(ConnectionId connection) {
  return all_.transport_->source(connection);
}

void Multiplexer::Share::stop() {
  std::vector<ConnectionId> dropped;
  {
    runtime::Lock lock(all_.mutex_);
    if (receiver_ == nullptr) return;
    for (const auto& [connection, share] : all_.shares_)
      if (share == this) dropped.push_back(connection);
    for (const ConnectionId connection : dropped) all_.shares_.erase(connection);
    while (inside_ > 0)
      left_.wait(lock, runtime::Deadline::never(), {"those who bring frames", ""});
    receiver_ = nullptr;
  }
  for (const ConnectionId connection : dropped) all_.transport_->drop(connection);
}

}  // namespace paths
