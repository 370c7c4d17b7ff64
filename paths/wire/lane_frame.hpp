// SPDX-License-Identifier: Apache-2.0
// paths/wire/lane_frame.hpp — frames of lanes, which carry messages between hosts
#pragma once
#include <cstdint>
#include <string>

#include "base/payload.hpp"
#include "base/units.hpp"

namespace paths {

enum class LaneKind : std::uint8_t {
  data,    ///< a message, or a piece of one
  credit,  ///< permission to send `bytes` more bytes, given to the target
  grant,   ///< permission to send one whole message, given to the target
  /// Request for credit. With a signature digest it asks whether the message that the source awaits
  /// can still arrive.
  ask,
  /// The source has left the group after `bytes` messages. The text is the reason, or with a
  /// signature digest the last operation that the source took part in.
  left,
  refused,  ///< violation of a rule by the target, described in the text
  failed,   ///< failure of some channels; the text is the reason
  lost,     ///< loss of a host; the text is the reason
  done,     ///< end of threads: bytes 0 the source's, 1 its cluster's, 2 all
  look,     ///< empty; opens the connection, whose loss shows that the target is gone
  // Control of a connection:
  /// First on a connection. The text is the host's name; the signature digest identifies its clock.
  hello,
  welcome,  ///< reply to hello; bytes: MessageEndpoint::end_progress()
  /// Nothing more follows on the connection (bytes 1) or from this host (bytes 0), and everything
  /// before it has arrived. The peer replies with a goodbye.
  goodbye,
  // Numbered like `done`:
  here,  ///< arrival of hosts: bytes 0 the source, 1 its cluster, 2 all
};
inline constexpr LaneKind last_lane_kind = LaneKind::here;

/// Part of a message, or control of messages, between a source and a target host; a value. Hosts
/// between the two pass it on unchanged, except for its times.
struct LaneFrame {
  LaneKind kind = LaneKind::data;
  bool is_granted = false;   ///< data: whether a grant pays for it instead of credit
  bool is_at_once = false;   ///< grant and here: whether emulated links do not delay it
  std::uint32_t source = 0;  ///< host number in the run
  std::uint32_t target = 0;  ///< host number in the run
  std::uint64_t group = 0;
  /// Channel (data and grant), first channel (failed) or number of operations that the source took
  /// part in (left).
  std::uint64_t channel = 0;
  std::uint64_t ordinal = 0;  ///< number of the message in its channel
  /// Size of the whole message (data), amount (credit), number of messages (left), last channel
  /// (failed) or host number (lost).
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< position of the payload in the message (data), or cause (failed)
  /// Digest of the message's signature as the sender knows it (data, grant and ask), or of all
  /// operations that the source took part in (left); 0 = unknown. In failed: 1 if hosts disagree on
  /// the first channel's operation. In hello and welcome: identity of the steady clock.
  std::uint64_t signature_digest = 0;
  base::Nanos lag{0};   ///< time from the head to the tail
  base::Nanos late{0};  ///< time from the head's moment to the writing; negative: written before
  /// The head's moment by the steady clock of the machine that wrote the frame; 0 if no emulated
  /// link carried it.
  base::Nanos head{0};
  std::string text = {};       ///< reason or description
  base::Payload payload = {};  ///< data only
};

}  // namespace paths
