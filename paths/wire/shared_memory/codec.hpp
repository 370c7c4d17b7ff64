// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/codec.hpp — frames of many connections, as the bytes of one ring
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

/// Fields that precede each frame in a ring. A head and its frame together are a record. A record
/// whose header_bytes is 0 closes the connection. In the record of a short frame, a ShortHead
/// replaces the frame's header.
struct RecordHead {
  /// Value of header_bytes if a short frame follows.
  static constexpr std::uint32_t is_short = ~std::uint32_t{0};
  /// Value of header_bytes if the reader must skip the rest of the ring.
  static constexpr std::uint32_t is_left_out = is_short - 1;
  std::uint32_t connection = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t body_bytes = 0;
};

/// The fields of a short frame except its tuple; docs/reference/wire.md describes them.
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

/// Writes frames into a ring. A frame is written whole or in pieces. While there is no ring, or no
/// room in the ring, frames are kept: they wait in a queue.
///
/// Thread-safe: has_kept() only. One thread or fiber at a time may call the other functions.
class FrameWriter {
 public:
  /// Sets the ring, so that frames can leave from now on. `written` is called each time after bytes
  /// were written into the ring.
  void begin(RingWriter ring, std::function<void()> written) {
    ring_ = ring;
    written_ = std::move(written);
  }
  /// Writes a frame. Never blocks. If the encoding throws, no part of the frame was written.
  void write(std::uint32_t connection, const Frame& frame);
  void write(std::uint32_t connection, const ShortFrame& frame);
  /// Writes the record that closes the connection.
  void write_end(std::uint32_t connection);
  /// Writes kept frames while there is room. Returns true if no frame is kept any more.
  /// Throws: LinkError if the counter of the reading peer is invalid.
  bool push();
  /// Returns whether frames are kept. The result becomes true before this host asks the peer for a
  /// notification of free room. The thread that gets the notification therefore finds the kept
  /// frames.
  bool has_kept() const { return has_kept_.load(); }
  /// Drops the kept frames of a connection. Does not drop a frame of which a part has left.
  void forget(std::uint32_t connection);
  void forget_all();
  /// Removes and returns all kept frames.
  /// Requires: begin() has not been called, so no part of a frame has left.
  std::vector<std::pair<std::uint32_t, Frame>> take_kept();

 private:
  struct Kept {
    std::uint32_t connection = 0;
    std::vector<std::byte> head;  // record head and frame header
    base::Payload body;
    std::size_t done = 0;  // number of bytes of head and body that have been written
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

/// Reassembles frames from a ring.
/// Thread-safe: no; one OS thread or fiber at a time.
class FrameReader {
 public:
  struct Arrived {
    std::uint32_t connection = 0;
    bool is_short = false;
    ShortFrame short_frame;      ///< valid if is_short
    std::optional<Frame> frame;  ///< nullopt if is_short, or if the record closes the connection
    bool is_last() const { return !frame && !is_short; }
  };
  /// Function that returns the maximum size of the body that follows a header.
  using BodyBytesMax = std::function<std::uint64_t(std::uint32_t connection, const Frame& head)>;

  FrameReader() = default;
  explicit FrameReader(RingReader ring) : ring_(ring) {}
  /// Sets the function `most`. Before next() allocates memory for a body of more than
  /// unasked_body_bytes, it calls `most`.
  void limit_bodies(BodyBytesMax most) { most_ = std::move(most); }
  /// Returns the next whole frame; nullptr if no whole frame has arrived. The returned frame is
  /// valid until the next call.
  /// Throws: LinkError if the bytes are not a frame.
  Arrived* next();
  /// Returns whether next() might return a frame. The call is fast if the result is false.
  bool has_more() { return is_under_way_ || ring_.has_data(); }
  /// Returns whether the caller must notify the writer, because the writer waits for room and half
  /// of the ring is free.
  bool must_notify_writer() { return ring_.must_notify_writer(); }

 private:
  Arrived* finish(base::Payload&& body);
  void check_body(const RecordHead& head) const;
  Arrived* next_long(std::span<const std::byte> data, const RecordHead& head);
  Arrived* next_short(std::span<const std::byte> data, std::uint64_t body_bytes);
  bool receive_rest();

  RingReader ring_;
  bool is_under_way_ = false;
  Arrived arrived_;
  std::vector<std::byte> header_;  // header of the frame that is being received
  base::Payload body_;             // body that is being received; no other thread has seen it
  std::span<std::byte> rest_;      // part of body_ that has not been filled
  BodyBytesMax most_;
};

}  // namespace paths
