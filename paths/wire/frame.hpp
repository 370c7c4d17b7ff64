// SPDX-License-Identifier: Apache-2.0
// paths/wire/frame.hpp — message between two hosts, and its encoding
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "paths/operation.hpp"
#include "paths/wire/lane_frame.hpp"

namespace paths {

inline constexpr std::uint16_t protocol_version = 8;
/// Maximum size of a header on any transport.
inline constexpr std::size_t header_bytes_max = std::size_t{64} << 10;
/// Value of Frame::from_host in a frame that names no host.
inline constexpr std::uint32_t no_host = ~std::uint32_t{0};

enum class FrameKind : std::uint8_t {
  request,  ///< operation whose sender expects a reply
  reply,
  error,    ///< reply that is a failure
  one_way,  ///< operation without a reply
  // The following kinds are control frames, which the counts of frames per path do not include.
  hello,  ///< first frame on a connection; names host, run and purpose
  welcome,
  refuse,  ///< last frame on a connection; the text is the reason
  credits,
  heartbeat,
  goodbye,
  // The following kind belongs to the run, not to a plan.
  lane,  ///< frame of a lane or of its connection (paths/wire/lane_frame.hpp)
};
bool is_control(FrameKind kind);

/// Identifies one call of deploy() on one host. `label` is the label that the program passed to
/// deploy(); "" for the config's plan. The ids of two calls always differ, because a host uses each
/// number only once for a label, and a restarted host has a different incarnation.
struct DeploymentId {
  std::string label;
  std::uint64_t number = 0;
  std::uint64_t incarnation = 0;
  base::Digest plan;
};

/// One message between two hosts. If `operation.failure` is set, the texts of the failure are sent
/// instead of the payload. In a request or a one_way frame, the failure replaces a contribution. In
/// an error frame, the failure is the reply.
struct Frame {
  FrameKind kind = FrameKind::request;
  std::uint16_t version = protocol_version;
  std::uint64_t run_high = 0;  ///< identity of the run
  std::uint64_t run_low = 0;
  /// Host that sends the frame. In lane frames, this is the number of the host in the run. In other
  /// frames, this is the index of the host in the deployment's plan.
  std::uint32_t from_host = 0;
  std::uint32_t credits = 0;  ///< number of credits (frames to send) that this frame returns
  /// Number of a request, unique on its connection. The reply has the same number. The frames of a
  /// standing call have its number and standing_mark (paths/wire/short_frame.hpp).
  std::uint64_t call = 0;
  StageId stage = no_stage;  ///< stage at which the receiver continues the operation
  Operation operation;       ///< in request and one_way frames; other kinds use only its `failure`
  /// In requests and one_way frames: duration until the deadline of the operation; 0 = no deadline,
  /// negative = the deadline has passed. An encoded frame contains whole milliseconds.
  base::Nanos time_left{0};
  Result result;  ///< in replies only
  /// In replies: whether the tuple of the result equals the tuple of the request. If so, the reply
  /// has no body.
  bool returns_moved = false;
  std::string text;  ///< hello: host name; refuse, goodbye: reason; heartbeat: report
  std::shared_ptr<LaneFrame> lane;  ///< content of a lane frame; its text is in `text`
  /// Deployment that the frame names; nullptr if it names none. Only frames of the kinds hello,
  /// welcome and refuse may name a deployment.
  std::shared_ptr<const DeploymentId> deployment;
};

/// Returns a frame of the given run, sender and kind. All other members have their default values.
inline Frame new_frame(const base::Digest& run, std::uint32_t from_host, FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.run_high = run.high;
  frame.run_low = run.low;
  frame.from_host = from_host;
  return frame;
}

/// Returns the bytes of the header, without the payload. docs/reference/wire.md describes each
/// byte.
/// Why: transports can send the payload without a copy.
std::vector<std::byte> encode_header(const Frame& frame);
std::size_t header_bytes(const Frame& frame);
/// Writes the header into `bytes`.
/// Requires: `bytes` has the size header_bytes(frame).
void write_header(const Frame& frame, std::span<std::byte> bytes);
/// Returns the body that follows the header: the payload, or the text of a failure.
base::Payload encode_body(const Frame& frame);
/// Decodes a frame. Returns nullopt if the bytes are not a frame of any version. If the frame has a
/// different version than protocol_version, only kind, version, run and text are set. Unprintable
/// characters in texts are replaced (base/visible.hpp). Never throws and never reads beyond the
/// bytes.
std::optional<Frame> decode_frame(std::span<const std::byte> header, base::Payload body);
/// Decodes into `frame`, like decode_frame(). Returns false if the bytes are not a frame.
/// Requires: all members of `frame` have their default values.
bool read_frame(std::span<const std::byte> header, base::Payload&& body, Frame& frame);

}  // namespace paths
