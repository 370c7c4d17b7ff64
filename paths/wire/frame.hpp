// SPDX-License-Identifier: Apache-2.0
// paths/wire/frame.hpp — one message between two hosts, and its bytes.
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
  request,  ///< an operation that wants a reply
  reply,
  error,    ///< a reply that is a failure
  one_way,  ///< an operation that wants none: a push costs this one frame
  // Control, counted apart:
  hello,  ///< first on a connection: who I am, of which run, and what it is for
  welcome,
  refuse,  ///< last on a connection; the text says why
  credits,
  heartbeat,
  goodbye,
  // Of no plan, but of the run:
  lane,  ///< any of a lane's (paths/wire/lane_frame.hpp), its connections' included
};
bool is_control(FrameKind kind);

/// One host's call that makes a deployment; never two are alike: a host that was started again has
/// another incarnation, and no host uses a number of a label twice.
struct DeploymentId {
  std::string label;
  std::uint64_t number = 0;
  std::uint64_t incarnation = 0;
  base::Digest plan;
};

/// A value. `operation.failure` (request, one_way: a failed contribution; error: the failure)
/// travels as text in place of the payload.
struct Frame {
  FrameKind kind = FrameKind::request;
  std::uint16_t version = protocol_version;
  std::uint64_t run_high = 0;  ///< which run
  std::uint64_t run_low = 0;
  std::uint32_t from_host = 0;  ///< index in the deployment's plan; on lanes the number in the run
  std::uint32_t credits = 0;    ///< given back to the receiver of this frame
  std::uint64_t call = 0;       ///< pairs a reply with its request, per connection; see ShortFrame
  StageId stage = no_stage;     ///< where the operation enters the receiver
  Operation operation;          ///< of request and one_way; of control frames only failure's text
  Result result;                ///< of reply
  bool returns_moved = false;   ///< of reply: its tuple is the request's and does not travel again
  std::string text;             ///< of hello (host name) and refuse (reason)
  std::shared_ptr<LaneFrame> lane;  ///< of lane, without its text, which is the frame's
  std::shared_ptr<const DeploymentId> deployment;  ///< of greetings; null where none is meant
};

/// Returns a frame of a host of a run that says nothing yet.
inline Frame new_frame(const base::Digest& run, std::uint32_t from_host, FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.run_high = run.high;
  frame.run_low = run.low;
  frame.from_host = from_host;
  return frame;
}

/// The header's bytes and the payload's; transports may send the payload without copying it.
/// Documented byte by byte in docs/wire.md.
std::vector<std::byte> encode_header(const Frame& frame);
std::size_t header_bytes(const Frame& frame);
/// The same into `header_bytes()` bytes that somebody has.
void write_header(const Frame& frame, std::span<std::byte> bytes);
/// The body that follows the header: the payload, or the text of a failure.
base::Payload encode_body(const Frame& frame);
/// Nothing when the bytes are not a frame of any version; a frame of another version comes back
/// with only kind, version, run and text filled in. Texts are made visible (base/visible.hpp).
/// Never throws, never reads beyond.
std::optional<Frame> decode_frame(std::span<const std::byte> header, base::Payload body);
/// The same into a new frame that somebody has; false when the bytes are not one.
bool read_frame(std::span<const std::byte> header, base::Payload&& body, Frame& frame);

}  // namespace paths
