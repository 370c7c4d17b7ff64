// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/area.hpp — rings in memory that two processes map, without a file
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/descriptor.hpp"

namespace paths {

/// Thrown if the peer of a link breaks the rules. Nothing that it wrote is trusted any more.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using base::Descriptor;

/// Counters of one direction of a link. The writer counts bytes written, the reader bytes read.
/// Each process writes its own counter only, and checks the other's before it uses it.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::atomic<std::uint32_t> writer_waiting{0};  ///< whether the writer waits for room
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The two rings of a link, in memory that two processes map. The maker passes the descriptor to
/// the other process. The kernel frees the memory when both have closed it or died. The size is
/// sealed, so that neither can take away memory that the other uses.
class RingArea {
 public:
  static constexpr std::size_t ring_bytes = std::size_t{4} << 20;

  /// Throws std::system_error.
  static RingArea make();
  /// Maps memory that a peer made. Throws LinkError if it is not a link's memory.
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
  /// Direction 0 is from the process that made the area, 1 is to it.
  RingControl& control(int direction) const;
  /// Returns the ring. It is mapped twice in a row, so that bytes beyond its end continue at its
  /// beginning.
  std::byte* bytes(int direction) const;

 private:
  void map();
  Descriptor descriptor_;
  std::byte* base_ = nullptr;
};

/// Shows other processes whether a thread of this host polls what they write. It is one number,
/// which only this host changes: how many threads poll, and how often one has stopped.
class PollingFlag {
 public:
  /// Makes the flag of this host. Throws std::system_error.
  static PollingFlag make();
  /// Maps the flag of a peer, read-only. Throws LinkError.
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
  /// Returns true for the last polling thread, which must look once more: no peer has rung for
  /// earlier frames.
  bool end_polling();
  /// Returns the number of the current sleep, different for each; 0 while a thread polls.
  std::uint64_t sleep() const;

 private:
  Descriptor descriptor_;
  std::atomic<std::uint64_t>* word_ = nullptr;
};

/// Writing end of one direction of a link.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// Returns memory for the next bytes: at least `wanted` bytes, or all the room there is. Throws
  /// LinkError if the reader's counter is impossible.
  std::span<std::byte> room(std::size_t wanted);
  /// Passes that many written bytes to the reader.
  void publish(std::size_t bytes);
  /// Asks for a notification when half of the ring is free. Returns false if there is room already.
  bool ask_for_room();
  /// Returns the bytes to the end of the ring if it is better to skip them and continue at the
  /// beginning; otherwise 0. It is better if the ring is empty, was partly used, and has room for
  /// `wanted` bytes at its beginning.
  ///
  /// Why: Memory that small frames use again and again stays in the processors' caches. A whole
  /// ring does not, nor do the rings of several peers.
  std::size_t bytes_left_out(std::size_t wanted);

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // reader's counter, as last seen
  static constexpr std::size_t near_bytes = std::size_t{1} << 10;
  std::uint64_t looks_at_ = near_bytes;  // next value of written_ to check for an empty ring
};

/// Reading end of one direction of a link.
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// Returns the bytes that are there. The writer may change them at any time. Throws LinkError if
  /// the writer's counter is impossible.
  std::span<const std::byte> data();
  void consume(std::size_t bytes);
  /// Consumes everything to the end of the ring. Throws LinkError if that was not written.
  void consume_to_end();
  bool has_data() const {
    return control_ != nullptr && control_->written.load(std::memory_order_seq_cst) != read_;
  }
  /// Whether the writer asked for room and there is some; true once per request.
  bool must_notify_writer();

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t read_ = 0;
  std::uint64_t ordered_ = 0;  // value of read_ at its last store with a fence
  std::uint64_t written_ = 0;  // writer's counter, as last seen
};

}  // namespace paths
