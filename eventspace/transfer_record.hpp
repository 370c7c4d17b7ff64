// SPDX-License-Identifier: Apache-2.0
// eventspace/transfer_record.hpp — record of data that crossed from one cluster to another.
#pragma once
#include <cstdint>

#include "eventspace/record.hpp"

namespace eventspace {

/// Data that lanes sent over an emulated link between clusters. If the link has streams, the data
/// are one frame. Begin and end are then the times between which the frame occupied a stream.
/// Otherwise the data are one message. The begin is then the time at which the link starts to
/// accept the message, and the end is the time at which all of it has arrived.
struct Transfer {
  std::uint32_t from_host = 0;  ///< host where the message begins; 24 bits
  std::uint32_t to_host = 0;    ///< host where the message ends; 24 bits
  std::uint64_t bytes = 0;      ///< number of bytes; 40 bits
  bool has_stream = false;
  bool ends_message = true;  ///< whether these are the last data of their message
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  /// Time at which all data had reached the far end of the link; not before begin_nanos.
  std::int64_t arrived_nanos = 0;
};

EventRecord record_of(const Transfer& transfer);
Transfer transfer_of(const EventRecord& record);
inline bool is_transfer(const EventRecord& record) { return is(record, EventKind::transfer); }

}  // namespace eventspace
