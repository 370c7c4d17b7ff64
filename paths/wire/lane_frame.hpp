// SPDX-License-Identifier: Apache-2.0
// paths/wire/lane_frame.hpp — frames of lanes, which carry messages between hosts
#pragma once
#include <cstdint>
#include <string>

#include "base/payload.hpp"
#include "base/units.hpp"

namespace paths {

enum class LaneKind : std::uint8_t {
  data,    ///< a message or a part of one
  credit,  ///< allows the target to send `bytes` more bytes
  grant,   ///< allows the target to send one whole message
  /// Requests credit. If the frame has a signature digest, it asks instead whether the message for
  /// which the source waits can still be sent or received.
  ask,
  /// The source has left the group after it sent `bytes` messages. The text is the reason. If the
  /// frame has a signature digest, the text is the last operation in which the source took part.
  left,
  refused,  ///< the target has violated a rule, which the text describes
  failed,   ///< some channels have failed; the text is the reason
  lost,     ///< a host is lost; the text is the reason
  done,     ///< all threads have ended: of the source (bytes 0), its cluster (1), all hosts (2)
  look,     ///< opens a connection whose loss will show that the target is gone
  // Control frames of a connection:
  /// First frame on a connection. The text is the host's name; the signature digest identifies its
  /// clock.
  hello,
  welcome,  ///< reply to hello; bytes contains MessageEndpoint::end_progress()
  /// The source sends nothing more on this connection (`bytes` = 1) or on any (`bytes` = 0). The
  /// peer replies with a goodbye, which shows that all earlier frames have arrived.
  goodbye,
  here,  ///< hosts have arrived; `bytes`: 0 = the source, 1 = its cluster, 2 = all
};
inline constexpr LaneKind last_lane_kind = LaneKind::here;

/// Part of a message from a source host to a target host, or a control frame between them. Hosts on
/// the route pass the frame on unchanged, except for its times.
struct LaneFrame {
  LaneKind kind = LaneKind::data;
  /// Frames of the kind `data`: whether the sender had a grant; otherwise it used credit.
  bool is_granted = false;
  /// Frames of the kinds `grant` and `here`: whether emulated links carry the frame without delay.
  bool is_at_once = false;
  std::uint32_t source = 0;  ///< host number in the run
  std::uint32_t target = 0;  ///< host number in the run
  std::uint64_t group = 0;
  /// Depends on the kind of the frame:
  /// - `data`, `grant`: channel;
  /// - `failed`: first failed channel;
  /// - `left`: number of operations in which the source took part.
  std::uint64_t channel = 0;
  std::uint64_t ordinal = 0;  ///< number of the message within its channel
  /// Depends on the kind of the frame; for kinds not listed here see LaneKind:
  /// - `data`: size of the whole message;
  /// - `credit`: bytes of credit;
  /// - `left`: number of messages that the source has sent;
  /// - `failed`: last failed channel;
  /// - `lost`: number of the lost host.
  std::uint64_t bytes = 0;
  /// Kind `data`: offset in the message of the payload's first byte. Kind `failed`: cause of the
  /// failure.
  std::uint64_t offset = 0;
  /// Depends on the kind of the frame:
  /// - `data`, `grant`, `ask`: digest of the purpose for which the source uses the channel;
  /// - `left`: digest of all operations in which the source took part; 0 = unknown;
  /// - `failed`: 1 if hosts use the first failed channel for different purposes;
  /// - `hello`: identity of the source's steady clock.
  std::uint64_t signature_digest = 0;
  /// Time from the arrival of the frame's first byte (`head`) to the arrival of its last byte.
  base::Nanos lag{0};
  base::Nanos late{0};  ///< duration from `head` until the frame was written; may be negative
  /// Ideal arrival time of the first byte, on the steady clock of the machine that wrote the frame;
  /// 0 if no emulated link carried the frame.
  base::Nanos head{0};
  std::string text = {};       ///< reason or description
  base::Payload payload = {};  ///< only in frames of the kind `data`
};

}  // namespace paths
