// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/accounts.hpp — flow control for messages without a receive call
#pragma once
#include <cstdint>
#include <limits>
#include <set>

namespace paths {

/// Credit in bytes that each frame uses in addition to the bytes of its payload. This addition
/// limits the number of small frames.
inline constexpr std::uint64_t frame_overhead_bytes = 128;
constexpr std::uint64_t charge_of(std::uint64_t payload_bytes) {
  return payload_bytes + frame_overhead_bytes;
}

/// Identifies a message of a lane: the number of its channel, and its ordinal in the channel. The
/// ordinal is the number of the message, or its name (NamedMessage).
struct MessageName {
  std::uint64_t channel = 0;
  std::uint64_t ordinal = 0;
  friend auto operator<=>(const MessageName&, const MessageName&) = default;
};

/// Limits the memory for messages that arrive before their receive call. The sum of all credit that
/// was issued and not returned never exceeds the size of the inbox.
///
/// Thread-safe: guarded by its owner's mutex, like all types of this file.
class Inbox {
 public:
  explicit Inbox(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t issued() const { return issued_; }
  std::uint64_t free() const { return bytes_ - issued_; }
  /// Returns the number of bytes of credit that messages in the inbox use now.
  std::uint64_t held() const { return held_; }
  /// Returns the largest value of held() so far.
  std::uint64_t held_most() const { return held_most_; }

 private:
  friend class Account;
  const std::uint64_t bytes_;
  std::uint64_t issued_ = 0, held_ = 0, held_most_ = 0;
};

/// The receiver's account of the credit of one source in one group. A source has no credit until
/// the receiver issues it.
class Account {
 public:
  /// `aim` is the credit in bytes that the source should have. issue() issues nothing until at
  /// least `least` bytes are missing. Not every data frame therefore causes a credit frame.
  /// Exception: if the unused credit of the source is below `least`, issue() issues any amount.
  Account(Inbox& inbox, std::uint64_t aim, std::uint64_t least)
      : inbox_(inbox), aim_(aim), least_(least) {}
  ~Account() { close(); }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// Issues credit up to `aim`, within the limit of the inbox. Returns the number of issued bytes,
  /// which the caller must report to the source.
  std::uint64_t issue();
  /// Returns whether issue() would issue credit if the inbox had room.
  bool is_short() const { return !is_closed_ && wants() > 0; }
  /// Accounts for a frame that uses `charge` bytes of credit. If the source has less unused credit,
  /// does nothing and returns false.
  bool take(std::uint64_t charge);
  /// Returns credit to the inbox after bytes were received or dropped.
  void give_back(std::uint64_t charge);
  /// Returns all credit to the inbox, because the source sends no further messages.
  void close();

  /// Returns the credit that the source may still use.
  std::uint64_t unused() const { return issued_ - held_; }
  /// Returns whether the unused credit of the source is at least half of `aim`. The frames of the
  /// source then need not wait for credit.
  bool is_ample() const { return unused() >= aim_ / 2 && unused() > 0; }

 private:
  std::uint64_t wants() const;
  Inbox& inbox_;
  const std::uint64_t aim_, least_;
  std::uint64_t issued_ =
      0;                    // credit of the source, minus the credit of frames that left the inbox
  std::uint64_t held_ = 0;  // the part of issued_ that frames in the inbox use
  bool is_closed_ = false;
};

/// The sender's account of the credit and grants that it has received from one target in one group.
class Window {
 public:
  std::uint64_t credit() const { return credit_; }
  void add(std::uint64_t bytes) { credit_ += bytes; }
  /// Notes that the receiver has granted a message for which this host has not called send() yet.
  /// The message then needs no credit.
  void grant(MessageName name) { granted_.insert(name); }
  bool can_pay(std::uint64_t charge) const { return charge <= credit_; }
  void pay(std::uint64_t charge) { credit_ -= charge; }
  /// Removes the grant of a message. Returns whether the message had a grant.
  bool forget(MessageName name) { return granted_.erase(name) > 0; }
  /// Removes all grants of the channels from `first` to `last`, both included.
  void forget_channels(std::uint64_t first, std::uint64_t last) {
    granted_.erase(granted_.lower_bound({first, 0}),
                   granted_.upper_bound({last, std::numeric_limits<std::uint64_t>::max()}));
  }

 private:
  std::uint64_t credit_ = 0;
  std::set<MessageName> granted_;
};

}  // namespace paths
