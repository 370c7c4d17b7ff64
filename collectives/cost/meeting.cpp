// SPDX-License-Identifier: Apache-2.0
// collectives/cost/meeting.cpp — queues of messages that lack their sending or receiving step, by
// sender, receiver and channel.
#include "collectives/cost/meeting.hpp"

namespace pricing {

std::optional<MessageIndex> Meeting::meet(const Stream& stream, bool is_sender) {
  const auto found = waiting_.find(stream);
  if (found == waiting_.end() || found->second.are_sent == is_sender) return std::nullopt;
  const MessageIndex message = found->second.first;
  if (message == found->second.last)
    waiting_.erase(found);
  else
    found->second.first = next_[message];
  return message;
}

void Meeting::wait(const Stream& stream, bool is_sender, MessageIndex message) {
  if (next_.size() <= message) next_.resize(message + 1);
  const auto [found, is_first] = waiting_.try_emplace(stream, Waiting{is_sender, message, message});
  if (is_first) return;
  next_[found->second.last] = message;
  found->second.last = message;
}

}  // namespace pricing
