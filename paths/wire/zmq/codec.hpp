// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/codec.hpp — frames as ZeroMQ messages of several parts
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/payload.hpp"
#include "paths/wire/frame.hpp"

namespace paths {

/// Size in bytes of the parts in which a large body is sent. Each part is a ZeroMQ message of its
/// own. If all parts were one message, ZeroMQ would keep them until the last part has arrived. Over
/// TCP, a body in parts of this size is as fast as a whole body.
inline constexpr std::size_t body_part_bytes = std::size_t{1} << 20;
/// Size in bytes of the parts on encrypted connections. The size is small, because a peer may
/// announce a message of this size before its key is checked. Larger parts would not be faster,
/// because encryption takes most of the time.
inline constexpr std::size_t encrypted_part_bytes = std::size_t{256} << 10;

std::span<const std::byte> bytes_of(const zmq::message_t& message);

/// Assembles the frames of one connection from ZeroMQ messages. If a body has several parts, the
/// bytes of the body are copied once, to their final place.
/// Thread-safe: no.
class FrameAssembly {
 public:
  /// Function that returns the maximum size of the body that follows a header.
  using BodyBytesMax = std::function<std::uint64_t(const Frame& head)>;

  /// Takes a message, which consists of a header and the parts `rest`. Returns the frame that the
  /// message completes. Returns nullopt if the frame is incomplete, or if the message is invalid;
  /// wrong() tells which. Calls `most` before it allocates memory for a body of more than
  /// unasked_body_bytes.
  std::optional<Frame> take(const zmq::message_t& header, std::span<zmq::message_t> rest,
                            const BodyBytesMax& most);
  /// Returns a description of the invalid message; "" if no message was invalid.
  const std::string& wrong() const { return wrong_; }

 private:
  std::optional<Frame> take_whole(const zmq::message_t& header, zmq::message_t body);
  std::optional<Frame> take_part(const zmq::message_t& part);
  bool begin(const zmq::message_t& header, std::uint64_t total, const BodyBytesMax& most);
  std::span<const std::byte> read_header(const zmq::message_t& header);
  bool is_under_way() const { return !rest_.empty(); }

  // Header of the body that is arriving. Under the thread sanitizer every header is copied here, so
  // it can also be the header of the latest message.
  std::vector<std::byte> header_;
  base::Payload body_;         // body that is arriving; no other thread has seen it
  std::span<std::byte> rest_;  // part of body_ that has not arrived
  std::string wrong_;
};

/// Calls `call`, a ZeroMQ function. Repeats the call while a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

/// Maximum number of parts that receive_all() stores in `rest`.
inline constexpr std::size_t parts_max = 8;
/// Receives the next message with all of its parts. Returns the number of parts; 0 = there is no
/// message. Stores the first parts in the messages to which `parts` points. Stores at most
/// parts_max further parts in `rest`, and discards all remaining parts.
std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts,
                        std::vector<zmq::message_t>& rest);

/// Returns a property of the connection on which a message arrived; nullopt if the peer's protocol
/// does not have the property.
std::optional<std::string> property(const zmq::message_t& message, const char* name);

/// One of the ZeroMQ messages of a frame. It contains a header and a body, or a part of a large
/// body and the position of this part.
struct FrameMessage {
  zmq::message_t header, body;
  std::optional<zmq::message_t> position;
};
/// All messages of a frame. All of them are made before the first message is sent.
/// Why: if the making of a message failed later, the peer would wait for the rest of the body.
struct FrameMessages {
  FrameMessage first;
  std::vector<FrameMessage> further;  ///< further parts of a large body
};
/// Returns the messages of a frame, with at most `part_bytes` bytes of the body in each message.
/// The messages contain no copy of a body of 4 KiB or more.
FrameMessages messages_of(const Frame& frame, std::size_t part_bytes = body_part_bytes);
/// Sends a message. Never blocks.
/// Throws: zmq::error_t, for example if ZeroMQ has dropped the peer.
void send_message(zmq::socket_t& socket, FrameMessage message);
enum class Part : std::uint8_t { middle, last };
/// Sends one part of a message. Never blocks.
/// Throws: zmq::error_t, for example if ZeroMQ has dropped the peer.
void send_part(zmq::socket_t& socket, zmq::message_t part, Part place);

/// Returns whether a message can be received now. Asks ZeroMQ, so that the result is right even if
/// the descriptor of the socket gave no signal.
bool readable(zmq::socket_t& socket);

}  // namespace paths
