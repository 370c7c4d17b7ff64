// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/codec.hpp — frames of many connections as the bytes of one ring.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "paths/wire/frame.hpp"
#include "paths/wire/shared_memory/area.hpp"
#include "paths/wire/short_frame.hpp"

namespace paths {

/// Before each frame in a ring. A frame has a header; without one the connection is closed. A short
/// frame has a ShortHead in its place.
struct RecordHead {
  static constexpr std::uint32_t is_short = ~std::uint32_t{0};  ///< in place of the header's bytes
  static constexpr std::uint32_t is_left_out = is_short - 1;    ///< to the end of the ring
  std::uint32_t connection = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t body_bytes = 0;
};

/// The bytes of a short frame but its tuple; docs/wire.md draws them.
struct ShortHead {
  std::uint32_t standing = 0;
  std::uint32_t thread = 0;
  std::uint64_t sequence = 0, contributions = 0, number = 0;
  std::uint64_t origin_sequence = 0;
  std::int64_t origin_nanos = 0;
  std::uint32_t origin_cluster = 0;
  std::uint8_t is_reply = 0, condition = 0, proved = 0, origin = 0;
};
static_assert(sizeof(ShortHead) == 56);

/// Writes frames, whole or piece by piece, as the ring has room; what finds none is kept. Of one
/// context at a time.
class FrameWriter {
 public:
  /// From now on frames leave; `written` is called each time that some bytes have.
  void begin(RingWriter ring, std::function<void()> written) {
    ring_ = ring;
    written_ = std::move(written);
  }
  /// Never blocks. Throws what the frame is encoded with, having written nothing of it.
  void write(std::uint32_t connection, const Frame& frame);
  void write(std::uint32_t connection, const ShortFrame& frame);
  /// The last on that connection.
  void write_end(std::uint32_t connection);
  /// As much as there is room for of what is kept; true when all has left. Throws
  /// LinkError when the peer's end of the ring is wrong.
  bool push();
  /// Said before the peer is asked for room: who is told of some then finds it. Of any context.
  bool has_kept() const { return has_kept_.load(); }
  /// Nothing kept of a connection leaves any more.
  void forget(std::uint32_t connection);
  void forget_all();
  /// Takes what is kept, of a ring that never was: none of it has begun to leave.
  std::vector<std::pair<std::uint32_t, Frame>> take_kept();

 private:
  struct Kept {
    std::uint32_t connection = 0;
    std::vector<std::byte> head;  // of the record, and the frame's
    base::Payload body;
    std::size_t done = 0;  // of both
  };
  void keep(Kept&& kept);
  bool write_now(const RecordHead& head, const Frame& frame, const base::Payload& body);
  std::size_t push_some(std::span<const std::byte> bytes);
  void begin_again(std::size_t bytes);

  std::optional<RingWriter> ring_;
  std::function<void()> written_;
  std::deque<Kept> kept_;
  std::atomic<bool> has_kept_{false};
};

/// Puts frames together again. Of one context at a time.
class FrameReader {
 public:
  struct Arrived {
    std::uint32_t connection = 0;
    bool is_short = false;
    ShortFrame short_frame;      ///< if it is
    std::optional<Frame> frame;  ///< none, and no short one: the last on that connection
    bool is_last() const { return !frame && !is_short; }
  };
  FrameReader() = default;
  explicit FrameReader(RingReader ring) : ring_(ring) {}
  /// The next whole one, if there is, else null; until it is called again. Throws LinkError when
  /// the bytes are no frame.
  Arrived* next();
  /// Whether next() may find something; quick when not.
  bool has_more() { return is_under_way_ || ring_.has_data(); }
  /// The writer waits for room, and there is.
  bool must_notify_writer() { return ring_.must_notify_writer(); }

 private:
  Arrived* finish(base::Payload&& body);
  Arrived* next_long(std::span<const std::byte> data, const RecordHead& head);
  Arrived* next_short(std::span<const std::byte> data, std::uint64_t body_bytes);
  bool receive_rest();

  RingReader ring_;
  bool is_under_way_ = false;
  Arrived arrived_;
  std::vector<std::byte> header_;  // of the frame that is under way
  base::Payload body_;             // written where nobody else sees it yet
  std::span<std::byte> rest_;      // of that
};

}  // namespace paths
