// SPDX-License-Identifier: Apache-2.0
// paths/wire/signs_of_life.hpp — times of the last frames of a peer, and detection of silent peers
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

/// Durations of the key `liveness` in the config.
struct LivenessTimes {
  base::Nanos beat = std::chrono::seconds(1);  ///< longest interval between frames to a living peer
  base::Nanos silent =
      std::chrono::seconds(15);  ///< duration without a frame after which a peer counts as gone

  /// Returns these durations, shortened so that a peer counts as gone after at most `longest`.
  LivenessTimes at_most(base::Nanos longest) const {
    constexpr int beats_per_silence = 4;
    const base::Nanos shorter = std::min(silent, longest);
    return {std::min(beat, shorter / beats_per_silence), shorter};
  }
  /// Returns the duration between two checks of the peers.
  base::Nanos look_pause() const {
    constexpr int looks_per_beat = 4;
    return std::max<base::Nanos>(beat / looks_per_beat, std::chrono::milliseconds(1));
  }
};

/// What the operating system knows about the peer of a connection.
struct PeerContact {
  bool is_local = false;  ///< whether the peer is an existing process of this machine
  std::optional<base::Nanos> since_bytes = {};  ///< duration since the peer's last bytes arrived
  /// Duration since the peer's machine last acknowledged bytes.
  std::optional<base::Nanos> since_acknowledgement = {};
};

/// State of a peer if another process has connected under its name.
inline constexpr const char* restarted = "restarted: another process has connected under its name";

/// Returns a duration as text: in milliseconds if it is below one second, otherwise in tenths of a
/// second.
inline std::string age_text(base::Nanos age) {
  using Tenths = std::chrono::duration<std::int64_t, std::deci>;
  if (age < std::chrono::seconds(1))
    return base::format_time(std::chrono::round<std::chrono::milliseconds>(age));
  return base::format_time(std::chrono::round<Tenths>(age));
}

/// Returns the state of a lost peer with the age of its last sign of life. `age` is nullopt if the
/// age is unknown.
inline std::string with_age(const std::string& state, std::optional<base::Nanos> age) {
  return age ? fmt::format("{}; last sign of life {} before", state, age_text(*age)) : state;
}

/// Returns a text about a peer from which no frame has arrived for the duration `silence`. The text
/// calls the peer frozen if its process exists on this machine, or if its machine still
/// acknowledges bytes. If its machine acknowledges nothing, the text calls the peer unreachable.
inline std::string silence_text(const PeerContact& contact, base::Nanos silence) {
  const std::string age = age_text(silence);
  if (contact.is_local)
    return fmt::format("frozen: its process exists, but gave no sign of life for {}", age);
  if (!contact.since_acknowledgement) return fmt::format("it gave no sign of life for {}", age);
  // A reachable machine acknowledges each heartbeat. If the machine is unreachable, the last
  // acknowledgement is nearly as old as the last frame.
  if (*contact.since_acknowledgement < silence / 2)
    return fmt::format("frozen: its machine answers, but it gave no sign of life for {}", age);
  return fmt::format("unreachable: nothing from its machine, not even acknowledgements, for {}",
                     age);
}

/// Times of the last frames between this host and one peer. A frame only sets a flag. The next
/// periodic check then takes the time of the check as the time of the frame.
///
/// Thread-safe: no; guarded by its owner's mutex.
class SignsOfLife {
 public:
  void note_arrival() { has_arrived_ = true; }
  void note_departure() { has_left_ = true; }
  /// Returns for how long no frame has arrived from the peer. The first call counts as an arrival.
  base::Nanos look(base::Nanos now) {
    if (std::exchange(has_arrived_, false) || !last_arrival_) last_arrival_ = now;
    return now - *last_arrival_;
  }
  /// Returns the result of the next look(); nullopt if look() was never called.
  std::optional<base::Nanos> age(base::Nanos now) const {
    if (!last_arrival_) return std::nullopt;
    return has_arrived_ ? base::Nanos(0) : now - *last_arrival_;
  }
  /// Returns whether this host must send a sign of life to the peer. This is so if it has sent no
  /// frame to the peer for the duration `beat`.
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

/// Detects that this host was stopped between two checks of its peers. The duration of the stop
/// must not count as silence of the peers, because this host has not read their frames.
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
