// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/codec.hpp — frames as ZeroMQ messages of several parts
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

/// Size of the parts in which a body is sent. Each part arrives without a copy. ZeroMQ drops a peer
/// if no complete part has arrived from it for 15 s. A link of 9 Mbit/s or more is fast enough.
inline constexpr std::size_t body_part_bytes = std::size_t{16} << 20;

std::span<const std::byte> bytes_of(const zmq::message_t& message);

/// Decodes a message, which consists of a header and at least one part of a body. Returns nullopt
/// if the bytes are not a frame.
std::optional<Frame> frame_of(const zmq::message_t& header, std::span<zmq::message_t> body);

/// Calls a ZeroMQ function again as long as a signal interrupts it before it has any effect.
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

/// Receives the next message with all of its parts. Returns the number of parts; 0 = there is no
/// message. Stores the first parts in the messages to which `parts` points, and all further parts
/// in `rest`.
std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts,
                        std::vector<zmq::message_t>& rest);

/// Returns a property of the connection on which a message arrived; nullopt if the peer's protocol
/// does not have the property.
std::optional<std::string> property(const zmq::message_t& message, const char* name);

/// All parts of a frame. A body of 4 KiB or more is sent without a copy. All parts are made before
/// the first one is sent. Otherwise an error in a later part would leave the frame incomplete, and
/// the peer would take the next frame for the rest of this one.
struct FrameParts {
  zmq::message_t header, body;
  std::vector<zmq::message_t> rest;  ///< further parts of a large body
};
FrameParts parts_of(const Frame& frame);
/// Sends a frame; never blocks. Throws zmq::error_t; also if ZeroMQ has dropped the peer.
void send_frame(zmq::socket_t& socket, FrameParts parts);
enum class Part : std::uint8_t { middle, last };
/// Sends one part; never blocks. Throws zmq::error_t; also if ZeroMQ has dropped the peer.
void send_part(zmq::socket_t& socket, zmq::message_t part, Part place);

/// Whether a message can be received now. Asks ZeroMQ itself, so the result is right even if the
/// descriptor of the socket gave no signal.
bool readable(zmq::socket_t& socket);

}  // namespace paths
