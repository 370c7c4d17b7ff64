// SPDX-License-Identifier: Apache-2.0
// paths/wire/frame.hpp — message between two hosts, and its encoding
#pragma once
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

inline constexpr std::uint16_t protocol_version = 6;

enum class FrameKind : std::uint8_t {
  request,  ///< operation that expects a reply
  reply,
  error,    ///< reply that is a failure
  one_way,  ///< operation without a reply: a push costs this one frame
  // Control, counted separately:
  hello,  ///< first on a connection: host, run and purpose
  welcome,
  refuse,  ///< last on a connection; the text is the reason
  credits,
  heartbeat,
  goodbye,
  // Part of the run, not of a plan:
  lane,  ///< any frame of a lane (paths/wire/lane_frame.hpp), control of its connection included
};
bool is_control(FrameKind kind);

/// Identity of one host's call that makes a deployment. No two are equal: a restarted host has
/// another incarnation, and no host uses a number twice for one label.
struct DeploymentId {
  std::string label;
  std::uint64_t number = 0;
  std::uint64_t incarnation = 0;
  base::Digest plan;
};

/// One message between two hosts; a value. `operation.failure` travels as text in place of the
/// payload: a failed contribution in request and one_way, the failure in error.
struct Frame {
  FrameKind kind = FrameKind::request;
  std::uint16_t version = protocol_version;
  std::uint64_t run_high = 0;  ///< the run's identity
  std::uint64_t run_low = 0;
  std::uint32_t from_host = 0;  ///< index in the deployment's plan; on lanes the number in the run
  std::uint32_t credits = 0;    ///< credits returned to the receiver of this frame
  /// Number that pairs a reply with its request, per connection; see ShortFrame.
  std::uint64_t call = 0;
  StageId stage = no_stage;    ///< stage where the operation enters the receiver
  Operation operation;         ///< request and one_way; other kinds use its `failure` only
  Result result;               ///< reply only
  bool returns_moved = false;  ///< reply: whether its tuple is the request's and is not sent again
  std::string text;            ///< host name (hello) or reason (refuse, goodbye)
  std::shared_ptr<LaneFrame> lane;  ///< content of a lane frame; its text is in `text`
  std::shared_ptr<const DeploymentId> deployment;  ///< greetings only; nullptr if none is meant
};

/// Returns a frame of a host of a run, empty otherwise.
inline Frame new_frame(const base::Digest& run, std::uint32_t from_host, FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.run_high = run.high;
  frame.run_low = run.low;
  frame.from_host = from_host;
  return frame;
}

/// Returns the bytes of the header. The payload is separate, so that transports may send it without
/// copying it. docs/reference/wire.md describes each byte.
std::vector<std::byte> encode_header(const Frame& frame);
std::size_t header_bytes(const Frame& frame);
/// Writes the header into memory of header_bytes() bytes.
void write_header(const Frame& frame, std::span<std::byte> bytes);
/// Returns the body that follows the header: the payload, or the text of a failure.
base::Payload encode_body(const Frame& frame);
/// Returns nullopt if the bytes are not a frame of any version. In a frame of another version only
/// kind, version, run and text are set. Texts are made visible (base/visible.hpp). Never throws,
/// and never reads beyond the bytes.
std::optional<Frame> decode_frame(std::span<const std::byte> header, base::Payload body);
/// Decodes into an existing new frame. Returns false if the bytes are not a frame.
bool read_frame(std::span<const std::byte> header, base::Payload&& body, Frame& frame);

}  // namespace paths
