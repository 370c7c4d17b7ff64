// SPDX-License-Identifier: Apache-2.0
// paths/wire/short_frame.hpp — what is new in a call that is made again and again.
#pragma once
#include <cstdint>

#include "base/payload.hpp"
#include "paths/operation.hpp"

namespace paths {

/// Of a standing call: the moves of one path at one slot of one stage on another host, one under
/// way at a time. Its first request is a frame like any, and is judged as one; what that said of
/// stage, path and slot is not said again. Neither are run, host and credits, of which it uses
/// none.
///
/// Why:  between processes of a machine a small move and its answer take as long as what is done
///       with their headers.
/// Form: small tuples only, whole, no failures; what is otherwise travels in a frame.
struct ShortFrame {
  static constexpr std::size_t payload_bytes_max = base::Payload::inline_bytes;

  bool is_reply = false;
  std::uint32_t standing = 0;  ///< number of the standing call on its connection
  std::uint32_t thread = 0;    ///< of a request, of its path
  Result result;               ///< of a request but its sequence, contributions and payload
};

/// A frame of a standing call has this for its `call`, and frames of no other.
inline constexpr std::uint64_t standing_mark = std::uint64_t{1} << 63;
inline constexpr std::uint32_t standing_max = 8;  ///< of a connection; others are never short
constexpr std::uint64_t call_of_standing(std::uint32_t standing) {
  return standing_mark | standing;
}
constexpr bool is_of_standing(std::uint64_t call) { return (call & standing_mark) != 0; }
/// Of such a frame; may be any number.
constexpr std::uint64_t standing_of_call(std::uint64_t call) { return call & ~standing_mark; }

}  // namespace paths
