// SPDX-License-Identifier: Apache-2.0
// base/buffer.cpp — adoption and thawing of buffers, and errors of typed views
#include "base/buffer.hpp"

#include <fmt/format.h>

#include "base/usage_error.hpp"

namespace base {

Buffer Buffer::adopt(std::span<std::byte> bytes, std::function<void()> release) {
  Buffer buffer;
  buffer.payload_ = Payload(PayloadBytes::adopt(bytes, true, std::move(release)));
  return buffer;
}

Buffer Buffer::adopt_shared(std::span<std::byte> bytes, std::function<void()> release) {
  Buffer buffer;
  buffer.payload_ = Payload::adopt(bytes, std::move(release));
  return buffer;
}

Buffer Buffer::thaw(Payload payload) {
  Buffer buffer;
  const ValueType type = payload.type();
  buffer.payload_ =
      payload.stored_.may_be_written() ? std::move(payload) : Payload::copy_of(payload.bytes());
  buffer.payload_.set_type(type);
  return buffer;
}

void Buffer::refuse_view(std::size_t bytes, std::size_t alignment) const {
  throw UsageError(
      fmt::format("a buffer of {} bytes at {} was taken for values of {} bytes aligned to {}",
                  size(), static_cast<const void*>(payload_.bytes().data()), bytes, alignment));
}

}  // namespace base
