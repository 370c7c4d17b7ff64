// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outbound_channel.cpp — lists of unsent messages, and an index by name
#include "paths/messages/channels/outbound_channel.hpp"

#include "base/errors.hpp"

namespace paths {

void OutboundChannel::Channel::put(Message message) {
  message.serial = serials_++;
  const Place place = place_of(message);
  Messages& list = message.is_granted ? granted_ : message.waits_for_grant ? waiting_ : paying_;
  places_.insert({message.name, place});
  list.emplace(place, std::move(message));
}

const OutboundChannel::Message* OutboundChannel::Channel::find_at(const Place& place) const {
  for (const Messages* list : {&paying_, &granted_, &waiting_})
    if (const auto found = list->find(place); found != list->end()) return &found->second;
  return nullptr;
}

OutboundChannel::Message* OutboundChannel::Channel::find(MessageName name) {
  const auto found = places_.lower_bound({name, {0, 0}});
  if (found == places_.end() || found->first != name) return nullptr;
  return const_cast<Message*>(find_at(found->second));
}

bool OutboundChannel::Channel::holds(std::uint64_t number) const {
  auto named = places_.lower_bound({{number, 0}, {0, 0}});
  for (; named != places_.end() && named->first.channel == number; ++named)
    if (!find_at(named->second)->wait->is_abandoned) return true;
  return false;
}

/// Returns the list that contains a message.
OutboundChannel::Channel::Messages& OutboundChannel::Channel::list_of(const Message& message) {
  for (Messages* list : {&paying_, &granted_})
    if (list->contains(place_of(message))) return *list;
  return waiting_;
}

void OutboundChannel::Channel::grant(Message& message) {
  if (message.is_granted) return;
  message.is_granted = true;
  granted_.insert(list_of(message).extract(place_of(message)));
}

/// Returns the first message of a list. Moves withdrawn messages to waiting_, because their memory
/// must not be read.
OutboundChannel::Message* OutboundChannel::Channel::first(Messages& messages) {
  while (!messages.empty() && messages.begin()->second.wait->is_abandoned)
    waiting_.insert(messages.extract(messages.begin()));
  return messages.empty() ? nullptr : &messages.begin()->second;
}

void OutboundChannel::Channel::end(Message& message) {
  const Place place = place_of(message);
  places_.erase({message.name, place});
  ENSURE_EQ(list_of(message).erase(place), 1U);
}

void OutboundChannel::Channel::drop(const Channels& which,
                                    std::vector<std::shared_ptr<LaneWait>>& waiting) {
  auto named = places_.lower_bound({{which.first, 0}, {0, 0}});
  while (named != places_.end() && named->first.channel <= which.last) {
    Message& message = *find(named->first);
    waiting.push_back(std::move(message.wait));
    list_of(message).erase(named->second);
    named = places_.erase(named);
  }
}

}  // namespace paths
