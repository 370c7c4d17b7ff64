// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/links.cpp — opening and ending of links, and sending on them
#include "paths/wire/shared_memory/links.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "paths/wire/address.hpp"
#include "paths/wire/socket_folder.hpp"
#include "runtime/polling/moment.hpp"

namespace paths {
namespace {

constexpr base::Nanos linger = std::chrono::milliseconds(500);
constexpr base::Nanos first_pause = std::chrono::milliseconds(5);
constexpr base::Nanos longest_pause = std::chrono::milliseconds(320);

void set_timer(const Descriptor& timer, base::Nanos span) {
  const itimerspec when{{}, runtime::timespec_of(span)};
  timerfd_settime(timer.get(), 0, &when, nullptr);
}

}  // namespace

// ---- thread-safe functions -------------------------------------------------------------------

void Links::start(Receiver& receiver) {
  const Peers::Peer& self = peers_->hosts[host_];
  const auto do_without = [&](const std::string& why) {
    receiver_->sign = PollingFlag();
    why_without_memory_ = why;
    if (peers_->requires_shared_memory || !detour_)
      throw TravelError(self.name, "", "",
                        fmt::format("no shared memory, which the config requires: {}; without "
                                    "`shared_memory: true` frames go over sockets",
                                    why));
    say_once(why);
  };
  try {
    receiver_->sign = PollingFlag::make();
  } catch (const std::system_error& error) {
    do_without(error.what());
  }
  try {
    timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!timer_) throw std::system_error(errno, std::generic_category(), "no timer");
    door_ = open_door(self.address, runtime_);
  } catch (const std::system_error& error) {
    const bool is_in_use = error.code().value() == EADDRINUSE;
    throw TravelError(self.name, "", "",
                      fmt::format("cannot listen on {}: {}", located(self.address),
                                  is_in_use ? in_use_text(self.address) : error.what()));
  } catch (const std::runtime_error& error) {
    do_without(error.what());
  }
  const std::weak_ptr<Links> links = weak_from_this();
  receiver_->start(
      receiver,
      [links, &runtime = runtime_](const LinkPtr& link, const std::string& reason) {
        runtime.wake_from_outside([links, link, reason] {
          if (const auto all = links.lock()) all->lose(link, reason);
        });
      },
      [links] {
        if (const auto all = links.lock()) all->notify_if_flushed();
      });
  {
    runtime::Lock lock(mutex_);
    started_ = true;
  }
  if (door_.listening) runtime_.watch(door_.listening.get(), [this] { accept(); });
  runtime_.watch(timer_.get(), [this] { retry(); });
  if (receiver_->sign) runtime_.add_poller(*receiver_);
}

ConnectionId Links::connect(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  const auto [connection, made] = links_.connect(host);
  if (made)
    runtime_.wake_from_outside([self = shared_from_this(), link = made] { self->open(link); });
  return connection;
}

template <class AnyFrame>
void Links::send_on(const LinkPtr& link, ConnectionId connection, const AnyFrame& frame) {
  const auto soon = [this](auto act) {
    runtime_.wake_from_outside([receiver = receiver_, act] {
      receiver->alone([&](Receiver* above) { act(*receiver, above); });
    });
  };
  try {
    link->write(connection, frame);
    receiver_->notify_soon_of_own_room(*link);
  } catch (const LinkError& error) {
    soon([link, wrong = std::string(error.what())](LinkReceiver& receiver, Receiver*) {
      receiver.refuse(link, wrong);
    });
  } catch (const std::exception& error) {
    if (!link->close(connection)) return;
    receiver_->notify_soon_of_own_room(*link);
    const std::string peer = link->is_ours() ? "host " + peer_name(*peers_, *link) : "the peer";
    soon([connection, reason = fmt::format("cannot send to {}: {}", peer, error.what())](
             LinkReceiver&, Receiver* above) {
      if (above != nullptr) above->connection_lost(connection, reason);
    });
  }
}

