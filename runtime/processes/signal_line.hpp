// SPDX-License-Identifier: Apache-2.0
// runtime/processes/signal_line.hpp — a line of text for signal handlers
#pragma once
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/runtime.hpp"

namespace runtime {

/// Builds a line of text without allocation; text beyond 512 bytes is cut off. Private to runtime/.
class SignalLine {
 public:
  SignalLine& add(std::string_view text) {
    const std::size_t size = std::min(text.size(), sizeof bytes_ - size_);
    std::copy_n(text.data(), size, bytes_ + size_);
    size_ += size;
    return *this;
  }
  SignalLine& add(std::uint64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return add(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  SignalLine& add(const ContextName& name) {
    add(name.role);
    return name.of.empty() ? *this : add(" ").add(name.of).add("/").add(name.number);
  }
  /// Adds the span in whole milliseconds.
  SignalLine& add(Nanos span) {
    return add(static_cast<std::uint64_t>(std::max<Nanos::rep>(0, span.count()) / 1'000'000))
        .add(" ms");
  }
  SignalLine& add_bytes(std::uint64_t bytes) {
    constexpr std::uint64_t kibi = 1024, mebi = kibi * kibi;
    if (bytes % mebi == 0) return add(bytes / mebi).add(" MiB");
    return bytes % kibi == 0 ? add(bytes / kibi).add(" KiB") : add(bytes).add(" bytes");
  }
  void write_to(int descriptor) const {
    [[maybe_unused]] const ssize_t written = write(descriptor, bytes_, size_);
  }

 private:
  char bytes_[512];
  std::size_t size_ = 0;
};

}  // namespace runtime
