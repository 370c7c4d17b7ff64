// SPDX-License-Identifier: Apache-2.0
// collectives/cost/meeting.hpp — pairing of the sending and receiving steps of messages.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace pricing {

using MessageIndex = std::uint32_t;

/// The messages from one participant to another on one channel. The k-th sending step belongs to
/// the k-th receiving step.
struct Stream {
  collectives::Rank source = 0;
  collectives::Rank target = 0;
  collectives::Channel channel = 0;
  friend bool operator==(const Stream&, const Stream&) = default;
};

/// Unfinished messages, each with an index. Later messages reuse the indexes of finished messages.
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
  /// Frees the index of a finished message for later messages.
  void recycle(MessageIndex index) { vacant_.push_back(index); }
  Message& operator[](MessageIndex index) { return all_[index]; }
  const Message& operator[](MessageIndex index) const { return all_[index]; }

 private:
  std::vector<Message> all_;
  std::vector<MessageIndex> vacant_;
};

/// Pairs the sending step and the receiving step of each message. A message of which only one step
/// is admitted waits in the queue of its stream, oldest first.
class Meeting {
 public:
  /// Finds the message of a step that was just admitted. `is_sender` is true for a sending step.
  /// Returns the oldest message of the stream that waits for such a step. If there is none, returns
  /// nullopt; the caller must then add a message and pass it to wait().
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
    // True = the waiting messages have a sending step but no receiving step. False = they have a
    // receiving step but no sending step.
    bool are_sent = false;
    MessageIndex first = 0, last = 0;
  };
  std::unordered_map<Stream, Waiting, Hash> waiting_;
  std::vector<MessageIndex> next_;  // next message of the same stream, indexed by message
};

}  // namespace pricing
