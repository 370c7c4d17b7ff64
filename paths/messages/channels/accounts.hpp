// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/accounts.hpp — who may send how many bytes that nobody has asked for yet.
#pragma once
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace paths {

/// What a frame counts against credit: its payload, and something for itself, so that very many
/// small ones are bounded, too.
inline constexpr std::uint64_t frame_overhead_bytes = 128;
constexpr std::uint64_t charge_of(std::uint64_t payload_bytes) {
  return payload_bytes + frame_overhead_bytes;
}

/// A message of a lane: the n-th of its channel.
struct MessageName {
  std::uint64_t channel = 0;
  std::uint64_t ordinal = 0;
  friend auto operator<=>(const MessageName&, const MessageName&) = default;
};

/// The memory of a host for messages that nobody there has asked for. Credit that was issued and
/// not returned never exceeds it, so neither does what lies there.
///
/// Sharing: guarded by its owner's mutex, as all in this file.
class Inbox {
 public:
  explicit Inbox(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t issued() const { return issued_; }
  std::uint64_t free() const { return bytes_ - issued_; }
  /// What lies there, and the most that ever did.
  std::uint64_t held() const { return held_; }
  std::uint64_t held_most() const { return held_most_; }

 private:
  friend class Account;
  const std::uint64_t bytes_;
  std::uint64_t issued_ = 0, held_ = 0, held_most_ = 0;
};

/// A receiver's side of one (group, source): what it issued. No credit is presumed by anybody.
class Account {
 public:
  /// It aims at so many bytes, and issues no less than `least` at once, unless the source has so
  /// little left: a control frame for each frame would double their number.
  Account(Inbox& inbox, std::uint64_t aim, std::uint64_t least)
      : inbox_(inbox), aim_(aim), least_(least) {}
  ~Account() { close(); }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// Issues what is missing, as far as the inbox goes: how much, for the source to be told.
  std::uint64_t issue();
  /// Whether issue() would give more if the inbox had room.
  bool is_short() const { return !is_closed_ && wants() > 0; }
  /// A frame has come that credit paid for. False, and nothing happened, when it was not issued.
  bool take(std::uint64_t charge);
  /// Its bytes were taken or dropped.
  void give_back(std::uint64_t charge);
  /// Nothing of it will be used any more: all of it returns.
  void close();

  std::uint64_t unused() const { return issued_ - held_; }  ///< that the source may still use
  /// It may use so much of what this aims at that nothing of it waits for more.
  bool is_ample() const { return unused() >= aim_ / 2 && unused() > 0; }
  std::uint64_t held() const { return held_; }

 private:
  std::uint64_t wants() const;
  Inbox& inbox_;
  const std::uint64_t aim_, least_;
  std::uint64_t issued_ = 0;  // and not returned
  std::uint64_t held_ = 0;    // of it, by what has come
  bool is_closed_ = false;
};

/// The sender's side of the same.
class Window {
 public:
  std::uint64_t credit() const { return credit_; }
  void add(std::uint64_t bytes) { credit_ += bytes; }
  /// No byte of that message, which is to come, needs credit.
  void grant(MessageName name) { granted_.insert(name); }
  bool is_granted(MessageName name) const { return granted_.contains(name); }
  bool can_pay(std::uint64_t charge) const { return charge <= credit_; }
  void pay(std::uint64_t charge) { credit_ -= charge; }
  /// Whether it was granted, which is not kept any longer.
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
