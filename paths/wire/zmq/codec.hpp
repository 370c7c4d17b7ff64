// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/codec.hpp — frames as messages of ZeroMQ, sent and received part by part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "paths/wire/frame.hpp"

namespace paths {

/// What a body has in one part, which arrives without being copied. ZeroMQ gives up a peer of which
/// no part has arrived whole for 15 s: this takes less from 9 Mbit/s on.
inline constexpr std::size_t body_part_bytes = std::size_t{16} << 20;

zmq::message_t header_of(const Frame& frame);
/// Part number `part` of a body; from 4 KiB on it leaves without being copied.
zmq::message_t body_part_of(const base::Payload& body, std::size_t part);
std::size_t body_parts(const base::Payload& body);
std::span<const std::byte> bytes_of(const zmq::message_t& message);

/// A frame is a message of a header and the parts of a body, at least one. Nothing when the bytes
/// are none.
std::optional<Frame> frame_of(const zmq::message_t& header, std::span<zmq::message_t> body);

/// A signal that some handler took makes ZeroMQ give up, having done nothing.
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

/// How many parts the next message has, which arrive together; 0 when there is none. Those beyond
/// `parts` are what `rest` has.
std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts,
                        std::vector<zmq::message_t>& rest);

/// A property of the connection that brought a message; nothing when the peer's protocol has none.
std::optional<std::string> property(const zmq::message_t& message, const char* name);

/// A frame in its parts, all of them made before the first is sent: behind half a frame the next
/// one would be taken for the rest.
struct FrameParts {
  zmq::message_t header, body;
  std::vector<zmq::message_t> rest;  ///< of a large body
};
FrameParts parts_of(const Frame& frame);
/// Never blocks. Throws zmq::error_t, also when ZeroMQ has given the peer up.
void send_frame(zmq::socket_t& socket, FrameParts parts);
enum class Part : std::uint8_t { middle, last };
/// Never blocks. Throws zmq::error_t, also when ZeroMQ has given the peer up.
void send_part(zmq::socket_t& socket, zmq::message_t part, Part place);

/// Looks for itself, and so works whether or not the descriptor has told already.
bool readable(zmq::socket_t& socket);

}  // namespace paths
