// SPDX-License-Identifier: Apache-2.0
// base/payload.hpp — bytes with an owner: cheap to copy, never written after they are shared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/scalar.hpp"

namespace base {

/// The bytes of one tuple. A copy shares them; up to `inline_bytes` they are kept in place, so
/// that the 8-byte reductions this project lives on never allocate.
///
/// Owns:    a count on the bytes; the release function runs when the last copy goes, on
///          whichever thread drops it (a received message and shared memory come in this way).
///          Memory of a megabyte and more is kept for the next payload (base/large_memory.hpp).
/// Types:   knows the type of its values if it was made of values, or was read from a path or an
///          element. Bytes of unknown type are neither checked when moved nor when read.
/// Sharing: different Payloads may be used concurrently, even when they share their bytes.
class Payload {
 public:
  static constexpr std::size_t inline_bytes = 48;

  Payload() noexcept = default;
  Payload(const Payload& other) noexcept;
  // Frames and operations are moved from hand to hand with payloads that are mostly empty or small.
  Payload(Payload&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)), head_(std::exchange(other.head_, 0)) {
    take_bytes_kept_by(other);
  }
  Payload& operator=(const Payload& other) noexcept;
  Payload& operator=(Payload&& other) noexcept {
    if (this == &other) return *this;
    // A release function may come back to this payload, so it runs when the new value is in place.
    Shared* const old = std::exchange(shared_, std::exchange(other.shared_, nullptr));
    head_ = std::exchange(other.head_, 0);
    take_bytes_kept_by(other);
    if (old != nullptr) drop(old);
    return *this;
  }
  ~Payload() {
    if (shared_ != nullptr) drop(shared_);
  }

  static Payload copy_of(std::span<const std::byte> bytes);
  /// The same in this one's place.
  void be_copy_of(std::span<const std::byte> bytes);
  /// Adopts bytes that somebody else owns until `release` has run. Never inlined.
  static Payload adopt(std::span<const std::byte> bytes, std::function<void()> release);
  /// The values of an array whose owner gives it away: not copied, unless they are few.
  template <class T>
  static Payload of(std::vector<T>&& values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    Payload payload;
    if (values.size() * sizeof(T) <= inline_bytes) {
      payload = copy_of(std::as_bytes(std::span(values)));
    } else {
      const auto held = std::make_shared<const std::vector<T>>(std::move(values));
      payload = adopt(std::as_bytes(std::span(*held)), [held] {});
    }
    payload.set_type(value_type_of<T>());
    return payload;
  }
  /// New bytes written by `fill` before anybody can see them.
  template <class Fill>
  static Payload filled(std::size_t size, Fill&& fill) {
    Payload payload = uninitialised(size);
    fill(payload.writable());
    return payload;
  }
  /// The bytes of one plain value, little-endian as on every machine we run on.
  template <class T>
  static Payload of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Payload payload = copy_of(std::as_bytes(std::span<const T, 1>(&value, 1)));
    payload.set_type(value_type_of<T>());
    return payload;
  }

  std::span<const std::byte> bytes() const noexcept { return {data(), size()}; }
  std::size_t size() const noexcept { return head_ & size_mask; }
  bool empty() const noexcept { return size() == 0; }

  /// Type of the values, and whether they are partial: the result of a round that covers only some
  /// of the contributions. Both belong to this Payload, not to the bytes that it shares.
  ValueType type() const noexcept { return static_cast<ValueType>(head_ >> type_shift & 0x7f); }
  bool is_partial() const noexcept { return (head_ & partial_bit) != 0; }
  /// Neither partial nor of another type, as far as it is known.
  bool may_be(ValueType wanted) const noexcept {
    const std::size_t label = head_ >> type_shift;
    return label == static_cast<std::size_t>(wanted) ||
           label == static_cast<std::size_t>(ValueType::unknown);
  }
  void set_type(ValueType type, bool is_partial = false) noexcept {
    head_ = size() | static_cast<std::size_t>(type) << type_shift | (is_partial ? partial_bit : 0);
  }
  /// Some of the bytes, which it shares. They are there.
  Payload part(std::size_t offset, std::size_t size) const;
  /// Takes the bytes of the other one to its own, and says so, where these are parts of the same
  /// payload and it begins where this one ends.
  bool join(const Payload& next) noexcept;
  /// Is this the other, or a copy or a part of it? Never of bytes kept in place, which are not
  /// shared.
  bool shares_bytes_with(const Payload& other) const noexcept {
    return shared_ != nullptr && shared_ == other.shared_;
  }
  /// The value at `offset`. Throws UsageError when the bytes do not reach that far.
  template <class T>
  T read(std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!may_be(value_type_of<T>())) check_type(value_type_of<T>(), false);
    return read_at<T>(offset);
  }
  /// The same of a value that may be partial.
  template <class T>
  T read_partial(std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!may_be(value_type_of<T>())) check_type(value_type_of<T>(), true);
    return read_at<T>(offset);
  }
  friend bool operator==(const Payload& a, const Payload& b) noexcept;

 private:
  friend class Buffer;  // which writes before anybody shares
  struct Shared;        // count, release
  static void drop(Shared* shared) noexcept;
  /// One value, in whose place the pointer is, or all: to copy as many as there are takes longer.
  void take_bytes_kept_by(const Payload& other) noexcept {
    static_assert(sizeof bytes_ == sizeof(std::uint64_t));
    if (size() == 0 && shared_ == nullptr) return;
    std::memcpy(here_, other.here_, sizeof bytes_);
    if (shared_ == nullptr && size() > sizeof bytes_)
      std::memcpy(here_ + sizeof bytes_, other.here_ + sizeof bytes_, inline_bytes - sizeof bytes_);
  }
  static Payload uninitialised(std::size_t size);
  static Payload adopt_writable(std::span<std::byte> bytes, std::function<void()> release);
  /// Nobody else has them, nor are they lent for reading only.
  bool may_be_written() const noexcept;
  template <class T>
  T read_at(std::size_t offset) const {
    if (size() < sizeof(T) || offset > size() - sizeof(T)) refuse_read(sizeof(T), offset);
    T value;
    std::memcpy(&value, data() + offset, sizeof value);
    return value;
  }
  void check_type(ValueType wanted, bool may_be_partial) const;
  [[noreturn]] void refuse_read(std::size_t bytes, std::size_t offset) const;
  std::span<std::byte> writable() noexcept;
  const std::byte* data() const noexcept { return is_inline() ? here_ : bytes_; }
  bool is_inline() const noexcept { return shared_ == nullptr; }

  static_assert(sizeof(std::size_t) == 8);
  static constexpr unsigned type_shift = 56;
  static constexpr std::size_t size_mask = (std::size_t{1} << type_shift) - 1;
  static constexpr std::size_t partial_bit = std::size_t{1} << 63;

  Shared* shared_ = nullptr;
  std::size_t head_ = 0;  // bits 0 to 55: size in bytes; 56 to 62: ValueType; 63: is partial
  union {
    std::byte* bytes_;  // of those that are shared
    alignas(8) std::byte here_[inline_bytes];
  };
};

}  // namespace base
