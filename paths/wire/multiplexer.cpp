// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.cpp — passing of each frame to the sub-transport that owns its connection
#include "paths/wire/multiplexer.hpp"

#include <utility>

namespace paths {

Multiplexer::Multiplexer(std::unique_ptr<Transport> transport, Receiver& others)
    : transport_(std::move(transport)), others_(others) {}

std::unique_ptr<Multiplexer::SubTransport> Multiplexer::share(HostNumbers numbers) {
  return std::make_unique<SubTransport>(*this, std::move(numbers));
}

bool Multiplexer::give(ConnectionId connection, SubTransport& share,
                       std::optional<std::string> source) {
  const runtime::Lock lock(mutex_);
  if (share.receiver_ == nullptr || share.is_closed_->load()) return false;
  owners_[connection] = {&share, false, std::move(source)};
  ++share.inside_;
  return true;
}

/// Marks a call inside the receiver of a sub-transport. SubTransport::stop() waits until this
/// object is destroyed.
class Multiplexer::Inside {
 public:
  Inside(Multiplexer& all, SubTransport& share) : all_(all), share_(share) {}
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { all_.leave(share_); }
  Receiver& receiver() const { return *share_.receiver_; }

 private:
  Multiplexer& all_;
  SubTransport& share_;
};

void Multiplexer::pass_on(ConnectionId connection, SubTransport& share, Frame&& frame) {
  Inside(*this, share).receiver().deliver(connection, std::move(frame));
}

/// Returns the sub-transport that owns the connection, and counts a call inside its receiver. The
/// caller must construct an Inside for this call. Returns nullptr if no sub-transport owns the
/// connection.
Multiplexer::SubTransport* Multiplexer::enter(ConnectionId connection) {
  const runtime::Lock lock(mutex_);
  const auto known = owners_.find(connection);
  if (known == owners_.end()) return nullptr;
  ++known->second.share->inside_;
  return known->second.share;
}

/// Notes the end of a call inside the receiver of `share`. Immediately after this, `share` may be
/// destroyed.
void Multiplexer::leave(SubTransport& share) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  if (--share.inside_ == 0) left_.wake_all(wakes);
}

void Multiplexer::deliver(ConnectionId connection, Frame&& frame) {
  SubTransport* share = enter(connection);
  if (share == nullptr) return others_.deliver(connection, std::move(frame));
  pass_on(connection, *share, std::move(frame));
}

std::uint64_t Multiplexer::body_bytes_max(ConnectionId connection, const Frame& head) {
  SubTransport* share = enter(connection);
  if (share == nullptr) return others_.body_bytes_max(connection, head);
  return Inside(*this, *share).receiver().body_bytes_max(connection, head);
}

void Multiplexer::deliver_short(ConnectionId connection, ShortFrame&& frame) {
  SubTransport* share = enter(connection);
  if (share == nullptr) return others_.deliver_short(connection, std::move(frame));
  Inside(*this, *share).receiver().deliver_short(connection, std::move(frame));
}

/// Delivers short frames until the sub-transport is closed. SubTransport::stop() closes the
/// sub-transport, and then waits for the calls of deliver() that began before.
class Multiplexer::End final : public ShortEnd {
 public:
  End(std::shared_ptr<const std::atomic<bool>> is_closed, std::shared_ptr<ShortEnd> inner)
      : is_closed_(std::move(is_closed)), inner_(std::move(inner)) {}
  bool deliver(ShortFrame&& frame) override {
    return !is_closed_->load() && inner_->deliver(std::move(frame));
  }

 private:
  const std::shared_ptr<const std::atomic<bool>> is_closed_;
  const std::shared_ptr<ShortEnd> inner_;
};

std::shared_ptr<ShortEnd> Multiplexer::short_end(ConnectionId connection) {
  SubTransport* share = enter(connection);
  if (share == nullptr) return nullptr;
  const Inside inside(*this, *share);
  auto inner = inside.receiver().short_end(connection);
  return inner ? std::make_shared<End>(share->is_closed_, std::move(inner)) : nullptr;
}

void Multiplexer::room_made(ConnectionId connection) {
  SubTransport* share = enter(connection);
  if (share != nullptr) Inside(*this, *share).receiver().room_made(connection);
}

void Multiplexer::connection_lost(ConnectionId connection, const std::string& reason) {
  SubTransport* share = enter(connection);
  if (share == nullptr) return others_.connection_lost(connection, reason);
  Inside(*this, *share).receiver().connection_lost(connection, reason);
}

void Multiplexer::turned_away(const std::string& source, const std::string& reason) {
  others_.turned_away(source, reason);
}

// ---- one sub-transport -----------------------------------------------------------------------

Multiplexer::SubTransport::SubTransport(Multiplexer& all, HostNumbers numbers)
    : all_(all), numbers_(std::move(numbers)) {}

Multiplexer::SubTransport::~SubTransport() { stop(); }

void Multiplexer::SubTransport::start(Receiver& receiver) {
  const runtime::Lock lock(all_.mutex_);
  receiver_ = &receiver;
}

ConnectionId Multiplexer::SubTransport::connect(std::uint32_t host) {
  // Holds the mutex, so that no frame is delivered before owners_ contains the connection.
  const runtime::Lock lock(all_.mutex_);
  const ConnectionId connection = all_.transport_->connect(number_of(host));
  all_.owners_[connection] = {this, true};
  return connection;
}

void Multiplexer::SubTransport::send(ConnectionId connection, Frame&& frame) {
  all_.transport_->send(connection, std::move(frame));
}

bool Multiplexer::SubTransport::reports_room(std::uint32_t host) const {
  return all_.transport_->reports_room(number_of(host));
}

bool Multiplexer::SubTransport::has_room(ConnectionId connection) {
  return all_.transport_->has_room(connection);
}

std::shared_ptr<ShortWay> Multiplexer::SubTransport::short_way(ConnectionId connection) {
  return all_.transport_->short_way(connection);
}

void Multiplexer::SubTransport::drop(ConnectionId connection) {
  {
    const runtime::Lock lock(all_.mutex_);
    all_.owners_.erase(connection);
  }
  all_.transport_->drop(connection);
}

std::string Multiplexer::SubTransport::source(ConnectionId connection) {
  {
    const runtime::Lock lock(all_.mutex_);
    const auto known = all_.owners_.find(connection);
    if (known != all_.owners_.end() && known->second.source) return *known->second.source;
  }
  return all_.transport_->source(connection);
}

PeerContact Multiplexer::SubTransport::contact(ConnectionId connection) {
  return all_.transport_->contact(connection);
}

void Multiplexer::SubTransport::stop() {
  std::vector<ConnectionId> ours;
  {
    runtime::Lock lock(all_.mutex_);
    if (receiver_ == nullptr) return;
    std::erase_if(all_.owners_, [&](const auto& one) {
      const auto& [connection, owner] = one;
      if (owner.share != this) return false;
      if (owner.is_ours) ours.push_back(connection);
      return true;
    });
    is_closed_->store(true);
    while (inside_ > 0)
      all_.left_.wait(lock, runtime::Deadline::never(),
                      {"the threads that bring frames to", "a deployment"});
  }
  all_.transport_->settle();
  {
    const runtime::Lock lock(all_.mutex_);
    receiver_ = nullptr;
  }
  for (const ConnectionId connection : ours) all_.transport_->drop(connection);
}

}  // namespace paths
