// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/incoming.hpp — the receiver's side of one lane: what came, and who waits
// for it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paths/messages/channels/accounts.hpp"
#include "paths/messages/group.hpp"
#include "paths/wire/lane_frame.hpp"

namespace paths {

/// Of a group, from one host. Bytes that nobody asked for yet lie here and are paid for by credit;
/// the others go straight to their place.
///
/// Sharing: guarded by its owner's mutex.
class InboundChannel {
 public:
  InboundChannel(Inbox& inbox, std::uint64_t aim, std::uint64_t least)
      : account_(inbox, aim, least) {}

  Account& account() { return account_; }
  const Account& account() const { return account_; }

  /// What came of asking for the next message of a channel.
  struct Asked {
    MessageName name;
    bool is_complete = false;  ///< it was all here
  };
  Asked receive(std::uint64_t channel, std::shared_ptr<LaneWait> wait);
  Asked receive(const NamedMessage& which, std::shared_ptr<LaneWait> wait);

  /// Whether a message of that channel is waited for.
  bool awaits(std::uint64_t channel) const;
  std::uint64_t messages_arrived() const { return arrived_; }

  /// Its source is not told yet that it is waited for; `signature_digest` goes with that.
  void hold_back(MessageName name, std::uint64_t signature_digest);
  bool holds_back() const { return holds_back_; }
  struct HeldBack {
    MessageName name;
    std::uint64_t signature_digest = 0;
  };
  /// Those that are still waited for, now to be asked for.
  std::vector<HeldBack> take_held_back();

  /// A frame has come: what is wrong about it, or "". Those whose message is now complete go to
  /// `ended`.
  std::string take(LaneFrame frame, std::vector<std::shared_ptr<LaneWait>>& ended);

  /// What is here of those channels is dropped: who waits for it, to be told.
  std::vector<std::shared_ptr<LaneWait>> close(const Channels& which);
  /// A frame of a channel that nothing is wanted of: what is wrong about it, or "".
  std::string discard(const LaneFrame& frame);

  /// The source sends no more than so many messages in all. Those who wait for others, to be told.
  std::vector<std::shared_ptr<LaneWait>> end_after(std::uint64_t messages);
  /// Who still waits, to be told that it is in vain.
  std::vector<std::shared_ptr<LaneWait>> take_waiting();
  /// Nothing more comes, and what came is dropped: all who wait, to be told.
  std::vector<std::shared_ptr<LaneWait>> drop();
  /// Whether the source has left, and all that it sent is here.
  bool is_over() const { return last_message_ && arrived_ >= *last_message_; }

 private:
  struct Piece {
    std::uint64_t offset = 0;
    base::Payload bytes;
  };
  struct Message {
    std::optional<std::uint64_t> size;  ///< once something of it has come
    std::uint64_t arrived = 0;          ///< bytes
    std::vector<Piece> pieces;          ///< that lie in the inbox
    std::uint64_t charge = 0;           ///< for them
    base::Payload begin;  ///< of one that is waited for: pieces that follow each other in memory
    std::shared_ptr<std::byte[]> place;      ///< or for all of it, where they do not
    std::shared_ptr<LaneWait> wait;          ///< null while nobody asked
    std::optional<std::uint64_t> held_back;  ///< its meaning, while the source is not told
    bool is_complete() const { return size && arrived == *size; }
    /// Goes to memory that was lent for it.
    bool has_place() const { return !wait->lent.empty() && wait->lent.size() == *size; }
  };
  Asked receive(MessageName name, std::shared_ptr<LaneWait> wait);
  static void put(Message& message, std::uint64_t offset, const base::Payload& bytes);
  static base::Payload finish(Message& message);
  std::string wrong(const Message* message, const LaneFrame& frame) const;

  Account account_;
  std::map<MessageName, Message> messages_;      // asked for or come, not both whole
  std::map<std::uint64_t, std::uint64_t> next_;  // ordinal of the next one asked for, by channel
  bool holds_back_ = false;                      // perhaps
  std::uint64_t arrived_ = 0;                    // messages, all of them
  std::optional<std::uint64_t> last_message_;
};

}  // namespace paths
