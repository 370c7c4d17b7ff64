// SPDX-License-Identifier: Apache-2.0
// paths/wire/signs_of_life.hpp — times of the last frames from and to a peer, and states of peers
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <string>
#include <utility>

#include "base/units.hpp"

namespace paths {

/// Times of `liveness` in the config.
struct LivenessTimes {
  base::Nanos beat = std::chrono::seconds(1);  ///< longest time without a frame to a living peer
  base::Nanos silent =
      std::chrono::seconds(15);  ///< time without a frame after which a peer is gone

  /// Returns the times for a host that stops waiting for silent peers after `longest`.
  LivenessTimes at_most(base::Nanos longest) const {
    constexpr int beats_per_silence = 4;
    const base::Nanos shorter = std::min(silent, longest);
    return {std::min(beat, shorter / beats_per_silence), shorter};
  }
  /// Returns the time between two looks at the peers.
  base::Nanos look_pause() const {
    constexpr int looks_per_beat = 4;
    return std::max<base::Nanos>(beat / looks_per_beat, std::chrono::milliseconds(1));
  }
};

/// What the operating system knows about the peer of a connection.
struct PeerContact {
  bool is_local = false;  ///< whether the peer is a process of this machine, and exists
  std::optional<base::Nanos> since_bytes = {};  ///< time since bytes of the peer have arrived
  /// Time since the peer's machine has acknowledged bytes.
  std::optional<base::Nanos> since_acknowledgement = {};
};

/// Returns the state of a peer without a frame for `silence`, as text. The peer is frozen if its
/// machine answers, and unreachable if nothing answers.
inline std::string silence_text(const PeerContact& contact, base::Nanos silence) {
  const auto tenths = std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(silence);
  const std::string age = base::format_time(silence < std::chrono::seconds(1) ? silence : tenths);
  if (contact.is_local)
    return fmt::format("frozen: its process exists, but gave no sign of life for {}", age);
  if (!contact.since_acknowledgement) return fmt::format("it gave no sign of life for {}", age);
  // A machine that answers acknowledges each beat. Otherwise its last acknowledgement is nearly as
  // old as the last frame.
  if (*contact.since_acknowledgement < silence / 2)
    return fmt::format("frozen: its machine answers, but it gave no sign of life for {}", age);
  return fmt::format("unreachable: nothing from its machine, not even acknowledgements, for {}",
                     age);
}

/// Times of the last frames between this host and one peer. Frames only set flags; the times are
/// those of the next look.
///
/// Thread-safe: no; guarded by its owner's mutex.
class SignsOfLife {
 public:
  void note_arrival() { has_arrived_ = true; }
  void note_departure() { has_left_ = true; }
  /// Returns for how long no frame has arrived from the peer. The first look counts as an arrival.
  base::Nanos look(base::Nanos now) {
    if (std::exchange(has_arrived_, false) || !last_arrival_) last_arrival_ = now;
    return now - *last_arrival_;
  }
  /// Returns whether a beat must leave, because no frame has left for `beat`.
  bool needs_beat(base::Nanos now, base::Nanos beat) {
    if (std::exchange(has_left_, false)) last_departure_ = now;
    if (last_departure_ && now - *last_departure_ < beat) return false;
    last_departure_ = now;
    return true;
  }

 private:
  bool has_arrived_ = false, has_left_ = false;
  std::optional<base::Nanos> last_arrival_, last_departure_;
};

/// Tells whether this host itself was stopped between two looks. If so, it must not count the time
/// as silence of its peers, whose frames it has not read.
class OwnStops {
 public:
  bool was_stopped(base::Nanos now, const LivenessTimes& times) {
    const auto last = std::exchange(last_look_, now);
    return last && now - *last >= times.silent * 3 / 4;
  }

 private:
  std::optional<base::Nanos> last_look_;
};

}  // namespace paths
