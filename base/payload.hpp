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

/// Storage of a payload: bytes, either inline or shared by copies, and a label of eight bits that
/// belongs to this object, not to the shared bytes.
///
/// Owns: a reference count on shared bytes.
class PayloadBytes {
 public:
  static constexpr std::size_t inline_max = 48;

  PayloadBytes() noexcept = default;
  PayloadBytes(const PayloadBytes& other) noexcept;
  // Defined here, so that compilers inline them: C++ code often moves (std::move) frames and
  // operations with small or empty payloads.
  PayloadBytes(PayloadBytes&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)), head_(std::exchange(other.head_, 0)) {
    take_bytes_kept_by(other);
  }
  PayloadBytes& operator=(const PayloadBytes& other) noexcept;
  PayloadBytes& operator=(PayloadBytes&& other) noexcept {
    if (this == &other) return *this;
    // drop() may call the function `release` that adopt() got. That function may access this
    // object. This function therefore calls drop() last, after this object has its new value.
    Shared* const old = std::exchange(shared_, std::exchange(other.shared_, nullptr));
    head_ = std::exchange(other.head_, 0);
    take_bytes_kept_by(other);
    if (old != nullptr) drop(old);
    return *this;
  }
  ~PayloadBytes() {
    if (shared_ != nullptr) drop(shared_);
  }

  /// Returns `size` bytes with undefined values.
  static PayloadBytes uninitialised(std::size_t size);
  /// Returns bytes of another owner. The last copy calls `release` when it is destroyed. The bytes
  /// are never stored inline.
  static PayloadBytes adopt(std::span<std::byte> bytes, bool is_writable,
                            std::function<void()> release);
  void be_copy_of(std::span<const std::byte> bytes);

  std::size_t size() const noexcept { return head_ & size_mask; }
  const std::byte* data() const noexcept { return is_inline() ? here_ : bytes_; }
  std::span<std::byte> writable() noexcept;
  /// Whether the bytes may be changed: no other object shares them, and they are not read-only.
  bool may_be_written() const noexcept;
  bool shares_with(const PayloadBytes& other) const noexcept {
    return shared_ != nullptr && shared_ == other.shared_;
  }
  /// Returns the part of `size` bytes that begins at `offset`, with the same label.
  PayloadBytes part(std::size_t offset, std::size_t size) const;
  /// Appends `next` without a copy, if its bytes directly follow in the same shared bytes. Returns
  /// whether it has appended them.
  bool join(const PayloadBytes& next) noexcept;

  std::size_t label() const noexcept { return head_ >> size_bits; }
  void set_label(std::size_t label) noexcept { head_ = size() | label << size_bits; }

 private:
  struct Shared;  // reference count and release function
  static void drop(Shared* shared) noexcept;
  bool is_inline() const noexcept { return shared_ == nullptr; }
  /// Copies the inline bytes or the pointer from `other`. Copies all inline bytes if size() is
  /// above eight; otherwise copies exactly eight bytes. To copy exactly size() bytes would be
  /// slower.
  void take_bytes_kept_by(const PayloadBytes& other) noexcept {
    static_assert(sizeof bytes_ == sizeof(std::uint64_t));
    if (size() == 0 && shared_ == nullptr) return;
    std::memcpy(here_, other.here_, sizeof bytes_);
    if (shared_ == nullptr && size() > sizeof bytes_)
      std::memcpy(here_ + sizeof bytes_, other.here_ + sizeof bytes_, inline_max - sizeof bytes_);
  }

  static_assert(sizeof(std::size_t) == 8);
  static constexpr unsigned size_bits = 56;
  static constexpr std::size_t size_mask = (std::size_t{1} << size_bits) - 1;

  Shared* shared_ = nullptr;
  std::size_t head_ = 0;  // bits 0 to 55: size in bytes; 56 to 63: label
  union {
    std::byte* bytes_;  // address of the shared bytes
    alignas(8) std::byte here_[inline_max];
  };
};

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
  static constexpr std::size_t inline_bytes = PayloadBytes::inline_max;

  Payload() noexcept = default;

  static Payload copy_of(std::span<const std::byte> bytes);
  void be_copy_of(std::span<const std::byte> bytes) { stored_.be_copy_of(bytes); }
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
    Payload payload(PayloadBytes::uninitialised(size));
    fill(payload.stored_.writable());
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

  std::span<const std::byte> bytes() const noexcept { return {stored_.data(), size()}; }
  std::size_t size() const noexcept { return stored_.size(); }
  bool empty() const noexcept { return size() == 0; }

  /// The type of the values. It belongs to this Payload, not to the shared bytes.
  ValueType type() const noexcept { return static_cast<ValueType>(stored_.label() & type_mask); }
  /// Whether the values are partial: the result of a round that covers only some of the
  /// contributions. This mark belongs to this Payload, not to the shared bytes.
  bool is_partial() const noexcept { return (stored_.label() & partial_bit) != 0; }
  /// Whether the payload is complete (not partial), and its type is `wanted` or unknown.
  bool may_be(ValueType wanted) const noexcept {
    const std::size_t label = stored_.label();
    return label == static_cast<std::size_t>(wanted) ||
           label == static_cast<std::size_t>(ValueType::unknown);
  }
  void set_type(ValueType type, bool is_partial = false) noexcept {
    stored_.set_label(static_cast<std::size_t>(type) | (is_partial ? partial_bit : 0));
  }
  /// Returns the part of `size` bytes that begins at `offset`. The part shares the bytes.
  /// Requires: offset + size <= size().
  Payload part(std::size_t offset, std::size_t size) const {
    return Payload(stored_.part(offset, size));
  }
  /// Appends `next` without a copy, if its bytes directly follow those of this payload in the same
  /// shared bytes. Returns whether it has appended them.
  bool join(const Payload& next) noexcept { return stored_.join(next.stored_); }
  /// Whether this payload and `other` are copies or parts of the same shared bytes. Always false
  /// for inline bytes.
  bool shares_bytes_with(const Payload& other) const noexcept {
    return stored_.shares_with(other.stored_);
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
  explicit Payload(PayloadBytes&& stored) noexcept : stored_(std::move(stored)) {}
  template <class T>
  T read_at(std::size_t offset) const {
    if (size() < sizeof(T) || offset > size() - sizeof(T)) refuse_read(sizeof(T), offset);
    T value;
    std::memcpy(&value, stored_.data() + offset, sizeof value);
    return value;
  }
  void check_type(ValueType wanted, bool may_be_partial) const;
  [[noreturn]] void refuse_read(std::size_t bytes, std::size_t offset) const;

  // The label of the bytes. Bits 0 to 6: ValueType; 7: is partial.
  static constexpr std::size_t type_mask = 0x7f, partial_bit = 0x80;
  PayloadBytes stored_;
};

}  // namespace base
