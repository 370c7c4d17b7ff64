// SPDX-License-Identifier: Apache-2.0
// eventspace/transfer_record.hpp — what crossed from one cluster to another, as a record of a
// trace.
#pragma once
#include <cstdint>

#include "eventspace/record.hpp"

namespace eventspace {

/// What lanes sent over an emulated link between clusters: where the link has streams a frame, as
/// long as it had one; else a message, from when the link began to take it until all had arrived.
struct Transfer {
  std::uint32_t from_host = 0;  ///< where the message began; 24 bits
  std::uint32_t to_host = 0;    ///< where it is to end; 24 bits
  std::uint64_t bytes = 0;      ///< 40 bits
  bool has_stream = false;
  bool ends_message = true;  ///< nothing more of it is to come
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  std::int64_t arrived_nanos =
      0;  ///< when all of it was at the link's far end: not before it began
};

EventRecord record_of(const Transfer& transfer);
Transfer transfer_of(const EventRecord& record);
inline bool is_transfer(const EventRecord& record) {
  return record.kind == static_cast<std::uint64_t>(EventKind::transfer);
}

}  // namespace eventspace
