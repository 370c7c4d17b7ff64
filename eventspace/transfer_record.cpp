// SPDX-License-Identifier: Apache-2.0
// eventspace/transfer_record.cpp — conversion between transfers and records.
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

constexpr std::uint32_t transfer_host_bits = 24, transfer_byte_bits = 24;
constexpr std::uint32_t transfer_host_most = (1u << transfer_host_bits) - 1;
constexpr std::uint8_t transfer_has_stream = 1;
constexpr std::uint8_t transfer_ends_message = 2;

}  // namespace

EventRecord record_of(const Transfer& transfer) {
  const auto bytes = [&](std::uint32_t from) {
    return static_cast<std::uint32_t>(transfer.bytes >> from);
  };
  EventRecord record;
  record.place = transfer.from_host | bytes(transfer_byte_bits) << transfer_host_bits;
  record.slot = transfer.to_host | bytes(transfer_byte_bits + 8) << transfer_host_bits;
  record.sequence = static_cast<std::uint64_t>(transfer.arrived_nanos - transfer.begin_nanos);
  record.kind = static_cast<std::uint64_t>(EventKind::transfer);
  record.down_nanos = transfer.begin_nanos;
  record.up_nanos = transfer.end_nanos;
  record.bytes = bytes(0) & event_bytes_max;
  record.flags = static_cast<std::uint8_t>((transfer.has_stream ? transfer_has_stream : 0) |
                                           (transfer.ends_message ? transfer_ends_message : 0));
  return record;
}

Transfer transfer_of(const EventRecord& record) {
  const std::uint64_t high = record.slot >> transfer_host_bits;
  const std::uint64_t middle = record.place >> transfer_host_bits;
  return {record.place & transfer_host_most,
          record.slot & transfer_host_most,
          (high << 8 | middle) << transfer_byte_bits | record.bytes,
          (record.flags & transfer_has_stream) != 0,
          (record.flags & transfer_ends_message) != 0,
          record.down_nanos,
          record.up_nanos,
          record.down_nanos + static_cast<std::int64_t>(std::uint64_t{record.sequence})};
}

}  // namespace eventspace
