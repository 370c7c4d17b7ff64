// SPDX-License-Identifier: Apache-2.0
// base/payload.hpp — immutable, shared bytes that are cheap to copy
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

/// The bytes of one tuple; copies share them. Up to `inline_bytes` are stored in the object, so the
/// common 8-byte reductions never allocate.
///
/// Values made in this process, and values read from a path or an element, have a known type. Moves
/// and reads do not check bytes of unknown type.
///
/// Owns: a reference count on the bytes. The release function of adopted bytes, such as a received
///   message, runs on the thread that destroys the last copy. Blocks of 64 KiB and more are
///   kept for reuse (base/large_memory.hpp).
/// Thread-safe: different Payloads may be used concurrently, even if they share their bytes.
class Payload {
 public:
  static constexpr std::size_t inline_bytes = 48;

  Payload() noexcept = default;
  Payload(const Payload& other) noexcept;
  // Defined here, so that compilers inline them: C++ code often moves (std::move) frames and
  // operations with small or empty payloads.
  Payload(Payload&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)), head_(std::exchange(other.head_, 0)) {
    take_bytes_kept_by(other);
  }
  Payload& operator=(const Payload& other) noexcept;
  Payload& operator=(Payload&& other) noexcept {
    if (this == &other) return *this;
    // drop() may call the function `release` that adopt() got. That function may access this
    // payload. This function therefore calls drop() last, after this payload has its new value.
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
  void be_copy_of(std::span<const std::byte> bytes);
  /// Returns a payload whose bytes belong to another owner. The last copy calls `release` when it
  /// is destroyed. The bytes are never stored inline.
  static Payload adopt(std::span<const std::byte> bytes, std::function<void()> release);
  /// Returns a payload that takes over the array without a copy. Values that fit inline are copied.
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
  /// Returns a payload of `size` new bytes, which `fill` writes.
  template <class Fill>
  static Payload filled(std::size_t size, Fill&& fill) {
    Payload payload = uninitialised(size);
    fill(payload.writable());
    return payload;
  }
  /// Returns a payload with a copy of one plain value. Byte order: little-endian, as on all
  /// supported machines.
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

  /// The type of the values. It belongs to this Payload, not to the shared bytes.
  ValueType type() const noexcept { return static_cast<ValueType>(head_ >> type_shift & 0x7f); }
  /// Whether the values are partial: the result of a round that covers only some of the
  /// contributions. This mark belongs to this Payload, not to the shared bytes.
  bool is_partial() const noexcept { return (head_ & partial_bit) != 0; }
  /// Whether the payload is complete (not partial), and its type is `wanted` or unknown.
  bool may_be(ValueType wanted) const noexcept {
    const std::size_t label = head_ >> type_shift;
    return label == static_cast<std::size_t>(wanted) ||
           label == static_cast<std::size_t>(ValueType::unknown);
  }
  void set_type(ValueType type, bool is_partial = false) noexcept {
    head_ = size() | static_cast<std::size_t>(type) << type_shift | (is_partial ? partial_bit : 0);
  }
  /// Returns the part of `size` bytes that begins at `offset`. The part shares the bytes.
  /// Requires: offset + size <= size().
  Payload part(std::size_t offset, std::size_t size) const;
  /// Appends `next` without a copy, if its bytes directly follow those of this payload in the same
  /// shared bytes. Returns whether it has appended them.
  bool join(const Payload& next) noexcept;
  /// Whether this payload and `other` are copies or parts of the same shared bytes. Always false
  /// for inline bytes.
  bool shares_bytes_with(const Payload& other) const noexcept {
    return shared_ != nullptr && shared_ == other.shared_;
  }
  /// Returns the value at `offset`. Throws UsageError if the value extends beyond the payload, is
  /// partial or has another type.
  template <class T>
  T read(std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!may_be(value_type_of<T>())) check_type(value_type_of<T>(), false);
    return read_at<T>(offset);
  }
  /// Like read(), for values that may be partial.
  template <class T>
  T read_partial(std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!may_be(value_type_of<T>())) check_type(value_type_of<T>(), true);
    return read_at<T>(offset);
  }
  friend bool operator==(const Payload& a, const Payload& b) noexcept;

 private:
  friend class Buffer;  // writes the bytes before they are shared
  struct Shared;        // reference count and release function
  static void drop(Shared* shared) noexcept;
  /// Copies the inline bytes or the pointer from `other`. Copies all inline bytes if size() is
  /// above eight; otherwise copies exactly eight bytes. To copy exactly size() bytes would be
  /// slower.
  void take_bytes_kept_by(const Payload& other) noexcept {
    static_assert(sizeof bytes_ == sizeof(std::uint64_t));
    if (size() == 0 && shared_ == nullptr) return;
    std::memcpy(here_, other.here_, sizeof bytes_);
    if (shared_ == nullptr && size() > sizeof bytes_)
      std::memcpy(here_ + sizeof bytes_, other.here_ + sizeof bytes_, inline_bytes - sizeof bytes_);
  }
  static Payload uninitialised(std::size_t size);
  static Payload adopt_writable(std::span<std::byte> bytes, std::function<void()> release);
  /// Whether the bytes may be changed: no other payload shares them, and they are not read-only.
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
    std::byte* bytes_;  // address of the shared bytes
    alignas(8) std::byte here_[inline_bytes];
  };
};

}  // namespace base
