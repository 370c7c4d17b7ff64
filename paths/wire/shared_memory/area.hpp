// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/area.hpp — ring buffers in memory that two processes map
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/descriptor.hpp"

namespace paths {

/// Exception for the case that the peer of a shared-memory link (link.hpp) breaks the protocol.
/// After this exception, this host must not use anything that the peer has written.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using base::Descriptor;

/// Counters of one direction of a shared-memory link: the writer counts the bytes written, and the
/// reader counts the bytes read. Each process checks the counter of the other process before use.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  /// 1 while the writer waits for room in the ring, otherwise 0.
  alignas(64) std::atomic<std::uint32_t> writer_waiting{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The two ring buffers of a shared-memory link, in memory that two processes map. The memory has
/// no file. The process that makes the memory passes its descriptor to the other process. The
/// kernel frees the memory when both processes have closed it or died. The size of the memory is
/// sealed, so that neither process can shrink the memory while the other process uses it.
class RingArea {
 public:
  static constexpr std::size_t ring_bytes = std::size_t{4} << 20;

  /// Makes the memory of a link.
  /// Throws: std::system_error.
  static RingArea make();
  /// Maps memory that a peer has made.
  /// Throws: LinkError if the memory is not the memory of a shared-memory link.
  static RingArea of(Descriptor descriptor);
  RingArea() = default;
  RingArea(RingArea&& other) noexcept
      : descriptor_(std::move(other.descriptor_)), base_(std::exchange(other.base_, nullptr)) {}
  RingArea& operator=(RingArea&& other) noexcept {
    descriptor_ = std::move(other.descriptor_);
    std::swap(base_, other.base_);
    return *this;
  }
  ~RingArea();

  explicit operator bool() const { return base_ != nullptr; }
  int descriptor() const { return descriptor_.get(); }
  /// Returns the counters of a direction: 0 = from the process that made the area, 1 = to that
  /// process.
  RingControl& control(int direction) const;
  /// Returns the memory of the ring of a direction. The memory is mapped twice in succession, so
  /// that a range of bytes may continue beyond the end of the ring.
  std::byte* bytes(int direction) const;

 private:
  void map();
  Descriptor descriptor_;
  std::byte* base_ = nullptr;
};

/// Shows other processes whether a thread of this host polls for the frames that they write. The
/// flag is one word, which only this host changes. The word contains the number of polling threads,
/// and how often a thread has stopped polling.
class PollingFlag {
 public:
  /// Makes the flag of this host.
  /// Throws: std::system_error.
  static PollingFlag make();
  /// Maps the flag of a peer, read-only.
  /// Throws: LinkError if the memory is not the memory of a flag.
  static PollingFlag of(Descriptor descriptor);
  PollingFlag() = default;
  PollingFlag(PollingFlag&& other) noexcept
      : descriptor_(std::move(other.descriptor_)), word_(std::exchange(other.word_, nullptr)) {}
  PollingFlag& operator=(PollingFlag&& other) noexcept {
    descriptor_ = std::move(other.descriptor_);
    std::swap(word_, other.word_);
    return *this;
  }
  ~PollingFlag();

  explicit operator bool() const { return word_ != nullptr; }
  int descriptor() const { return descriptor_.get(); }
  void begin_polling();
  /// Notes that the calling thread stops polling. Returns true if no other thread polls. The caller
  /// must then check the rings once more, because peers send no notification while a thread polls.
  bool end_polling();
  /// Returns a number that identifies the present sleep (a span in which no thread polls), and that
  /// differs from the numbers of other sleeps. Returns 0 while a thread polls.
  std::uint64_t sleep() const;

 private:
  Descriptor descriptor_;
  std::atomic<std::uint64_t>* word_ = nullptr;
};

/// Writing end of one direction of a shared-memory link.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// Returns memory for the next bytes: at least `wanted` bytes, or all free bytes if fewer are
  /// free.
  /// Throws: LinkError if the reader's counter has an impossible value.
  std::span<std::byte> room(std::size_t wanted);
  /// Makes the next `bytes` bytes visible to the reader.
  /// Requires: the caller has written these bytes to room().
  void publish(std::size_t bytes);
  /// Asks the reader for a notification when half of the ring is free. Returns false if there is
  /// room already, because the reader has consumed bytes since the last call of room().
  bool ask_for_room();
  /// Returns the number of bytes that the writer should skip so that its next bytes are at the
  /// beginning of the ring; 0 = do not skip. The result is above 0 only if the reader has read all
  /// bytes, and if `wanted` bytes fit between the beginning of the ring and the writer's position.
  ///
  /// Why: if small frames use the same memory again and again, this memory stays in the processor's
  ///      cache. A whole ring, or the rings of several peers, would not fit in the cache.
  std::size_t bytes_left_out(std::size_t wanted);

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // value of RingControl::read when it was last loaded
  static constexpr std::size_t near_bytes = std::size_t{1} << 10;
  // bytes_left_out() returns 0 without a check of the ring until written_ has this value.
  std::uint64_t looks_at_ = near_bytes;
};

/// Reading end of one direction of a shared-memory link.
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// Returns the bytes that are ready. The writer may change these bytes at any time.
  /// Throws: LinkError if the writer's counter has an impossible value.
  std::span<const std::byte> data();
  void consume(std::size_t bytes);
  /// Consumes all bytes up to the end of the ring.
  /// Throws: LinkError if the writer has not written all these bytes.
  void consume_to_end();
  bool has_data() const {
    return control_ != nullptr && control_->written.load(std::memory_order_seq_cst) != read_;
  }
  /// Returns whether the writer has asked for a notification, and half of the ring is free. Returns
  /// true only once for each request of the writer.
  bool must_notify_writer();

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t read_ = 0;
  std::uint64_t ordered_ = 0;  // value of read_ when it was last stored with a fence
  std::uint64_t written_ = 0;  // value of RingControl::written when it was last loaded
};

}  // namespace paths
