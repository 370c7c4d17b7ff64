// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq_message.cpp — parts of messages, and which of them are copied.
#include "paths/wire/zmq_message.hpp"

#include <memory>
#include <utility>

#include "base/payload.hpp"

namespace paths {

namespace {

constexpr std::size_t uncopied_bytes = 4096;  // bodies from here on cross without being copied

base::Payload payload_of(zmq::message_t message) {
  if (message.size() < uncopied_bytes) return base::Payload::copy_of(bytes_of(message));
  auto held = std::make_shared<zmq::message_t>(std::move(message));
  return base::Payload::adopt(bytes_of(*held), [held]() mutable { held.reset(); });
}

/// False when there is nothing (more) to receive. Not with socket.recv(), which takes the int of
/// zmq_msg_recv for the size, and a body of 2 GiB or more for a mistake.
bool receive(zmq::socket_t& socket, zmq::message_t& part) {
  return uninterrupted([&] {
    if (zmq_msg_recv(part.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EAGAIN) throw zmq::error_t();
    return false;
  });
}

}  // namespace

zmq::message_t header_of(const Frame& frame) {
  zmq::message_t header(header_bytes(frame));
  write_header(frame, {static_cast<std::byte*>(header.data()), header.size()});
  return header;
}

zmq::message_t message_of(base::Payload body) {
  const auto bytes = body.bytes();
  if (bytes.size() < uncopied_bytes) return zmq::message_t(bytes.data(), bytes.size());
  auto* held = new base::Payload(std::move(body));
  auto release = [](void*, void* hint) { delete static_cast<base::Payload*>(hint); };
  return zmq::message_t(const_cast<std::byte*>(held->bytes().data()), bytes.size(), release, held);
}

std::span<const std::byte> bytes_of(const zmq::message_t& message) {
  return {static_cast<const std::byte*>(message.data()), message.size()};
}

std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts) {
  zmq::message_t ignored;
  std::size_t count = 0;
  for (bool has_more = true; has_more; ++count) {
    zmq::message_t& part = count < parts.size() ? **(parts.begin() + count) : ignored;
    if (!receive(socket, part)) break;
    has_more = part.more();
  }
  return count;
}

std::optional<Frame> frame_of(std::size_t parts, const zmq::message_t& header,
                              zmq::message_t body) {
  if (parts != 2) return std::nullopt;
  return decode_frame(bytes_of(header), payload_of(std::move(body)));
}

std::optional<std::string> property(const zmq::message_t& message, const char* name) {
  const char* text = zmq_msg_gets(message.handle(), name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void send_part(zmq::socket_t& socket, zmq::message_t part, Part place) {
  auto flags = zmq::send_flags::dontwait;
  if (place == Part::middle) flags = flags | zmq::send_flags::sndmore;
  // With no high-water mark there is always room, unless ZeroMQ has given the peer up.
  if (!uninterrupted([&] { return socket.send(part, flags); })) throw zmq::error_t(EHOSTUNREACH);
}

bool readable(zmq::socket_t& socket) {
  return (uninterrupted([&] { return socket.get(zmq::sockopt::events); }) & ZMQ_POLLIN) != 0;
}

}  // namespace paths
