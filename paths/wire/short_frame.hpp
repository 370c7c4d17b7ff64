// SPDX-License-Identifier: Apache-2.0
// paths/wire/short_frame.hpp — short frames of standing calls, which repeat the same request
#pragma once
#include <cstdint>

#include "base/payload.hpp"
#include "paths/operation.hpp"

namespace paths {

/// Frame with only those fields that change from one request or reply of a standing call to the
/// next. A *standing call* is a request that a thread repeats with the same path, slot and stage on
/// another host. Only one of its requests is under way at a time.
///
/// The first request of a standing call is a normal frame. It is checked as usual, and it fixes
/// stage, path and slot. A short frame also lacks run, host and credits, because standing calls do
/// not use them.
///
/// Why:      Between processes of one machine, a frame header costs as much time as a small request
///           and its reply.
/// Requires: the tuple is small and whole, and there is no failure. Otherwise a Frame is sent.
struct ShortFrame {
  static constexpr std::size_t payload_bytes_max = base::Payload::inline_bytes;

  bool is_reply = false;
  std::uint32_t standing = 0;  ///< number of the standing call; unique on its connection
  std::uint32_t thread = 0;    ///< as Operation::thread; set in requests only
  /// In a reply: the result. In a request, only these members are used: sequence, contributions,
  /// payload, and `number` for the duration until the deadline (Frame::time_left) in nanoseconds.
  Result result;
};

/// Bit that is set in `Frame::call` if the frame belongs to a standing call.
inline constexpr std::uint64_t standing_mark = std::uint64_t{1} << 63;
/// Maximum number of standing calls per connection; further calls use normal frames.
inline constexpr std::uint32_t standing_max = 8;
constexpr std::uint64_t call_of_standing(std::uint32_t standing) {
  return standing_mark | standing;
}
constexpr bool is_of_standing(std::uint64_t call) { return (call & standing_mark) != 0; }
/// Returns the number of the standing call in `Frame::call`. The number may be invalid.
constexpr std::uint64_t standing_of_call(std::uint64_t call) { return call & ~standing_mark; }

}  // namespace paths
