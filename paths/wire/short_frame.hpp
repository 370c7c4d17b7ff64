// SPDX-License-Identifier: Apache-2.0
// paths/wire/short_frame.hpp — short frames of standing calls, which repeat the same request
#pragma once
#include <cstdint>

#include "base/payload.hpp"
#include "paths/operation.hpp"

namespace paths {

/// Request or reply of a *standing call*: a request that a host repeats with the same path, slot
/// and stage on another host. A short frame has only the fields that change from one request to the
/// next. Only one request of a standing call is under way at a time.
///
/// The first request of a standing call is a normal frame. It fixes stage, path and slot, and is
/// checked like any request. A short frame also has no run, host and credits, because standing
/// calls do not use them.
///
/// Why:      between processes of one machine, a frame header costs as much time as a small request
///           and its reply.
/// Requires: the tuple is small and whole, and there is no failure. Otherwise a Frame is sent.
struct ShortFrame {
  static constexpr std::size_t payload_bytes_max = base::Payload::inline_bytes;

  bool is_reply = false;
  std::uint32_t standing = 0;  ///< number of the standing call; unique on its connection
  std::uint32_t thread = 0;    ///< Operation::thread of a request; 0 in a reply
  /// In a reply: the result. In a request, only the members sequence, contributions, payload and
  /// number are used. `number` is then the duration until the deadline (Frame::time_left) in
  /// nanoseconds.
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
/// Returns the number of the standing call in a value of Frame::call. No standing call may have
/// this number.
constexpr std::uint64_t standing_of_call(std::uint64_t call) { return call & ~standing_mark; }

}  // namespace paths
