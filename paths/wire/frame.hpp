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
  // Control frames. The counts of frames per path do not include them:
  hello,  ///< first frame on a connection; names host, run and purpose
  welcome,
  refuse,  ///< last frame on a connection; the text is the reason
  credits,
  heartbeat,
  goodbye,
  // Frames of the run, not of a plan:
  lane,  ///< frame of a lane or of its connection (paths/wire/lane_frame.hpp)
};
bool is_control(FrameKind kind);

/// Identifies one call of deploy() on one host. The program passes `label` to deploy(); it is empty
/// for the config's own plan. All ids differ: a restarted host has another incarnation, and a host
/// uses each number only once for a label.
struct DeploymentId {
  std::string label;
  std::uint64_t number = 0;
  std::uint64_t incarnation = 0;
  base::Digest plan;
};

/// One message between two hosts. If `operation.failure` is set, its text is sent instead of the
/// payload. In a request or a one_way frame, the failure replaces a contribution. In an error
/// frame, the failure is the reply.
struct Frame {
  FrameKind kind = FrameKind::request;
  std::uint16_t version = protocol_version;
  std::uint64_t run_high = 0;  ///< identity of the run
  std::uint64_t run_low = 0;
  /// Sender of the frame: its index in the deployment's plan; in lane frames its number in the run.
  std::uint32_t from_host = 0;
  std::uint32_t credits = 0;  ///< number of credits (frames to send) that this frame returns
  /// Number of the call on its connection, equal in a request and its reply. See also ShortFrame.
  std::uint64_t call = 0;
  StageId stage = no_stage;  ///< stage at which the receiver continues the operation
  Operation operation;       ///< in request and one_way frames; other kinds use only its `failure`
  /// In requests and one_way frames: duration until the deadline of the operation; 0 = no deadline,
  /// negative = the deadline has passed. An encoded frame has it in whole milliseconds.
  base::Nanos time_left{0};
  Result result;  ///< in replies only
  /// In replies: whether the result has the same tuple as the request. The reply then has no body.
  bool returns_moved = false;
  std::string text;                 ///< host name (hello) or reason (refuse, goodbye)
  std::shared_ptr<LaneFrame> lane;  ///< content of a lane frame; its text is in `text`
  /// In hello, welcome and refuse only; nullptr if the frame names no deployment.
  std::shared_ptr<const DeploymentId> deployment;
};

/// Returns a frame with this run, sender and kind; all other fields are empty.
inline Frame new_frame(const base::Digest& run, std::uint32_t from_host, FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.run_high = run.high;
  frame.run_low = run.low;
  frame.from_host = from_host;
  return frame;
}

/// Returns the bytes of the header. The payload is not included, so that transports can send it
/// without a copy. docs/reference/wire.md describes each byte.
std::vector<std::byte> encode_header(const Frame& frame);
std::size_t header_bytes(const Frame& frame);
/// Writes the header into `bytes`. Requires: `bytes` has the size header_bytes(frame).
void write_header(const Frame& frame, std::span<std::byte> bytes);
/// Returns the body that follows the header: the payload, or the text of a failure.
base::Payload encode_body(const Frame& frame);
/// Decodes a frame. Returns nullopt if the bytes are not a frame of any version. If the frame has
/// another version, only kind, version, run and text are set. Unprintable characters in texts are
/// replaced (base/visible.hpp). Never throws and never reads beyond the bytes.
std::optional<Frame> decode_frame(std::span<const std::byte> header, base::Payload body);
/// Like decode_frame(), but decodes into `frame`. Requires: `frame` is new. Returns false if the
/// bytes are not a frame.
bool read_frame(std::span<const std::byte> header, base::Payload&& body, Frame& frame);

}  // namespace paths
