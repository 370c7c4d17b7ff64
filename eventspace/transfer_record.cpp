// SPDX-License-Identifier: Apache-2.0
// eventspace/transfer_record.cpp — a transfer in the fields of a record.
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

constexpr std::uint8_t transfer_has_stream = 1;
constexpr std::uint8_t transfer_ends_message = 2;

}  // namespace

EventRecord record_of(const Transfer& transfer) {
  EventRecord record;
  record.place = transfer.from_host;
  record.slot = transfer.to_host;
  record.sequence = transfer.bytes;
  record.kind = static_cast<std::uint64_t>(EventKind::transfer);
  record.down_nanos = transfer.begin_nanos;
  record.up_nanos = transfer.end_nanos;
  record.bytes = capped_bytes(transfer.bytes);
  record.flags = static_cast<std::uint8_t>((transfer.has_stream ? transfer_has_stream : 0) |
                                           (transfer.ends_message ? transfer_ends_message : 0));
  return record;
}

Transfer transfer_of(const EventRecord& record) {
  return {record.place,
          record.slot,
          record.sequence,
          (record.flags & transfer_has_stream) != 0,
          (record.flags & transfer_ends_message) != 0,
          record.down_nanos,
          record.up_nanos};
}

}  // namespace eventspace
