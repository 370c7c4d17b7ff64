// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/codec.cpp — writing and reading of frames in rings, whole or in pieces
#include "paths/wire/shared_memory/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_few.hpp"
#include "base/errors.hpp"
#include "paths/wire/transport.hpp"

namespace paths {
namespace {

constexpr std::size_t whole_bytes = std::size_t{64} << 10;  // larger bodies move in pieces
// Size of the pieces of a large body. The size is small, so that the reader can read a piece from
// the processor's cache while the writer writes the next piece.
constexpr std::size_t piece_bytes = std::size_t{128} << 10;

template <class Value>
std::span<const std::byte> bytes_in(const Value& value) {
  return std::as_bytes(std::span<const Value, 1>(&value, 1));
}

void copy(std::span<const std::byte> from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace

// ---- writing ---------------------------------------------------------------------------------

void FrameWriter::write(std::uint32_t connection, const Frame& frame) {
  base::Payload body = encode_body(frame);
  RecordHead head;
  head.connection = connection;
  head.header_bytes = static_cast<std::uint32_t>(header_bytes(frame));
  head.body_bytes = body.size();
  if (ring_ && kept_.empty()) {
    begin_again(sizeof head + head.header_bytes + body.size());
    if (write_now(head, frame, body)) return;
  }
  Kept kept;
  kept.connection = connection;
  kept.head.resize(sizeof head + head.header_bytes);
  copy(bytes_in(head), kept.head.data());
  write_header(frame, std::span(kept.head).subspan(sizeof head));
  kept.body = std::move(body);
  keep(std::move(kept));
}

void FrameWriter::write(std::uint32_t connection, const ShortFrame& frame) {
  const Result& result = frame.result;
  const std::span<const std::byte> body = result.payload.bytes();
  ENSURE(body.size() <= ShortFrame::payload_bytes_max);
  struct Heads {
    RecordHead record;
    ShortHead frame;
  };
  static_assert(sizeof(Heads) == sizeof(RecordHead) + sizeof(ShortHead));
  const Heads heads{
      {connection, RecordHead::is_short, body.size()},
      {frame.standing, frame.thread, result.sequence, result.contributions, result.number,
       result.origin.sequence, result.origin.nanos, result.origin.cluster,
       static_cast<std::uint8_t>(frame.is_reply), static_cast<std::uint8_t>(result.condition),
       static_cast<std::uint8_t>(result.proved), static_cast<std::uint8_t>(result.origin.kind)}};
  const std::size_t size = sizeof heads + body.size();
  const auto write_at = [&](std::byte* place) {
    std::memcpy(place, &heads, sizeof heads);
    base::copy_few(body, place + sizeof heads);
  };
  if (ring_ && kept_.empty()) {
    begin_again(size);
    if (const auto room = ring_->room(size); room.size() >= size) {
      write_at(room.data());
      ring_->publish(size);
      return written_();
    }
  }
  Kept kept;
  kept.connection = connection;
  kept.head.resize(size);
  write_at(kept.head.data());
  keep(std::move(kept));
}

/// Skips the rest of the ring and continues at its beginning, if bytes_left_out() recommends this
/// for the next record of `bytes` bytes.
void FrameWriter::begin_again(std::size_t bytes) {
  const std::size_t left_out = ring_->bytes_left_out(bytes);
  if (left_out == 0) return;
  const RecordHead head{0, RecordHead::is_left_out, 0};
  copy(bytes_in(head), ring_->room(left_out).data());
  ring_->publish(left_out);
}

/// Writes a frame whole. Returns false if the body is longer than whole_bytes, or if the ring has
/// no room for the whole frame.
bool FrameWriter::write_now(const RecordHead& head, const Frame& frame, const base::Payload& body) {
  const std::size_t bytes = sizeof head + head.header_bytes + body.size();
  if (body.size() > whole_bytes) return false;
  const auto room = ring_->room(bytes);
  if (room.size() < bytes) return false;
  copy(bytes_in(head), room.data());
  write_header(frame, room.subspan(sizeof head, head.header_bytes));
  copy(body.bytes(), room.data() + sizeof head + head.header_bytes);
  ring_->publish(bytes);
  written_();
  return true;
}

void FrameWriter::write_end(std::uint32_t connection) {
  Kept kept;
  kept.connection = connection;
  kept.head.resize(sizeof(RecordHead));
  copy(bytes_in(RecordHead{connection, 0, 0}), kept.head.data());
  keep(std::move(kept));
}

void FrameWriter::keep(Kept&& kept) {
  kept_.push_back(std::move(kept));
  has_kept_ = true;
  push();
}

bool FrameWriter::push() {
  while (ring_ && !kept_.empty()) {
    Kept& kept = kept_.front();
    const std::size_t head = kept.head.size(), all = head + kept.body.size();
    while (kept.done < head) {
      const std::size_t pushed = push_some(std::span(kept.head).subspan(kept.done));
      if (pushed == 0) return false;
      kept.done += pushed;
    }
    while (kept.done < all) {
      const std::size_t pushed = push_some(kept.body.bytes().subspan(kept.done - head));
      if (pushed == 0) return false;
      kept.done += pushed;
    }
    kept_.pop_front();
    if (kept_.empty()) has_kept_ = false;
  }
  return kept_.empty();
}

/// Writes some of the bytes, and returns the number of written bytes. If the ring is full, asks the
/// reader for a notification and returns 0.
std::size_t FrameWriter::push_some(std::span<const std::byte> bytes) {
  const std::size_t wanted = std::min(bytes.size(), piece_bytes);
  do {
    const auto room = ring_->room(wanted);
    const std::size_t some = std::min(wanted, room.size());
    if (some == 0) continue;
    copy(bytes.first(some), room.data());
    ring_->publish(some);
    written_();
    return some;
  } while (!ring_->ask_for_room());
  return 0;
}

/// Drops the kept frames of a connection. Does not drop a frame of which a part has left, because
/// the reader would read the next bytes as the rest of this frame.
void FrameWriter::forget(std::uint32_t connection) {
  std::erase_if(kept_, [connection](const Kept& kept) {
    return kept.connection == connection && kept.done == 0;
  });
  has_kept_ = !kept_.empty();
}

void FrameWriter::forget_all() {
  kept_.clear();
  has_kept_ = false;
}

std::vector<std::pair<std::uint32_t, Frame>> FrameWriter::take_kept() {
  ENSURE(!ring_);
  std::vector<std::pair<std::uint32_t, Frame>> frames;
  for (Kept& kept : kept_) {
    auto& [connection, frame] = frames.emplace_back(kept.connection, Frame());
    const std::span<const std::byte> header = std::span(kept.head).subspan(sizeof(RecordHead));
    ENSURE(read_frame(header, std::move(kept.body), frame));
  }
  forget_all();
  return frames;
}

// ---- reading ---------------------------------------------------------------------------------

FrameReader::Arrived* FrameReader::next() {
  if (is_under_way_) return receive_rest() ? finish(std::move(body_)) : nullptr;
  auto data = ring_.data();
  RecordHead head;
  const auto has_head = [&] {
    if (data.size() < sizeof head) return false;
    std::memcpy(&head, data.data(), sizeof head);
    return true;
  };
  if (!has_head()) return nullptr;
  // `head` is a copy, because the writer may change the bytes in the ring at any time.
  if (head.header_bytes == RecordHead::is_left_out) {
    ring_.consume_to_end();
    data = ring_.data();
    if (!has_head()) return nullptr;
  }
  arrived_.connection = head.connection;
  arrived_.is_short = head.header_bytes == RecordHead::is_short;
  data = data.subspan(sizeof head);
  return arrived_.is_short ? next_short(data, head.body_bytes) : next_long(data, head);
}

FrameReader::Arrived* FrameReader::next_long(std::span<const std::byte> data,
                                             const RecordHead& head) {
  arrived_.frame.reset();
  if (head.header_bytes > header_bytes_max || head.body_bytes > body_bytes_limit ||
      (head.header_bytes == 0 && head.body_bytes != 0))
    throw LinkError("bytes that are not a frame");
  const std::size_t at_once = head.body_bytes <= whole_bytes ? head.body_bytes : 0;
  if (data.size() < head.header_bytes + at_once) return nullptr;
  const auto header = data.first(head.header_bytes);
  // Copies the header, because the writer may change the bytes in the ring at any time.
  header_.assign(header.begin(), header.end());
  if (head.header_bytes == 0) {
    ring_.consume(sizeof head);
    return &arrived_;
  }
  if (head.body_bytes <= whole_bytes) {
    base::Payload body = base::Payload::copy_of(data.subspan(header.size(), at_once));
    ring_.consume(sizeof head + header.size() + at_once);
    return finish(std::move(body));
  }
  ring_.consume(sizeof head + header.size());
  check_body(head);
  body_ =
      base::Payload::filled(head.body_bytes, [this](std::span<std::byte> space) { rest_ = space; });
  is_under_way_ = true;
  return next();
}

/// Checks whether a body of the size in `head` may follow the header `header_`.
/// Throws: LinkError if not.
void FrameReader::check_body(const RecordHead& head) const {
  if (!most_ || head.body_bytes <= unasked_body_bytes) return;
  const auto frame = decode_frame(header_, {});
  if (!frame) throw LinkError("bytes that are not a frame");
  const std::uint64_t most = most_(head.connection, *frame);
  if (head.body_bytes > most)
    throw LinkError(fmt::format("a body of {} bytes, of which at most {} may come", head.body_bytes,
                                std::max(most, unasked_body_bytes)));
}

/// Reads the short frame at the beginning of `data`. Reads each byte only once, because the writer
/// may change the bytes at any time.
FrameReader::Arrived* FrameReader::next_short(std::span<const std::byte> data,
                                              std::uint64_t body_bytes) {
  ShortHead head;
  if (body_bytes > ShortFrame::payload_bytes_max) throw LinkError("a short frame that is long");
  if (data.size() < sizeof head + body_bytes) return nullptr;
  std::memcpy(&head, data.data(), sizeof head);
  const bool is_known = head.is_reply <= 1 && head.proved <= 1 &&
                        head.condition <= static_cast<std::uint8_t>(Condition::fails) &&
                        head.origin <= static_cast<std::uint8_t>(Origin::Kind::waited);
  if (!is_known) throw LinkError("bytes that are not a short frame");
  ShortFrame& frame = arrived_.short_frame;
  frame.is_reply = head.is_reply == 1;
  frame.standing = head.standing;
  frame.thread = head.thread;
  Result& result = frame.result;
  result.condition = static_cast<Condition>(head.condition);
  result.proved = head.proved == 1;
  result.number = head.number;
  result.sequence = head.sequence;
  result.contributions = head.contributions;
  result.origin = {static_cast<Origin::Kind>(head.origin), head.origin_cluster,
                   head.origin_sequence, head.origin_nanos};
  result.last_arriver = false;
  result.payload.be_copy_of(data.subspan(sizeof head, body_bytes));
  ring_.consume(sizeof(RecordHead) + sizeof head + body_bytes);
  return &arrived_;
}

bool FrameReader::receive_rest() {
  while (!rest_.empty()) {
    const auto data = ring_.data();
    const std::size_t some = std::min({data.size(), rest_.size(), piece_bytes});
    if (some == 0) return false;
    copy(data.first(some), rest_.data());
    ring_.consume(some);
    rest_ = rest_.subspan(some);
  }
  is_under_way_ = false;
  return true;
}

FrameReader::Arrived* FrameReader::finish(base::Payload&& body) {
  if (!read_frame(header_, std::move(body), arrived_.frame.emplace()))
    throw LinkError("bytes that are not a frame");
  return &arrived_;
}

}  // namespace paths
