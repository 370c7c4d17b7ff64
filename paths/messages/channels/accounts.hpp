// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/accounts.hpp — flow control for messages without a receive
#pragma once
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace paths {

/// Bytes of credit that a frame uses: its payload and a fixed overhead. The overhead bounds the
/// number of small frames.
inline constexpr std::uint64_t frame_overhead_bytes = 128;
constexpr std::uint64_t charge_of(std::uint64_t payload_bytes) {
  return payload_bytes + frame_overhead_bytes;
}

/// Identifies a message of a lane: the n-th message of its channel.
struct MessageName {
  std::uint64_t channel = 0;
  std::uint64_t ordinal = 0;
  friend auto operator<=>(const MessageName&, const MessageName&) = default;
};

/// Messages that arrive without a receive must not exhaust a host's memory. The inbox bounds them:
/// credit that was issued and not returned never exceeds its size.
///
/// Thread-safe: guarded by its owner's mutex, like all types of this file.
class Inbox {
 public:
  explicit Inbox(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t issued() const { return issued_; }
  std::uint64_t free() const { return bytes_ - issued_; }
  /// Bytes that messages occupy now, and the maximum so far.
  std::uint64_t held() const { return held_; }
  std::uint64_t held_most() const { return held_most_; }

 private:
  friend class Account;
  const std::uint64_t bytes_;
  std::uint64_t issued_ = 0, held_ = 0, held_most_ = 0;
};

/// The receiver's side of the credit of one (group, source). All credit is issued explicitly.
class Account {
 public:
  /// `aim` is the target for issued credit. `least` is the smallest amount that is issued at once,
  /// unless the source has less than that left. A credit frame for each frame would double their
  /// number.
  Account(Inbox& inbox, std::uint64_t aim, std::uint64_t least)
      : inbox_(inbox), aim_(aim), least_(least) {}
  ~Account() { close(); }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// Issues the missing credit within the limit of the inbox. Returns the bytes to report to the
  /// source.
  std::uint64_t issue();
  /// Whether issue() would issue credit if the inbox had room.
  bool is_short() const { return !is_closed_ && wants() > 0; }
  /// Takes a frame that was paid for by credit. Returns false, without effect, if the credit was
  /// not issued.
  bool take(std::uint64_t charge);
  /// Returns credit after bytes were taken or dropped.
  void give_back(std::uint64_t charge);
  /// Returns all credit. None will be used any more.
  void close();

  std::uint64_t unused() const { return issued_ - held_; }  ///< bytes that the source may still use
  /// Whether at least half of the target is unused, so that no frame waits for credit.
  bool is_ample() const { return unused() >= aim_ / 2 && unused() > 0; }
  std::uint64_t held() const { return held_; }

 private:
  std::uint64_t wants() const;
  Inbox& inbox_;
  const std::uint64_t aim_, least_;
  std::uint64_t issued_ = 0;  // issued and not returned
  std::uint64_t held_ = 0;    // part of issued_ used by arrived frames
  bool is_closed_ = false;
};

/// The sender's side of the credit of one (group, target).
class Window {
 public:
  std::uint64_t credit() const { return credit_; }
  void add(std::uint64_t bytes) { credit_ += bytes; }
  /// Notes that a message, which may come later, needs no credit.
  void grant(MessageName name) { granted_.insert(name); }
  bool is_granted(MessageName name) const { return granted_.contains(name); }
  bool can_pay(std::uint64_t charge) const { return charge <= credit_; }
  void pay(std::uint64_t charge) { credit_ -= charge; }
  /// Forgets a grant. Returns whether there was one.
  bool forget(MessageName name) { return granted_.erase(name) > 0; }
  void forget_channel(std::uint64_t channel) {
    granted_.erase(granted_.lower_bound({channel, 0}),
                   granted_.upper_bound({channel, std::numeric_limits<std::uint64_t>::max()}));
  }

 private:
  std::uint64_t credit_ = 0;
  std::set<MessageName> granted_;
};

}  // namespace paths
