// SPDX-License-Identifier: Apache-2.0
// collectives/cost/meeting.hpp — which sending step and which receiving step are one message.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace pricing {

using MessageIndex = std::uint32_t;

/// An ordered pair of participants and a channel: its k-th message sent is its k-th received.
struct Stream {
  collectives::Rank source = 0;
  collectives::Rank target = 0;
  collectives::Channel channel = 0;
  friend bool operator==(const Stream&, const Stream&) = default;
};

/// Unfinished messages by index, in memory that finished ones leave to later ones.
template <class Message>
class Messages {
 public:
  /// Adds a message with default values.
  MessageIndex add() {
    if (vacant_.empty()) {
      all_.emplace_back();
      return static_cast<MessageIndex>(all_.size() - 1);
    }
    const MessageIndex index = vacant_.back();
    vacant_.pop_back();
    all_[index] = {};
    return index;
  }
  /// Frees the index of a finished message for a later one.
  void recycle(MessageIndex index) { vacant_.push_back(index); }
  Message& operator[](MessageIndex index) { return all_[index]; }
  const Message& operator[](MessageIndex index) const { return all_[index]; }

 private:
  std::vector<Message> all_;
  std::vector<MessageIndex> vacant_;
};

/// Messages of which one side is admitted and the other not, first ones first.
class Meeting {
 public:
  /// The message that the other side has already; none: this side is the first, and is to wait().
  std::optional<MessageIndex> meet(const Stream& stream, bool is_sender);
  void wait(const Stream& stream, bool is_sender, MessageIndex message);

 private:
  struct Hash {
    std::size_t operator()(const Stream& stream) const {
      std::uint64_t mixed =
          (std::uint64_t{stream.source} << 32 | stream.target) * 0x9e3779b97f4a7c15U;
      mixed = (mixed ^ mixed >> 32 ^ stream.channel) * 0xd6e8feb86659fd93U;
      return mixed ^ mixed >> 32;
    }
  };
  struct Waiting {
    bool are_sent = false;  // or else wait to be
    MessageIndex first = 0, last = 0;
  };
  std::unordered_map<Stream, Waiting, Hash> waiting_;
  std::vector<MessageIndex> next_;  // by message: the next of its stream
};

}  // namespace pricing
