// SPDX-License-Identifier: Apache-2.0
// base/payload.cpp — reference counting and release of shared bytes
#include "base/payload.hpp"

#include <fmt/format.h>

#include <atomic>
#include <new>
#include <utility>

#include "base/copy_few.hpp"
#include "base/errors.hpp"
#include "base/large_memory.hpp"
#include "base/usage_error.hpp"

namespace base {

/// Reference count of shared bytes. If the payload allocated the bytes itself, they follow the
/// count in the same allocation, and need no release function.
struct alignas(std::max_align_t) PayloadBytes::Shared {
  std::atomic<std::size_t> holders{1};
  std::size_t large = 0;  ///< size of the block from take_large(); 0 = heap memory
  bool is_writable = true;
  std::function<void()> release;

  /// Allocates a Shared followed by `size` bytes, and sets `bytes` to the first of these bytes.
  static Shared* with_room_for(std::size_t size, std::byte*& bytes) {
    // Aligns the bytes to a cache line.
    constexpr std::size_t large_offset = (sizeof(Shared) + 63) / 64 * 64;
    const bool is_large = size >= large_bytes;
    const std::size_t offset = is_large ? large_offset : sizeof(Shared);
    void* const block = is_large ? take_large(offset + size) : ::operator new(offset + size);
    auto* const shared = new (block) Shared;
    bytes = static_cast<std::byte*>(block) + offset;
    if (is_large) shared->large = offset + size;
    return shared;
  }

  void hold() noexcept { holders.fetch_add(1, std::memory_order_relaxed); }
  /// Uses acquire and release order: all accesses of the other owners must happen before the last
  /// owner frees the bytes.
  void drop() noexcept {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (release) release();
    const std::size_t taken = large;
    this->~Shared();
    if (taken > 0) return give_large(this, taken);
    ::operator delete(this);
  }
};

PayloadBytes::PayloadBytes(const PayloadBytes& other) noexcept
    : shared_(other.shared_), head_(other.head_) {
  if (shared_ != nullptr) shared_->hold();
  take_bytes_kept_by(other);
}

PayloadBytes& PayloadBytes::operator=(const PayloadBytes& other) noexcept {
  if (this == &other) return *this;
  return *this = PayloadBytes(other);
}

void PayloadBytes::drop(Shared* shared) noexcept { shared->drop(); }

PayloadBytes PayloadBytes::uninitialised(std::size_t size) {
  PayloadBytes stored;
  stored.head_ = size;
  if (size > inline_max) stored.shared_ = Shared::with_room_for(size, stored.bytes_);
  return stored;
}

PayloadBytes PayloadBytes::adopt(std::span<std::byte> bytes, bool is_writable,
                                 std::function<void()> release) {
  PayloadBytes stored;
  stored.shared_ = new (::operator new(sizeof(Shared))) Shared;
  stored.shared_->is_writable = is_writable;
  stored.shared_->release = std::move(release);
  stored.bytes_ = bytes.data();
  stored.head_ = bytes.size();
  return stored;
}

void PayloadBytes::be_copy_of(std::span<const std::byte> bytes) {
  if (bytes.size() <= inline_max && is_inline()) {
    head_ = bytes.size();
    return copy_few(bytes, here_);
  }
  PayloadBytes stored = uninitialised(bytes.size());
  std::memcpy(stored.writable().data(), bytes.data(), bytes.size());
  *this = std::move(stored);
}

std::span<std::byte> PayloadBytes::writable() noexcept {
  return {is_inline() ? here_ : bytes_, size()};
}

PayloadBytes PayloadBytes::part(std::size_t offset, std::size_t size) const {
  ENSURE(offset <= this->size() && size <= this->size() - offset);
  PayloadBytes part;
  if (is_inline()) {
    part.be_copy_of({here_ + offset, size});
  } else {
    part = *this;
    part.bytes_ += offset;
  }
  part.head_ = (head_ & ~size_mask) | size;
  return part;
}

bool PayloadBytes::join(const PayloadBytes& next) noexcept {
  if (is_inline() || next.shared_ != shared_ || next.bytes_ != bytes_ + size()) return false;
  head_ += next.size();
  return true;
}

/// Uses an acquire load because of other threads that have read the bytes through copies. Their
/// reads ended before they destroyed the copies, and must happen before the caller's writes.
bool PayloadBytes::may_be_written() const noexcept {
  return is_inline() ||
         (shared_->is_writable && shared_->holders.load(std::memory_order_acquire) == 1);
}

Payload Payload::copy_of(std::span<const std::byte> bytes) {
  Payload payload;
  payload.be_copy_of(bytes);
  return payload;
}

Payload Payload::adopt(std::span<const std::byte> bytes, std::function<void()> release) {
  const std::span all(const_cast<std::byte*>(bytes.data()), bytes.size());
  return Payload(PayloadBytes::adopt(all, false, std::move(release)));
}

bool operator==(const Payload& a, const Payload& b) noexcept {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.bytes().data(), b.bytes().data(), a.size()) == 0);
}

void Payload::check_type(ValueType wanted, bool may_be_partial) const {
  if (is_partial() && !may_be_partial)
    throw UsageError(
        "this value covers only some of the contributions; decide by `condition`, or call "
        "`partial<T>()` of the result");
  // Structs and bytes (`wanted` is unknown) may be read from values of any type.
  if (!is_one_scalar(type()) || wanted == ValueType::unknown || wanted == type()) return;
  throw UsageError(fmt::format("values of type {} were read as {}; expected {}", type_name(type()),
                               type_name(wanted), type_name(type())));
}

void Payload::refuse_read(std::size_t bytes, std::size_t offset) const {
  throw UsageError(fmt::format("a payload of {} bytes was read as a value of {} bytes at byte {}",
                               size(), bytes, offset));
}

}  // namespace base
