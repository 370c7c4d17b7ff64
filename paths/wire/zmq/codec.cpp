// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/codec.cpp — making, sending, receiving and assembling of the messages of frames
#include "paths/wire/zmq/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/payload.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/thread_sanitizer.hpp"

namespace paths {

namespace {

constexpr std::size_t uncopied_bytes = 4096;  // bodies of this size or more are not copied

base::Payload copy_of(const zmq::message_t& message) {
  if (message.size() == 0) return {};
  return base::Payload::filled(message.size(), [&message](std::span<std::byte> space) {
    runtime::thread_sanitizer::copy_unseen(space.data(), bytes_of(message).data(), space.size());
  });
}

base::Payload payload_of(zmq::message_t message) {
  if (message.size() < uncopied_bytes || runtime::thread_sanitizer::is_on) return copy_of(message);
  auto held = std::make_shared<zmq::message_t>(std::move(message));
  return base::Payload::adopt(bytes_of(*held), [held]() mutable { held.reset(); });
}

/// Returns the part of a body that begins at the byte `begin`.
zmq::message_t body_part_of(const base::Payload& body, std::size_t begin, std::size_t part_bytes) {
  const auto rest = body.bytes().subspan(begin);
  const auto bytes = rest.first(std::min(rest.size(), part_bytes));
  if (bytes.size() < uncopied_bytes) return zmq::message_t(bytes.data(), bytes.size());
  auto* held = new base::Payload(body);
  auto release = [](void*, void* hint) { delete static_cast<base::Payload*>(hint); };
  return zmq::message_t(const_cast<std::byte*>(bytes.data()), bytes.size(), release, held);
}

/// Position of a part in its body: offset of the part, and size of the whole body, in bytes.
struct Position {
  std::uint64_t offset = 0, total = 0;
};

/// Returns the message for the part of a body that begins at the byte `begin`. The header of the
/// returned message is empty.
FrameMessage message_of(const base::Payload& body, std::size_t begin, std::size_t part_bytes) {
  FrameMessage message{zmq::message_t(), body_part_of(body, begin, part_bytes), std::nullopt};
  if (body.size() <= part_bytes) return message;
  const Position position{begin, body.size()};
  message.position.emplace(&position, sizeof position);
  return message;
}

/// Receives one part of a message. Returns false if there is no message, or if the message has no
/// further part.
/// Why: socket.recv() cannot be used, because it takes the size from the int result of
///      zmq_msg_recv(). A part of 2 GiB or more would look like an error.
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
    if (count >= parts.size() && rest.size() < parts_max) rest.push_back(std::move(further));
  }
  return count;
}

std::optional<Frame> FrameAssembly::take(const zmq::message_t& header,
                                         std::span<zmq::message_t> rest, const BodyBytesMax& most) {
  if (!wrong_.empty()) return std::nullopt;
  wrong_ = fmt::format("{} bytes that are not a frame", header.size());
  if (rest.size() == 1 && !is_under_way()) return take_whole(header, std::move(rest[0]));
  Position position;
  if (rest.size() != 2 || rest[1].size() != sizeof position) return std::nullopt;
  std::memcpy(&position, rest[1].data(), sizeof position);
  if (position.offset == 0 && !begin(header, position.total, most)) return std::nullopt;
  const std::uint64_t expected = body_.size() - rest_.size();
  if (!is_under_way() || position.offset != expected || position.total != body_.size() ||
      (position.offset != 0 && header.size() != 0) || rest[0].size() == 0 ||
      rest[0].size() > rest_.size())
    return std::nullopt;
  return take_part(rest[0]);
}

std::optional<Frame> FrameAssembly::take_whole(const zmq::message_t& header, zmq::message_t body) {
  auto frame = decode_frame(read_header(header), payload_of(std::move(body)));
  if (frame) wrong_.clear();
  return frame;
}

/// Returns the bytes of a header. Under the thread sanitizer, returns a copy of the bytes.
std::span<const std::byte> FrameAssembly::read_header(const zmq::message_t& header) {
  if (!runtime::thread_sanitizer::is_on) return bytes_of(header);
  header_.resize(header.size());
  runtime::thread_sanitizer::copy_unseen(header_.data(), bytes_of(header).data(), header.size());
  return header_;
}

/// Begins a body that has several parts and `total` bytes. Returns false if no body may begin now,
/// or if the body must not have this size.
bool FrameAssembly::begin(const zmq::message_t& header, std::uint64_t total,
                          const BodyBytesMax& most) {
  if (is_under_way() || total == 0) return false;
  const auto bytes = read_header(header);
  const auto head = decode_frame(bytes, {});
  if (!head) return false;
  if (const std::uint64_t limit = total > unasked_body_bytes ? most(*head) : total; total > limit) {
    wrong_ = fmt::format("a body of {} bytes, of which at most {} may come", total,
                         std::max(limit, unasked_body_bytes));
    return false;
  }
  try {
    body_ = base::Payload::filled(total, [this](std::span<std::byte> space) { rest_ = space; });
  } catch (const std::bad_alloc&) {
    wrong_ = fmt::format("a body of {} bytes, for which there is no memory", total);
    return false;
  }
  if (bytes.data() != header_.data()) header_.assign(bytes.begin(), bytes.end());
  return true;
}

std::optional<Frame> FrameAssembly::take_part(const zmq::message_t& part) {
  runtime::thread_sanitizer::copy_unseen(rest_.data(), bytes_of(part).data(), part.size());
  rest_ = rest_.subspan(part.size());
  std::optional<Frame> frame;
  if (!is_under_way()) frame = decode_frame(header_, std::exchange(body_, {}));
  if (is_under_way() || frame) wrong_.clear();
  return frame;
}

std::optional<std::string> property(const zmq::message_t& message, const char* name) {
  const char* text = zmq_msg_gets(message.handle(), name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void send_part(zmq::socket_t& socket, zmq::message_t part, Part place) {
  auto flags = zmq::send_flags::dontwait;
  if (place == Part::middle) flags = flags | zmq::send_flags::sndmore;
  // send() fails only if ZeroMQ has dropped the peer. ZeroMQ always has room for the frame, because
  // no maximum number of queued messages (high-water mark) is set.
  if (!uninterrupted([&] { return socket.send(part, flags); })) throw zmq::error_t(EHOSTUNREACH);
}

FrameMessages messages_of(const Frame& frame, std::size_t part_bytes) {
  const base::Payload body = encode_body(frame);
  FrameMessages all{message_of(body, 0, part_bytes), {}};
  zmq::message_t& header = all.first.header;
  header.rebuild(header_bytes(frame));
  write_header(frame, {static_cast<std::byte*>(header.data()), header.size()});
  for (std::size_t begin = part_bytes; begin < body.size(); begin += part_bytes)
    all.further.push_back(message_of(body, begin, part_bytes));
  return all;
}

void send_message(zmq::socket_t& socket, FrameMessage message) {
  send_part(socket, std::move(message.header), Part::middle);
  send_part(socket, std::move(message.body), message.position ? Part::middle : Part::last);
  if (message.position) send_part(socket, std::move(*message.position), Part::last);
}

bool readable(zmq::socket_t& socket) {
  return (uninterrupted([&] { return socket.get(zmq::sockopt::events); }) & ZMQ_POLLIN) != 0;
}

}  // namespace paths
