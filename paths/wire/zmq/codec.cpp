// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/codec.cpp — parts of ZeroMQ messages, and which of them are sent without a copy
#include "paths/wire/zmq/codec.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/payload.hpp"

namespace paths {

namespace {

constexpr std::size_t uncopied_bytes = 4096;  // bodies of this size or more are not copied

base::Payload payload_of(zmq::message_t message) {
  if (message.size() < uncopied_bytes) return base::Payload::copy_of(bytes_of(message));
  auto held = std::make_shared<zmq::message_t>(std::move(message));
  return base::Payload::adopt(bytes_of(*held), [held]() mutable { held.reset(); });
}

/// Returns the part of a body that begins at the byte `begin`.
zmq::message_t body_part_of(const base::Payload& body, std::size_t begin) {
  const auto rest = body.bytes().subspan(begin);
  const auto bytes = rest.first(std::min(rest.size(), body_part_bytes));
  if (bytes.size() < uncopied_bytes) return zmq::message_t(bytes.data(), bytes.size());
  auto* held = new base::Payload(body);
  auto release = [](void*, void* hint) { delete static_cast<base::Payload*>(hint); };
  return zmq::message_t(const_cast<std::byte*>(bytes.data()), bytes.size(), release, held);
}

/// Copies all parts into one body. Frees each part after it was copied. Twice the memory of a large
/// body is therefore used only for a short time.
base::Payload joined(std::span<zmq::message_t> parts, std::size_t bytes) {
  return base::Payload::filled(bytes, [parts](std::span<std::byte> space) {
    for (zmq::message_t& part : parts) {
      std::memcpy(space.data(), part.data(), part.size());
      space = space.subspan(part.size());
      part.rebuild();
    }
  });
}

/// Returns the body that consists of these parts; nullopt if they are not a valid body.
std::optional<base::Payload> payload_of(std::span<zmq::message_t> parts) {
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return payload_of(std::move(parts.front()));
  const auto is_full = [](const zmq::message_t& part) { return part.size() == body_part_bytes; };
  const std::size_t last = parts.back().size();
  if (last == 0 || last > body_part_bytes || !std::all_of(parts.begin(), parts.end() - 1, is_full))
    return std::nullopt;
  const std::size_t bytes = (parts.size() - 1) * body_part_bytes + last;
  return joined(parts, bytes);
}

/// Receives one part of a message. Returns false if there is no message, or if the message has no
/// further part. Does not use socket.recv(), because that function takes the size from the int
/// result of zmq_msg_recv(): a part of 2 GiB or more would look like an error.
bool receive(zmq::socket_t& socket, zmq::message_t& part) {
  return uninterrupted([&] {
    if (zmq_msg_recv(part.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EAGAIN) throw zmq::error_t();
    return false;
  });
}

}  // namespace

std::span<const std::byte> bytes_of(const zmq::message_t& message) {
  return {static_cast<const std::byte*>(message.data()), message.size()};
}

std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts,
                        std::vector<zmq::message_t>& rest) {
  std::size_t count = 0;
  rest.clear();
  for (bool has_more = true; has_more; ++count) {
    zmq::message_t further;
    zmq::message_t& part = count < parts.size() ? **(parts.begin() + count) : further;
    if (!receive(socket, part)) break;
    has_more = part.more();
    if (count >= parts.size()) rest.push_back(std::move(further));
  }
  return count;
}

std::optional<Frame> frame_of(const zmq::message_t& header, std::span<zmq::message_t> body) {
  auto payload = payload_of(body);
  if (!payload) return std::nullopt;
  return decode_frame(bytes_of(header), std::move(*payload));
}

std::optional<std::string> property(const zmq::message_t& message, const char* name) {
  const char* text = zmq_msg_gets(message.handle(), name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void send_part(zmq::socket_t& socket, zmq::message_t part, Part place) {
  auto flags = zmq::send_flags::dontwait;
  if (place == Part::middle) flags = flags | zmq::send_flags::sndmore;
  // ZeroMQ always has room for the frame, because no maximum number of queued messages (high-water
  // mark) is set. send() fails only if ZeroMQ has dropped the peer.
  if (!uninterrupted([&] { return socket.send(part, flags); })) throw zmq::error_t(EHOSTUNREACH);
}

FrameParts parts_of(const Frame& frame) {
  const base::Payload body = encode_body(frame);
  FrameParts parts{zmq::message_t(header_bytes(frame)), body_part_of(body, 0), {}};
  write_header(frame, {static_cast<std::byte*>(parts.header.data()), parts.header.size()});
  for (std::size_t begin = body_part_bytes; begin < body.size(); begin += body_part_bytes)
    parts.rest.push_back(body_part_of(body, begin));
  return parts;
}

void send_frame(zmq::socket_t& socket, FrameParts parts) {
  std::size_t left = parts.rest.size();
  send_part(socket, std::move(parts.header), Part::middle);
  send_part(socket, std::move(parts.body), left == 0 ? Part::last : Part::middle);
  for (zmq::message_t& part : parts.rest)
    send_part(socket, std::move(part), --left == 0 ? Part::last : Part::middle);
}

bool readable(zmq::socket_t& socket) {
  return (uninterrupted([&] { return socket.get(zmq::sockopt::events); }) & ZMQ_POLLIN) != 0;
}

}  // namespace paths
