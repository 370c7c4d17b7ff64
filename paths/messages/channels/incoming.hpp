// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/incoming.hpp — receiving side of one lane
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/messages/channels/accounts.hpp"
#include "paths/messages/group.hpp"
#include "paths/wire/lane_frame.hpp"

namespace paths {

/// Receiving side of a lane: the messages of a group that one other host sends to this host. If a
/// frame arrives before the receive call of its message, its bytes are stored in this object and
/// use credit. If a frame arrives after the receive call, its bytes go directly to the memory of
/// the message.
///
/// Thread-safe: guarded by its owner's mutex.
class InboundChannel {
 public:
  InboundChannel(Inbox& inbox, std::uint64_t aim, std::uint64_t least)
      : account_(inbox, aim, least) {}

  Account& account() { return account_; }
  const Account& account() const { return account_; }

  /// Result of a receive call.
  struct Asked {
    MessageName name;
    bool is_complete = false;  ///< whether the whole message has arrived already
  };
  Asked receive(const NamedMessage& which, std::shared_ptr<LaneWait> wait);

  /// Returns whether a receive call waits for a message of `channel`.
  bool awaits(std::uint64_t channel) const;
  std::uint64_t messages_arrived() const { return arrived_; }

  /// Notes that this host delays the grant of a message. The grant will contain `signature_digest`.
  void hold_back(MessageName name, std::uint64_t signature_digest);
  bool holds_back() const { return holds_back_; }
  struct HeldBack {
    MessageName name;
    std::uint64_t signature_digest = 0;
  };
  /// Removes and returns the delayed grants, except those whose messages have arrived completely.
  std::vector<HeldBack> take_held_back();

  /// Processes a frame. If its message is then complete and has a receive call, appends the wait of
  /// the message to `ended`. Returns an error text; "" if the frame is valid.
  std::string take(LaneFrame frame, std::vector<std::shared_ptr<LaneWait>>& ended);

  /// Drops all messages of the channels `which`. Returns the waits of these messages, which the
  /// caller must fail.
  std::vector<std::shared_ptr<LaneWait>> close(const Channels& which);
  /// Drops a frame of a failed channel. Returns an error text; "" if the frame is valid.
  std::string discard(const LaneFrame& frame);

  /// Notes that the source sends `messages` messages in total in this lane. If all these messages
  /// have arrived, returns the waits for further messages, which the caller must fail.
  std::vector<std::shared_ptr<LaneWait>> end_after(std::uint64_t messages);
  /// Removes and returns all waits, which the caller must fail.
  std::vector<std::shared_ptr<LaneWait>> take_waiting();
  /// Closes the lane and drops all messages. Returns all waits, which the caller must fail.
  std::vector<std::shared_ptr<LaneWait>> drop();
  /// Returns whether the source has left the group and all of its messages have arrived.
  bool is_over() const { return last_message_ && arrived_ >= *last_message_; }

 private:
  struct Piece {
    std::uint64_t offset = 0;
    base::Payload bytes;
  };
  struct Message {
    std::optional<std::uint64_t> size;  ///< in bytes; nullopt until the first frame arrives
    std::uint64_t arrived = 0;          ///< number of bytes received
    std::vector<Piece> pieces;          ///< parts of the message that are stored in the inbox
    std::uint64_t charge = 0;           ///< credit that the stored parts use
    /// Beginning of an awaited message: the parts that have arrived in order and that are adjacent
    /// in memory. Such parts are joined without a copy.
    base::Payload begin;
    std::shared_ptr<std::byte[]> place;  ///< memory for the whole message; nullptr until allocated
    std::shared_ptr<LaneWait> wait;      ///< nullptr until the receive call
    std::optional<std::uint64_t> held_back;  ///< digest in the delayed grant; nullopt = not delayed
    bool is_complete() const { return size && arrived == *size; }
    /// Returns whether the message is written directly into the caller's memory.
    /// Requires: `wait` and `size` are set.
    bool has_place() const { return !wait->lent.empty() && wait->lent.size() == *size; }
  };
  static void put(Message& message, std::uint64_t offset, const base::Payload& bytes);
  static base::Payload finish(Message& message);
  std::string wrong(const Message* message, const LaneFrame& frame) const;

  Account account_;
  // Undelivered messages for which there is a receive call or a frame.
  std::map<MessageName, Message> messages_;
  // Ordinal that the next receive call gets, keyed by channel.
  std::map<std::uint64_t, std::uint64_t> next_;
  bool holds_back_ = false;    // false if no grant is delayed
  std::uint64_t arrived_ = 0;  // number of messages that have arrived completely
  std::optional<std::uint64_t> last_message_;
};

}  // namespace paths
