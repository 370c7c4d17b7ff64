// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link_receiver.cpp — checks of links, and delivery of their frames
#include "paths/wire/shared_memory/link_receiver.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace paths {
namespace {

constexpr int receives_in_a_row = 256;  // maximum number of frames read from one link at a time

}  // namespace

void LinkReceiver::start(Receiver& receiver, OnWrong on_wrong, std::function<void()> on_receipt) {
  const runtime::Lock lock(receiving_);
  on_wrong_ = std::move(on_wrong);
  on_receipt_ = std::move(on_receipt);
  receiver_ = &receiver;
}

void LinkReceiver::end() {
  receiver_ = nullptr;
  begun_.clear();
}

void LinkReceiver::add(const LinkPtr& link) {
  link->reader.limit_bodies([this, &of = *link](std::uint32_t connection, const Frame& head) {
    if (of.has_closed(connection)) return body_bytes_limit;  // any size, as the frame is ignored
    return receiver_->body_bytes_max(of.id_of(connection), head);
  });
  begun_.push_back(link);
}

void LinkReceiver::settle() {
  { const runtime::Lock lock(receiving_); }
  runtime::show_unlocked();
  if (look_again_.load()) look_soon();
}

void LinkReceiver::end_polling() {
  if (!sign || !sign.end_polling() || receive()) return;
  // At this point another thread receives. After the store, the other thread checks the links
  // again, unless it is about to stop. If it is about to stop, the call of receive() below
  // receives.
  look_again_.store(true);
  receive();
}

/// Receives from all links. Returns whether a frame has arrived. Returns nullopt if another thread
/// receives. The other thread may have checked some links before the latest frames arrived there.
std::optional<bool> LinkReceiver::receive() {
  std::optional<bool> has_arrived;
  do {
    {
      const runtime::Lock lock(receiving_, std::try_to_lock);
      if (!lock || receiver_ == nullptr) return has_arrived;
      if (look_again_.load()) look_again_.store(false);
      bool any = has_arrived.value_or(false);
      for (std::size_t i = 0; i < begun_.size(); ++i)
        if (begun_[i]->has_something()) any |= receive_from(begun_[i]);
      has_arrived = any;
    }
    runtime::show_unlocked();
  } while (look_again_.load());
  if (reports_receipts_ && on_receipt_) on_receipt_();
  return has_arrived;
}

bool LinkReceiver::receive_from(const LinkPtr& link) {
  if (link->is_wrong) return false;
  try {
    if (link->has_kept()) link->push();
    if (link->has_room_for_waiters()) notify_of_own_room(link);
    int received = 0;
    while (received < receives_in_a_row && link->reader.has_more() && receive_next(link))
      ++received;
    if (received == receives_in_a_row) look_soon();
    if (link->reader.must_notify_writer())
      // The writer waits for room, and half of the ring is free now.
      link->wake_peer();
    return received > 0;
  } catch (const LinkError& error) {
    refuse(link, error.what());
  } catch (const std::bad_alloc&) {
    refuse(link, "a frame for which there is no memory");
  }
  return false;
}

void LinkReceiver::notify_of_own_room(const LinkPtr& link) {
  for (const ConnectionId connection : link->take_waiters_for_room())
    receiver_->room_made(connection);
}

bool LinkReceiver::receive_next(const LinkPtr& link) {
  FrameReader::Arrived* const arrived = link->reader.next();
  if (arrived == nullptr) return false;
  const ConnectionId connection = link->id_of(arrived->connection);
  switch (link->judge(*arrived)) {
    case Link::Verdict::deliver:
      if (arrived->is_short)
        deliver_short(*link, arrived->connection, std::move(arrived->short_frame));
      else
        receiver_->deliver(connection, std::move(*arrived->frame));
      break;
    case Link::Verdict::lost:
      receiver_->connection_lost(connection, link->is_ours()
                                                 ? fmt::format("host {} has closed the connection",
                                                               peer_name(*peers_, *link))
                                                 : process_ended);
      break;
    case Link::Verdict::ignore: break;
  }
  arrived->frame.reset();
  return true;
}

void LinkReceiver::deliver_short(Link& link, std::uint32_t connection, ShortFrame&& frame) {
  ShortEnd* const end =
      link.short_end_of(connection, [&] { return receiver_->short_end(link.id_of(connection)); });
  if (end != nullptr && end->deliver(std::move(frame))) return;
  link.forget_short_end(connection);
  receiver_->deliver_short(link.id_of(connection), std::move(frame));
}

void LinkReceiver::refuse(const LinkPtr& link, const std::string& wrong) {
  if (std::exchange(link->is_wrong, true) || receiver_ == nullptr) return;
  if (!link->is_ours()) receiver_->turned_away("", "ignored: a process of this machine: " + wrong);
  const std::string reason = link->is_ours()
                                 ? fmt::format("host {} sent {}", peer_name(*peers_, *link), wrong)
                                 : fmt::format("it sent {}", wrong);
  on_wrong_(link, reason);
}

void LinkReceiver::look_soon() {
  if (looks_soon_.exchange(true)) return;
  runtime_.wake_from_outside([self = shared_from_this()] {
    self->looks_soon_.store(false);
    self->look_once();
  });
}

void LinkReceiver::look_once() {
  begin_polling();
  receive();
  end_polling();
}

}  // namespace paths
