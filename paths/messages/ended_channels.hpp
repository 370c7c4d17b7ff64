// SPDX-License-Identifier: Apache-2.0
// paths/messages/ended_channels.hpp — channels of a group on which a host needed no messages
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "paths/messages/channel_range.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Channels on which this host has done its part without messages, and which the endpoint has not
/// closed yet. The endpoint closes them before it handles the next frame or call of the group.
///
/// Why: an operation in shared memory takes less time than a call of the endpoint.
/// Thread-safe: all functions.
class EndedChannels {
 public:
  /// Number of channels whose purposes are remembered: the channels that ended last.
  static constexpr std::size_t purposes_max = 128;

  /// Notes that a channel has ended. `signature_digest` is the digest of its purpose, and `what` is
  /// a text of its purpose. Returns false, and notes nothing, if other channels are noted and the
  /// channel does not follow the last of them.
  bool note(std::uint64_t channel, std::uint64_t signature_digest,
            const std::shared_ptr<const std::string>& what) {
    const runtime::Lock lock(mutex_);
    if (count_ == 0) first_ = channel;
    if (channel != first_ + count_) return false;
    ++count_;
    digests_[channel % purposes_max] = signature_digest;
    if (what_ != what) what_ = what;
    return true;
  }
  /// If channels are noted, calls `close(channels, digest_of, what)` and forgets the channels.
  /// `digest_of(channel)` returns the digest of a purpose that is remembered. `what` is a text of
  /// the purpose of the last channel.
  template <class Close>
  void take(const Close& close) {
    const runtime::Lock lock(mutex_);
    if (count_ == 0) return;
    close(
        Channels{first_, first_ + count_ - 1},
        [this](std::uint64_t channel) { return digests_[channel % purposes_max]; }, what_);
    count_ = 0;
  }

 private:
  runtime::Mutex mutex_;
  std::uint64_t first_ = 0, count_ = 0;  // the noted channels
  std::array<std::uint64_t, purposes_max> digests_{};
  std::shared_ptr<const std::string> what_;
};

}  // namespace paths
