// SPDX-License-Identifier: Apache-2.0
// base/buffer.hpp — writable bytes with one owner, which can be frozen into a payload
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/payload.hpp"

namespace base {

/// Memory for a value that is being written, such as a receive buffer or the result of a reduction.
/// freeze() turns it into a payload without a copy. The same bytes are then stored in an element or
/// sent to other hosts.
///
/// Why: a payload is shared and therefore immutable. Without a Buffer, a value would be written
///   elsewhere and then copied into a payload. For large values that copy is most of the work.
/// Owns: its bytes, until freeze() gives them to a payload. Blocks of 64 KiB and more are kept
///   for reuse (base/large_memory.hpp).
/// Thread-safe: no, one OS thread or fiber at a time.
class Buffer {
 public:
  Buffer() noexcept = default;
  /// Allocates `bytes` bytes with undefined values.
  explicit Buffer(std::size_t bytes) : payload_(PayloadBytes::uninitialised(bytes)) {}
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;

  /// Returns a buffer whose bytes belong to another owner. The buffer, or the last payload frozen
  /// from it, calls `release` when it is destroyed. From then on the owner may use the bytes again.
  /// `release` runs on the thread that destroys the buffer or payload.
  static Buffer adopt(std::span<std::byte> bytes, std::function<void()> release);
  /// Like adopt(), but the owner may read the bytes at any time after freeze(). If thaw() gets such
  /// a payload, it therefore copies the bytes instead of making them writable again.
  static Buffer adopt_shared(std::span<std::byte> bytes, std::function<void()> release);
  /// Returns a buffer that takes over the array without a copy.
  template <class T>
  static Buffer of(std::vector<T>&& values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    const auto held = std::make_shared<std::vector<T>>(std::move(values));
    Buffer buffer = adopt(std::as_writable_bytes(std::span(*held)), [held] {});
    buffer.payload_.set_type(value_type_of<T>());
    return buffer;
  }
  /// Returns a buffer with the bytes of `payload`. Copies the bytes only if other payloads share
  /// them, or if they are read-only, such as bytes of adopt_shared().
  static Buffer thaw(Payload payload);

  /// Returns the bytes for reading and writing. The span is valid until the buffer is moved from or
  /// frozen.
  std::span<std::byte> bytes() noexcept { return payload_.stored_.writable(); }
  std::span<const std::byte> bytes() const noexcept { return payload_.bytes(); }
  std::size_t size() const noexcept { return payload_.size(); }
  bool empty() const noexcept { return payload_.empty(); }
  /// Returns the bytes as values of type T, and sets the type of the payload: T, or `unknown` if
  /// the payload already has another type. Throws UsageError if the size or the alignment does not
  /// fit T.
  template <class T>
  std::span<T> as() {
    static_assert(std::is_trivially_copyable_v<T>);
    const bool is_other = !payload_.may_be(value_type_of<T>());
    payload_.set_type(is_other ? ValueType::unknown : value_type_of<T>());
    const std::span<std::byte> all = bytes();
    if (all.size() % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(all.data()) % alignof(T))
      refuse_view(sizeof(T), alignof(T));
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }

  /// Returns the value as an immutable payload. The buffer is empty afterwards.
  Payload freeze() && noexcept { return std::move(payload_); }

 private:
  [[noreturn]] void refuse_view(std::size_t bytes, std::size_t alignment) const;
  Payload payload_;  // payload whose bytes no other payload shares
};

}  // namespace base
