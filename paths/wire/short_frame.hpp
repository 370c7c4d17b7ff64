// SPDX-License-Identifier: Apache-2.0
// paths/wire/short_frame.hpp — short frames: the changing part of a small call that is repeated
#pragma once
#include <cstdint>

#include "base/payload.hpp"
#include "paths/operation.hpp"

namespace paths {

/// Between processes of one machine, headers cost as much time as a small move and its reply. A
/// short frame carries only what changes in a standing call. A standing call is all moves of one
/// path at one slot of one stage on another host, one under way at a time. Its first request is a
/// normal frame, is validated as one, and fixes stage, path and slot. A short frame also omits run,
/// host and credits, which standing calls do not use.
///
/// Requires: the tuple is small and whole, and there is no failure. Otherwise a Frame is sent.
struct ShortFrame {
  static constexpr std::size_t payload_bytes_max = base::Payload::inline_bytes;

  bool is_reply = false;
  std::uint32_t standing = 0;  ///< number of the standing call on its connection
  std::uint32_t thread = 0;    ///< thread of the path (requests only)
  Result result;               ///< a request uses its sequence, contributions and payload only
};

/// Mark in the `call` of frames that belong to a standing call.
inline constexpr std::uint64_t standing_mark = std::uint64_t{1} << 63;
/// Limit of standing calls per connection; further calls use normal frames.
inline constexpr std::uint32_t standing_max = 8;
constexpr std::uint64_t call_of_standing(std::uint32_t standing) {
  return standing_mark | standing;
}
constexpr bool is_of_standing(std::uint64_t call) { return (call & standing_mark) != 0; }
/// Returns the number in such a call; it may be any number.
constexpr std::uint64_t standing_of_call(std::uint64_t call) { return call & ~standing_mark; }

}  // namespace paths
