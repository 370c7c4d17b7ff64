// SPDX-License-Identifier: Apache-2.0
// paths/wire/lane_frame.hpp — frames of lanes, which carry messages between hosts
#pragma once
#include <cstdint>
#include <string>

#include "base/payload.hpp"
#include "base/units.hpp"

namespace paths {

enum class LaneKind : std::uint8_t {
  data,    ///< a message or a part of a message
  credit,  ///< allows the target to send `bytes` more bytes
  grant,   ///< allows the target to send one whole message
  /// Requests credit. If the frame has a signature digest, it is instead a question. The question
  /// is whether the target can still send or receive the message for which the source waits.
  ask,
  /// The source has left the group after it sent `bytes` messages. If the frame has a signature
  /// digest, the text describes the operations in which the source took part. If not, the text is
  /// the reason.
  left,
  refused,  ///< the target has violated a rule, which the text describes
  failed,   ///< some channels have failed; the text is the reason
  lost,     ///< a host is lost; the text is the reason
  /// All threads have ended on some hosts. `bytes` tells which hosts: 0 = the source, 1 = its
  /// cluster, 2 = all hosts, 2 + n = the clusters that the source's report in round n > 0 covers.
  done,
  look,  ///< opens a connection whose loss will show that the target is gone
  // The kinds `hello`, `welcome` and `goodbye` are control frames of a connection.
  /// First frame on a connection. The text is the name of the source. The signature digest
  /// identifies the clock of the source.
  hello,
  welcome,  ///< reply to hello; `bytes` contains MessageEndpoint::end_progress()
  /// The source sends nothing more on this connection (`bytes` = 1) or on any connection (`bytes` =
  /// 0). The peer replies with a goodbye, which shows that all earlier frames have arrived.
  goodbye,
  /// Some hosts have arrived. `bytes` tells which hosts, as for the kind `done`.
  here,
};
inline constexpr LaneKind last_lane_kind = LaneKind::here;

/// Part of a message from a source host to a target host, or a control frame between the two hosts.
/// Hosts on the route forward the frame. They change only its times.
struct LaneFrame {
  LaneKind kind = LaneKind::data;
  /// Kind `data`: true if the message was granted, false if the source used credit for the frame.
  bool is_granted = false;
  /// Kinds `grant` and `here`: whether emulated links carry the frame without delay.
  bool is_at_once = false;
  std::uint32_t source = 0;  ///< host number in the run
  std::uint32_t target = 0;  ///< host number in the run
  std::uint64_t group = 0;
  /// Depends on the kind of the frame:
  /// - `data`, `grant`, `ask`: channel;
  /// - `failed`: first failed channel;
  /// - `left`: number of channels that the source has used.
  std::uint64_t channel = 0;
  /// Depends on the kind of the frame:
  /// - `data`, `grant`: number of the message within its channel, or name of the message;
  /// - `ask`: id of the group from which `group` was split; 0 = `group` was not split off.
  std::uint64_t ordinal = 0;
  /// Depends on the kind of the frame. LaneKind describes the kinds that are not in this list.
  /// - `data`: size of the whole message in bytes;
  /// - `credit`: new credit in bytes;
  /// - `ask`, if the source waits to receive: number of messages that have arrived from the target;
  /// - `ask`, if the source waits to send: 2^64 - 1;
  /// - `left`: number of messages that the source has sent;
  /// - `failed`: last failed channel;
  /// - `lost`: number of the lost host.
  std::uint64_t bytes = 0;
  /// Depends on the kind of the frame:
  /// - `data`: offset of the payload's first byte in the message;
  /// - `failed`: cause of the failure;
  /// - `ask`: channel of the parent group on which the split that made `group` took place.
  std::uint64_t offset = 0;
  /// Depends on the kind of the frame:
  /// - `data`, `grant`, `ask`: digest of the purpose for which the source uses the channel;
  /// - `left`: digest of all operations in which the source took part; 0 = unknown;
  /// - `failed`: 1 if hosts use the first failed channel for different purposes;
  /// - `hello`: identity of the source's steady clock.
  std::uint64_t signature_digest = 0;
  /// Duration from the arrival of the frame's first byte (`head`) to the arrival of its last byte.
  base::Nanos lag{0};
  base::Nanos late{0};  ///< duration from `head` until the frame was written; may be negative
  /// Ideal arrival time of the frame's first byte, on the steady clock of the machine that wrote
  /// the frame; 0 if no emulated link carried the frame.
  base::Nanos head{0};
  std::string text = {};       ///< reason or description; see LaneKind
  base::Payload payload = {};  ///< only in frames of the kind `data`
};

}  // namespace paths
