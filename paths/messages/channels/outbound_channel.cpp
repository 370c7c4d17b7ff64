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

OutboundChannel::Message* OutboundChannel::Channel::find(MessageName name) {
  const auto found = places_.lower_bound({name, {0, 0}});
  if (found == places_.end() || found->first != name) return nullptr;
  return &list_of(found->second).at(found->second);
}

bool OutboundChannel::Channel::holds(std::uint64_t number) {
  auto named = places_.lower_bound({{number, 0}, {0, 0}});
  for (; named != places_.end() && named->first.channel == number; ++named)
    if (!list_of(named->second).at(named->second).wait->is_abandoned) return true;
  return false;
}

/// Returns the list that contains the message at `place` (its order and serial).
OutboundChannel::Channel::Messages& OutboundChannel::Channel::list_of(const Place& place) {
  for (Messages* list : {&paying_, &granted_})
    if (list->contains(place)) return *list;
  return waiting_;
}

void OutboundChannel::Channel::grant(Message& message) {
  if (message.is_granted) return;
  message.is_granted = true;
  granted_.insert(list_of(place_of(message)).extract(place_of(message)));
}

/// Returns the first message of a list whose handle was not dropped; nullptr if there is none.
/// Moves messages whose handle was dropped to waiting_, because their memory must not be read.
OutboundChannel::Message* OutboundChannel::Channel::first(Messages& messages) {
  while (!messages.empty() && messages.begin()->second.wait->is_abandoned)
    waiting_.insert(messages.extract(messages.begin()));
  return messages.empty() ? nullptr : &messages.begin()->second;
}

void OutboundChannel::Channel::end(Message& message) {
  const Place place = place_of(message);
  places_.erase({message.name, place});
  ENSURE_EQ(list_of(place).erase(place), 1U);
}

void OutboundChannel::Channel::drop(const Channels& which,
                                    std::vector<std::shared_ptr<LaneWait>>& waiting) {
  auto named = places_.lower_bound({{which.first, 0}, {0, 0}});
  while (named != places_.end() && named->first.channel <= which.last) {
    auto message = list_of(named->second).extract(named->second);
    waiting.push_back(std::move(message.mapped().wait));
    named = places_.erase(named);
  }
}

}  // namespace paths
