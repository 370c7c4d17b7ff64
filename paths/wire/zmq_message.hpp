// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq_message.hpp — frames as messages of ZeroMQ, sent and received part by part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <zmq.hpp>

#include "paths/wire/frame.hpp"

namespace paths {

zmq::message_t header_of(const Frame& frame);
/// The body of a frame; from 4 KiB on it crosses without being copied.
zmq::message_t message_of(base::Payload body);
std::span<const std::byte> bytes_of(const zmq::message_t& message);

/// A frame is a message of two parts. Nothing when the bytes are none.
std::optional<Frame> frame_of(std::size_t parts, const zmq::message_t& header, zmq::message_t body);

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
/// `parts` are dropped.
std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts);

/// A property of the connection that brought a message; nothing when the peer's protocol has none.
std::optional<std::string> property(const zmq::message_t& message, const char* name);

enum class Part : std::uint8_t { middle, last };
/// Never blocks. Throws zmq::error_t, also when ZeroMQ has given the peer up.
void send_part(zmq::socket_t& socket, zmq::message_t part, Part place);

/// Looks for itself, and so works whether or not the descriptor has told already.
bool readable(zmq::socket_t& socket);

}  // namespace paths