void Links::send(ConnectionId connection, const Frame& frame) {
  if (const LinkPtr link = links_.find(connection)) send_on(link, connection, frame);
}

class Links::Way final : public ShortWay {
 public:
  Way(std::shared_ptr<Links> links, LinkPtr link, ConnectionId connection)
      : links_(std::move(links)), link_(std::move(link)), connection_(connection) {}
  void send(const ShortFrame& frame) override { links_->send_on(link_, connection_, frame); }
  /// Returns true, because send() calls no receiver. send() only writes to the ring, and wakes the
  /// peer if none of the peer's threads polls.
  bool only_writes() const override { return true; }

 private:
  const std::shared_ptr<Links> links_;
  const LinkPtr link_;
  const ConnectionId connection_;
};

std::shared_ptr<ShortWay> Links::short_way(ConnectionId connection) {
  LinkPtr link = links_.find(connection);
  if (!link || link->is_diverted()) return nullptr;
  return std::make_shared<Way>(shared_from_this(), std::move(link), connection);
}

bool Links::has_room(ConnectionId connection) {
  const LinkPtr link = links_.find(connection);
  return !link || link->has_room(connection);
}

/// A peer that has not replied yet does not count as local, because its process may not exist.
PeerContact Links::contact(ConnectionId connection) {
  const LinkPtr link = links_.find(connection);
  return {.is_local = link && (link->has_begun || link->is_diverted())};
}

void Links::drop(ConnectionId connection) {
  const LinkPtr link = links_.find(connection);
  if (!link) return;
  try {
    link->close(connection);
    receiver_->notify_soon_of_own_room(*link);
    // Ignores this error. The next thread or fiber that reads or writes on the link handles it.
  } catch (const LinkError&) {
  }
}

void Links::stop() {
  runtime::Lock lock(mutex_);
  if (!std::exchange(started_, false)) return;
  const runtime::Deadline until = runtime::Deadline::written_at(runtime_.now() + linger);
  receiver_->report_receipts();
  const runtime::Reason reason{"the transport to close"};
  while (!links_.is_flushed())
    if (stopped_.wait(lock, until, reason) == runtime::Woken::expired) break;
  lock.unlock();
  if (receiver_->sign) runtime_.remove_poller(*receiver_);
  // The runtime runs tasks in the order in which they were queued. A task that calls open() queues
  // a second task, which begins to watch the socket. Both tasks must run before close_all(). This
  // function therefore queues a task that queues close_all().
  runtime_.wake_from_outside([self = shared_from_this()] {
    self->runtime_.wake_from_outside([self] { self->close_all(); });
  });
  lock.lock();
  while (!closed_) stopped_.wait(lock, runtime::Deadline::never(), reason);
}

void Links::notify_if_flushed() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  if (links_.is_flushed()) stopped_.wake_all(wakes);
}

// ---- functions that run on the services' thread ----------------------------------------------

/// Opens a link. Retries until the peer accepts the link, or until no connection needs the link.
void Links::open(LinkPtr link) {
  if (closed_ || links_.forget_unused(link)) return;
  if (!receiver_->sign) return divert(link, why_without_memory_);
  try {
    link->socket = connect_link(peers_->hosts[*link->host].address);
  } catch (const std::system_error& error) {
    return lose(link, fmt::format("host {} cannot connect to it: {}", peers_->hosts[host_].name,
                                  error.what()));
  } catch (const std::runtime_error& error) {
    return divert(link, error.what());
  }
  if (link->socket && !is_this_users(link->socket)) {
    link->socket.close();
    if (!std::exchange(is_stranger_named_, true))
      receiver_->alone([&](Receiver* above) {
        if (above != nullptr)
          above->turned_away("", fmt::format("turned away: a process of another user listens "
                                             "for links of host {}; nothing was sent to it",
                                             peer_name(*peers_, *link)));
      });
  }
  if (link->socket) {
    try {
      link->area = RingArea::make();
    } catch (const std::system_error& error) {
      link->socket.close();
      return divert(link, error.what());
    }
    if (send_greeting(link->socket, link->area.descriptor(), receiver_->sign.descriptor()))
      return listen_to(link);
    link->socket.close();
  }
  if (unanswered_.empty()) set_timer(timer_, pause_ = first_pause);
  unanswered_.push_back(std::move(link));
}

