// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/area.hpp — memory that two processes see, and that no file holds.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/descriptor.hpp"

namespace paths {

/// A peer of a link did what it may not: nothing of it is believed any more.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using base::Descriptor;

/// One direction of a link: who writes counts the bytes written, who reads those read. Each process
/// writes what is its own only, and believes nothing of what the other wrote without a look at it.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::atomic<std::uint32_t> writer_waiting{0};  ///< the writer, to be told of some
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The two rings of a link. Whoever made it hands its descriptor to the other; it goes when both
/// have closed it or died. Its size is sealed, so that nobody can take away what the other uses.
class RingArea {
 public:
  static constexpr std::size_t ring_bytes = std::size_t{4} << 20;

  /// Throws std::system_error.
  static RingArea make();
  /// Of a descriptor that came from a peer. Throws LinkError when it is not such memory.
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
  /// 0: from who made the area; 1: to them.
  RingControl& control(int direction) const;
  /// The ring, twice in a row, so that what reaches beyond its end goes on at its beginning.
  std::byte* bytes(int direction) const;

 private:
  void map();
  Descriptor descriptor_;
  std::byte* base_ = nullptr;
};

/// Says to other processes whether anybody of this host looks at what they write. One number, which
/// only this host changes: how many look, and how often the last of them has left.
class PollingFlag {
 public:
  /// Of this host. Throws std::system_error.
  static PollingFlag make();
  /// Of a peer, to be read only. Throws LinkError.
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
  /// True for the last, who has to look once more: nobody told him of what came until now.
  bool end_polling();
  /// Of nobody, the sleep in which they are: each is another number. 0 while anybody looks.
  std::uint64_t sleep() const;

 private:
  Descriptor descriptor_;
  std::atomic<std::uint64_t>* word_ = nullptr;
};

/// What one direction of a link is written by.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// Room for the next bytes: at least `wanted`, or else all there is. Throws LinkError
  /// when the reader says what cannot be.
  std::span<std::byte> room(std::size_t wanted);
  /// So many bytes of it are written.
  void publish(std::size_t bytes);
  /// Asks to be told when half of the ring is free; false when there is room already.
  bool ask_for_room();
  /// Bytes to the end of the ring, if who writes `wanted` next had better leave them out and begin
  /// again where the ring does: there is room for it at once, nothing is in the ring, and some of
  /// it has been used. Else none.
  ///
  /// Why: what small frames use again and again stays in the processors' caches; all of a ring does
  ///      not, nor do those of several peers.
  std::size_t bytes_left_out(std::size_t wanted);

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // as last seen
  static constexpr std::size_t near_bytes = std::size_t{1} << 10;
  std::uint64_t looks_at_ = near_bytes;  // from there on, whether nothing is in it
};

/// What the other end reads it by.
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl& control, std::byte* bytes) : control_(&control), bytes_(bytes) {}
  /// What is there. The writer may change it at any time. Throws LinkError when the writer
  /// says what cannot be.
  std::span<const std::byte> data();
  void consume(std::size_t bytes);
  /// All up to the end of the ring. Throws LinkError when that is not there.
  void consume_to_end();
  bool has_data() const {
    return control_ != nullptr && control_->written.load(std::memory_order_seq_cst) != read_;
  }
  /// The writer asked for room, and there is: once for each time it asked.
  bool must_notify_writer();

 private:
  RingControl* control_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::uint64_t read_ = 0;
  std::uint64_t ordered_ = 0;  // of that, what was said with a fence
  std::uint64_t written_ = 0;  // as last seen
};

}  // namespace paths
