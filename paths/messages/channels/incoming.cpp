// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/incoming.cpp — assembly of messages from their frames
#include "paths/messages/channels/incoming.hpp"

#include <fmt/format.h>

#include <cstring>

namespace paths {

InboundChannel::Asked InboundChannel::receive(const NamedMessage& which,
                                              std::shared_ptr<LaneWait> wait) {
  const MessageName name{which.channel, which.has_name ? which.name : next_[which.channel]++};
  Message& message = messages_[name];
  message.wait = std::move(wait);
  for (const Piece& piece : std::exchange(message.pieces, {}))
    put(message, piece.offset, piece.bytes);
  account_.give_back(std::exchange(message.charge, 0));
  if (!message.is_complete()) return {name, false};
  message.wait->received.payload = finish(message);
  messages_.erase(name);
  return {name, true};
}

bool InboundChannel::awaits(std::uint64_t channel) const {
  for (auto message = messages_.lower_bound({channel, 0});
       message != messages_.end() && message->first.channel == channel; ++message)
    if (message->second.wait != nullptr) return true;
  return false;
}

void InboundChannel::hold_back(MessageName name, std::uint64_t signature_digest) {
  messages_[name].held_back = signature_digest;
  holds_back_ = true;
}

std::vector<InboundChannel::HeldBack> InboundChannel::take_held_back() {
  std::vector<HeldBack> all;
  if (!std::exchange(holds_back_, false)) return all;
  for (auto& [name, message] : messages_) {
    const auto signature_digest = std::exchange(message.held_back, std::nullopt);
    if (signature_digest) all.push_back({name, *signature_digest});
  }
  return all;
}

std::vector<std::shared_ptr<LaneWait>> InboundChannel::close(const Channels& which) {
  std::vector<std::shared_ptr<LaneWait>> waiting;
  for (auto message = messages_.lower_bound({which.first, 0});
       message != messages_.end() && message->first.channel <= which.last;) {
    account_.give_back(message->second.charge);
    if (message->second.wait != nullptr) waiting.push_back(std::move(message->second.wait));
    message = messages_.erase(message);
  }
  return waiting;
}

std::string InboundChannel::discard(const LaneFrame& frame) {
  const std::uint64_t charge = frame.is_granted ? 0 : charge_of(frame.payload.size());
  if (charge > 0 && !account_.take(charge))
    return fmt::format("{} bytes beyond its window, of which {} were left", charge,
                       account_.unused());
  account_.give_back(charge);
  if (frame.offset + frame.payload.size() == frame.bytes) ++arrived_;
  return {};
}

/// Adds bytes to a message. If the sender is a host of this process, the parts of the message are
/// adjacent in one array, and put() joins them without a copy.
/// Requires: `size` and `wait` of the message are set.
void InboundChannel::put(Message& message, std::uint64_t offset, const base::Payload& bytes) {
  if (message.wait->is_abandoned) return;
  if (message.has_place()) return message.wait->lent.write(offset, bytes.bytes());
  if (message.place == nullptr && offset == 0 && message.begin.empty()) {
    message.begin = bytes;
    return;
  }
  if (message.place == nullptr && offset == message.begin.size() && message.begin.join(bytes))
    return;
  const auto copy = [&](std::uint64_t at, const base::Payload& from) {
    std::memcpy(message.place.get() + at, from.bytes().data(), from.size());
  };
  if (message.place == nullptr) {
    message.place = std::make_shared_for_overwrite<std::byte[]>(*message.size);
    copy(0, std::exchange(message.begin, {}));
  }
  copy(offset, bytes);
}

base::Payload InboundChannel::finish(Message& message) {
  message.wait->received.is_in_place = message.has_place();
  if (message.place == nullptr) return std::move(message.begin);
  const std::span<const std::byte> bytes(message.place.get(), *message.size);
  return base::Payload::adopt(bytes, [place = std::move(message.place)] {});
}

std::string InboundChannel::wrong(const Message* message, const LaneFrame& frame) const {
  const std::uint64_t bytes = frame.payload.size();
  if (bytes > frame.bytes || frame.offset > frame.bytes - bytes)
    return fmt::format("bytes {} to {} of a message of {}", frame.offset, frame.offset + bytes,
                       frame.bytes);
  const auto next = next_.find(frame.channel);
  const bool was_asked = next != next_.end() && frame.ordinal < next->second;
  if (message == nullptr && was_asked)
    return fmt::format("message {} of channel {} a second time", frame.ordinal, frame.channel);
  if (frame.is_granted && (message == nullptr || message->wait == nullptr))
    return fmt::format("message {} of channel {} as granted, which it is not", frame.ordinal,
                       frame.channel);
  if (!frame.is_granted && charge_of(bytes) > account_.unused())
    return fmt::format("{} bytes beyond its window, of which {} were left", charge_of(bytes),
                       account_.unused());
  if (message == nullptr || !message->size) return {};
  if (*message->size != frame.bytes)
    return fmt::format("a message of {} bytes as one of {}", *message->size, frame.bytes);
  if (message->arrived + bytes > *message->size || message->is_complete())
    return fmt::format("more than the {} bytes of a message", *message->size);
  return {};
}

std::string InboundChannel::take(LaneFrame frame, std::vector<std::shared_ptr<LaneWait>>& ended) {
  const MessageName name{frame.channel, frame.ordinal};
  const auto found = messages_.find(name);
  std::string mistake = wrong(found == messages_.end() ? nullptr : &found->second, frame);
  if (!mistake.empty()) return mistake;
  Message& message = messages_[name];
  message.size = frame.bytes;
  message.arrived += frame.payload.size();
  const std::uint64_t charge = frame.is_granted ? 0 : charge_of(frame.payload.size());
  if (charge > 0) account_.take(charge);
  if (message.wait == nullptr) {
    message.charge += charge;
    message.pieces.push_back({frame.offset, std::move(frame.payload)});
  } else {
    account_.give_back(charge);
    put(message, frame.offset, frame.payload);
  }
  if (!message.is_complete()) return {};
  ++arrived_;
  if (message.wait == nullptr) return {};
  message.wait->received.payload = finish(message);
  ended.push_back(std::move(message.wait));
  messages_.erase(name);
  return {};
}

std::vector<std::shared_ptr<LaneWait>> InboundChannel::end_after(std::uint64_t messages) {
  last_message_ = messages;
  return is_over() ? take_waiting() : std::vector<std::shared_ptr<LaneWait>>();
}

std::vector<std::shared_ptr<LaneWait>> InboundChannel::take_waiting() {
  std::vector<std::shared_ptr<LaneWait>> all;
  for (auto message = messages_.begin(); message != messages_.end();) {
    const bool is_waited_for = message->second.wait != nullptr;
    if (is_waited_for) all.push_back(std::move(message->second.wait));
    message = is_waited_for ? messages_.erase(message) : std::next(message);
  }
  return all;
}

std::vector<std::shared_ptr<LaneWait>> InboundChannel::drop() {
  std::vector<std::shared_ptr<LaneWait>> all = take_waiting();
  messages_.clear();
  account_.close();
  last_message_ = 0;
  return all;
}

}  // namespace paths
