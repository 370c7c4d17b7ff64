// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/greetings.cpp — exchange of greetings on new links, and start of detours
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "paths/wire/shared_memory/links.hpp"

namespace paths {

void Links::take_greeting(const LinkPtr& link, SocketWord word) {
  try {
    if (word.greeting != LinkGreeting{} || link->has_begun)
      throw LinkError("a greeting that is none of ours");
    answer_greeting(link, std::move(word));
  } catch (const std::system_error& error) {
    refuse_memory(link, error.what());
  } catch (const std::exception& error) {
    receiver_->alone([&](Receiver*) { receiver_->refuse(link, error.what()); });
  }
}

void Links::answer_greeting(const LinkPtr& link, SocketWord word) {
  auto& [first, second] = word.descriptors;
  if (!receiver_->sign)
    throw std::system_error(ENOMEM, std::generic_category(), why_without_memory_);
  if (word.lacks_descriptors)
    throw std::system_error(EMFILE, std::generic_category(), "no descriptors for shared memory");
  if (link->is_ours()) {
    link->begin(std::move(link->area), PollingFlag::of(std::move(first)), 0);
  } else {
    RingArea area = RingArea::of(std::move(first));
    PollingFlag sign = PollingFlag::of(std::move(second));
    send_greeting(link->socket, receiver_->sign.descriptor());
    link->begin(std::move(area), std::move(sign), 1);
  }
  receiver_->alone([&](Receiver*) { receiver_->add(link); });
}

/// Handles the case that a peer has shared memory, but this host cannot map the memory. If this
/// host made the link, diverts the link. If the peer made the link, refuses the link.
void Links::refuse_memory(const LinkPtr& link, const std::string& why) {
  if (link->is_ours()) return divert(link, why);
  say_once(why);
  send_refusal(link->socket);
  lose(link, "");  // needs no reason, because no frame has arrived on the link yet
}

/// Sends the frames of the link's connections over sockets from now on, and logs the reason `why`.
/// If sockets must not be used, reports the loss of the link instead.
void Links::divert(const LinkPtr& link, const std::string& why) {
  if (peers_->requires_shared_memory || !detour_)
    return lose(
        link, fmt::format("cannot share memory with host {}: {}", peer_name(*peers_, *link), why));
  say_once(why);
  if (link->socket) runtime_.unwatch(link->socket.get());
  link->socket.close();
  link->area = RingArea();
  link->divert(LinkDetour(detour_, link->number, *link->host));
  receiver_->alone([&](Receiver* above) {
    if (above != nullptr) receiver_->notify_of_own_room(link);
  });
}

void Links::say_once(const std::string& why) {
  if (std::exchange(has_said_, true)) return;
  spdlog::warn(
      "host {}: no shared memory: {}; frames that would use it go over sockets, which takes "
      "longer (`shared_memory: true` in the config makes it an error, `false` expects it)",
      peers_->hosts[host_].name, why);
}

}  // namespace paths