void Links::retry() {
  std::uint64_t ignored;
  [[maybe_unused]] const auto bytes = read(timer_.get(), &ignored, sizeof ignored);
  const base::Nanos next = std::min(2 * pause_, longest_pause);
  for (LinkPtr& link : std::exchange(unanswered_, {})) open(std::move(link));
  if (!unanswered_.empty()) set_timer(timer_, pause_ = next);
}

void Links::accept() {
  for (;;) {
    Descriptor socket = accept_link(door_.listening);
    if (!socket) {
      const int error = errno;
      if (error != EAGAIN && std::exchange(accept_failed_, error) != error)
        receiver_->alone([&](Receiver* above) {
          if (above != nullptr) above->turned_away("", accept_failed_text(error));
        });
      return;
    }
    if (!is_this_users(socket)) {
      receiver_->alone([](Receiver* above) {
        if (above != nullptr) above->turned_away("", "turned away: a process of another user");
      });
      continue;
    }
    const LinkPtr link = links_.add_accepted();
    link->socket = std::move(socket);
    listen_to(link);
  }
}

void Links::listen_to(const LinkPtr& link) {
  runtime_.watch(link->socket.get(), [this, link] { hear(link); });
}

void Links::hear(const LinkPtr& link) {
  bool is_called = false;
  while (link->socket) {
    SocketWord word = next_word(link->socket);
    if (word.kind == SocketWord::Kind::nothing) break;
    if (word.kind == SocketWord::Kind::end) return peer_ended(link);
    is_called = true;
    if (word.kind == SocketWord::Kind::greeting) take_greeting(link, std::move(word));
    if (word.kind == SocketWord::Kind::refusal && link->is_ours() && !link->has_begun)
      divert(link, fmt::format("the system refuses it to host {}", peer_name(*peers_, *link)));
  }
  if (is_called) receiver_->look_once();
}

/// Handles the end of a peer. First delivers all frames that have arrived, then reports the loss.
void Links::peer_ended(const LinkPtr& link) {
  if (!link->has_begun && link->is_ours()) {
    runtime_.unwatch(link->socket.get());
    link->socket.close();
    if (unanswered_.empty()) set_timer(timer_, pause_ = first_pause);
    return unanswered_.push_back(link);
  }
  bool has_more = link->has_begun;
  while (has_more)
    receiver_->alone(
        [&](Receiver* above) { has_more = above != nullptr && receiver_->receive_from(link); });
  lose(link, process_ended);
}

void Links::lose(const LinkPtr& link, const std::string& reason) {
  receiver_->alone([&](Receiver* above) {
    if (link->socket) runtime_.unwatch(link->socket.get());
    receiver_->remove(link);
    for (const ConnectionId connection : link->end())
      if (above != nullptr) above->connection_lost(connection, reason);
  });
  links_.forget(link);
  notify_if_flushed();
}

void Links::close_all() {
  const std::vector<LinkPtr> links = links_.take_all();
  receiver_->alone([&](Receiver*) {
    receiver_->end();
    for (const LinkPtr& link : links) {
      if (link->socket) runtime_.unwatch(link->socket.get());
      link->end();
    }
  });
  unanswered_.clear();
  if (door_.listening) runtime_.unwatch(door_.listening.get());
  runtime_.unwatch(timer_.get());
  door_ = {};
  timer_.close();
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  closed_ = true;
  stopped_.wake_all(wakes);
}

}  // namespace paths
