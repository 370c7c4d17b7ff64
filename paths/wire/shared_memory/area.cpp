// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/area.cpp — mapping of shared memory, and access to its rings
#include "paths/wire/shared_memory/area.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "base/sealed_memory.hpp"

namespace paths {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t area_bytes = page_bytes + 2 * RingArea::ring_bytes;
constexpr std::size_t mapped_bytes = page_bytes + 4 * RingArea::ring_bytes;

// Fields of the word of a PollingFlag. The lower 16 bits count the polling threads. The upper bits
// count how often a thread has stopped polling.
constexpr std::uint64_t one_sleep = std::uint64_t{1} << 16;
constexpr std::uint64_t lookers = one_sleep - 1;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void check(const Descriptor& descriptor, std::size_t bytes) {
  if (!base::is_sealed_memory(descriptor, bytes))
    throw LinkError("the descriptor that it sent is not memory of a link");
}

std::byte* map_at(std::byte* place, std::size_t bytes, int descriptor, std::size_t offset) {
  void* const mapped = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                            descriptor, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) fail("shared memory cannot be mapped");
  return static_cast<std::byte*>(mapped);
}

}  // namespace

// ---- areas -----------------------------------------------------------------------------------

RingArea RingArea::make() {
  RingArea area;
  area.descriptor_ = base::make_sealed_memory("paths", area_bytes);
  area.map();
  new (area.base_) RingControl[2];
  return area;
}

RingArea RingArea::of(Descriptor descriptor) {
  check(descriptor, area_bytes);
  RingArea area;
  area.descriptor_ = std::move(descriptor);
  area.map();
  return area;
}

void RingArea::map() {
  void* const reserved =
      mmap(nullptr, mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) fail("no room for shared memory");
  base_ = static_cast<std::byte*>(reserved);
  static_assert(2 * sizeof(RingControl) <= page_bytes);
  map_at(base_, page_bytes, descriptor(), 0);
  for (std::size_t half = 0; half < 4; ++half)
    map_at(base_ + page_bytes + half * ring_bytes, ring_bytes, descriptor(),
           page_bytes + half / 2 * ring_bytes);
}

RingArea::~RingArea() {
  if (base_ != nullptr) munmap(base_, mapped_bytes);
}

RingControl& RingArea::control(int direction) const {
  return reinterpret_cast<RingControl*>(base_)[direction];
}

std::byte* RingArea::bytes(int direction) const {
  return base_ + page_bytes + static_cast<std::size_t>(2 * direction) * ring_bytes;
}

// ---- polling flags ---------------------------------------------------------------------------

PollingFlag PollingFlag::make() {
  PollingFlag sign;
  sign.descriptor_ = base::make_sealed_memory("paths", page_bytes);
  void* const mapped =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sign.descriptor(), 0);
  if (mapped == MAP_FAILED) fail("shared memory cannot be mapped");
  sign.word_ = new (mapped) std::atomic<std::uint64_t>(one_sleep);
  // From now on, other processes can only read the memory.
  if (fcntl(sign.descriptor(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0)
    fail("shared memory cannot be sealed");
  return sign;
}

PollingFlag PollingFlag::of(Descriptor descriptor) {
  check(descriptor, page_bytes);
  PollingFlag sign;
  sign.descriptor_ = std::move(descriptor);
  void* const mapped = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, sign.descriptor(), 0);
  if (mapped == MAP_FAILED) fail("shared memory cannot be mapped");
  sign.word_ = static_cast<std::atomic<std::uint64_t>*>(mapped);
  return sign;
}

PollingFlag::~PollingFlag() {
  if (word_ != nullptr) munmap(word_, page_bytes);
}

void PollingFlag::begin_polling() { word_->fetch_add(1, std::memory_order_seq_cst); }

bool PollingFlag::end_polling() {
  const std::uint64_t before = word_->fetch_add(one_sleep - 1, std::memory_order_seq_cst);
  return (before & lookers) == 1;
}

std::uint64_t PollingFlag::sleep() const {
  const std::uint64_t word = word_->load(std::memory_order_seq_cst);
  return (word & lookers) == 0 ? word : 0;
}

// ---- rings -----------------------------------------------------------------------------------

std::span<std::byte> RingWriter::room(std::size_t wanted) {
  const auto free = [this] { return RingArea::ring_bytes - (written_ - read_); };
  if (free() < wanted) {
    read_ = control_->read.load(std::memory_order_acquire);
    if (written_ - read_ > RingArea::ring_bytes) throw LinkError("it read what was not written");
  }
  return {bytes_ + written_ % RingArea::ring_bytes, free()};
}

/// The writer must call publish() before it checks whether the reader sleeps. In this order, no
/// wake-up is missed: either the writer sees that the reader sleeps, or the reader sees the new
/// bytes in its last check before the sleep.
void RingWriter::publish(std::size_t bytes) {
  written_ += bytes;
  control_->written.store(written_, std::memory_order_seq_cst);
}

std::size_t RingWriter::bytes_left_out(std::size_t wanted) {
  if (written_ < looks_at_) return 0;
  looks_at_ = written_ + near_bytes;
  const std::size_t used = written_ % RingArea::ring_bytes;
  const std::size_t left_out = RingArea::ring_bytes - used;
  if (used < std::max(near_bytes, wanted) || left_out < near_bytes) return 0;
  if (control_->read.load(std::memory_order_acquire) != written_) return 0;
  read_ = written_;
  looks_at_ += left_out;
  return left_out;
}

bool RingWriter::ask_for_room() {
  control_->writer_waiting.store(1, std::memory_order_seq_cst);
  return control_->read.load(std::memory_order_seq_cst) == read_;
}

std::span<const std::byte> RingReader::data() {
  written_ = control_->written.load(std::memory_order_seq_cst);
  if (written_ - read_ > RingArea::ring_bytes)
    throw LinkError("it wrote more than there was room for");
  return {bytes_ + read_ % RingArea::ring_bytes, static_cast<std::size_t>(written_ - read_)};
}

/// Consumes bytes. Stores read_ with a fence only once for each half of the ring, because a fence
/// takes time.
/// Why: this is enough for a writer that begins to wait for room. While the reader empties the
///      whole ring, it makes at least one store with a fence, and then checks whether the writer
///      waits. Either the writer sees the room, or the reader sees that the writer waits.
void RingReader::consume(std::size_t bytes) {
  read_ += bytes;
  if (read_ - ordered_ < RingArea::ring_bytes / 2)
    return control_->read.store(read_, std::memory_order_release);
  ordered_ = read_;
  control_->read.store(read_, std::memory_order_seq_cst);
}

void RingReader::consume_to_end() {
  const std::size_t left_out = RingArea::ring_bytes - read_ % RingArea::ring_bytes;
  if (written_ - read_ < left_out) throw LinkError("it left out what it did not write");
  consume(left_out);
}

bool RingReader::must_notify_writer() {
  if (control_->writer_waiting.load(std::memory_order_seq_cst) == 0) return false;
  written_ = control_->written.load(std::memory_order_acquire);
  if (written_ - read_ > RingArea::ring_bytes / 2) return false;
  control_->writer_waiting.store(0, std::memory_order_seq_cst);
  return true;
}

}  // namespace paths
