// SPDX-License-Identifier: Apache-2.0
// base/buffer.hpp — bytes that one owner writes, until they are frozen into a payload.
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

/// The memory of a value in the making: what is combined into, what is received into, an array of
/// the application's. Freezing it copies nothing, so that the same bytes are written, moved into an
/// element and sent to other hosts.
///
/// Why:     a payload is shared and so never written. Who wrote its value elsewhere before would
///          pass over the bytes once more, and for large values that is most of the work.
/// Owns:    its bytes, until they are frozen or the release that came with them has run. Memory of
///          a megabyte and more is kept for the next one (base/large_memory.hpp).
/// Sharing: one context's at a time.
class Buffer {
 public:
  Buffer() noexcept = default;
  /// Of so many bytes, whose values are not defined.
  explicit Buffer(std::size_t bytes) : payload_(Payload::uninitialised(bytes)) {}
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;

  /// Bytes of somebody else's, which are not his again until `release` has run: when the buffer, or
  /// the last payload that it was frozen into, goes, on whichever thread drops it.
  static Buffer adopt(std::span<std::byte> bytes, std::function<void()> release);
  /// The same of bytes that others may see once they are frozen: thawing those copies them.
  static Buffer adopt_shared(std::span<std::byte> bytes, std::function<void()> release);
  /// An array whose owner gives it away.
  template <class T>
  static Buffer of(std::vector<T>&& values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    const auto held = std::make_shared<std::vector<T>>(std::move(values));
    Buffer buffer = adopt(std::as_writable_bytes(std::span(*held)), [held] {});
    buffer.payload_.set_type(value_type_of<T>());
    return buffer;
  }
  /// A value to be written on: where nobody shares its bytes and they are no foreign memory that
  /// was only lent for reading, those; else a copy.
  static Buffer thaw(Payload payload);

  /// To be read and written until the buffer is moved from or frozen.
  std::span<std::byte> bytes() noexcept { return payload_.writable(); }
  std::span<const std::byte> bytes() const noexcept { return payload_.bytes(); }
  std::size_t size() const noexcept { return payload_.size(); }
  bool empty() const noexcept { return payload_.empty(); }
  /// The same as values; the payload gets their type, or none after a view as another one. Throws
  /// UsageError when they are not a whole number of them, or do not begin where a T may.
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

  /// The value, never to be written again; the buffer is empty then.
  Payload freeze() && noexcept { return std::move(payload_); }

 private:
  [[noreturn]] void refuse_view(std::size_t bytes, std::size_t alignment) const;
  Payload payload_;  // which nobody shares
};

}  // namespace base
