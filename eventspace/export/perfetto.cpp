// SPDX-License-Identifier: Apache-2.0
// eventspace/export/perfetto.cpp — encoder of Perfetto packets, as in perfetto_trace.proto.
#include "eventspace/export/perfetto.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "eventspace/export/export_file.hpp"
#include "eventspace/export/intervals.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

/// A message in protobuf's wire format. It is a sequence of fields. In each field, number and type
/// precede the value.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& fixed(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view text) {
    varint(field << 3 | 2);
    varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& one) { return text(field, one.bytes_); }
  std::string_view bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

namespace trace {
constexpr std::uint32_t packet = 1;
}
namespace packet {
constexpr std::uint32_t timestamp = 8, sequence = 10, event = 11, interned = 12, flags = 13,
                        defaults = 59, descriptor = 60, is_first = 87;
constexpr std::uint64_t state_begins = 1, state_needed = 2;
constexpr std::uint32_t default_event = 11;  // field with the default values of a sequence's events
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5;
constexpr std::uint32_t pid = 1, tid = 2, thread_name = 5, process_name = 6;
}  // namespace descriptor
namespace event {
constexpr std::uint32_t category = 3, annotation = 4, type = 9, name = 10, track = 11, flow = 47,
                        last_of_flow = 48;
constexpr std::uint64_t slice_begin = 1, slice_end = 2;
constexpr std::uint32_t annotation_name = 1, annotation_number = 3, annotation_text = 6;
}  // namespace event
namespace interned {
constexpr std::uint32_t categories = 1, names = 2, annotations = 3;
constexpr std::uint32_t id = 1, name = 2;
}  // namespace interned

enum Annotation : std::uint64_t { round_of = 1, operation_of, bytes_of, flags_of };

Message interned_name(std::uint64_t id, std::string_view name) {
  return Message().number(interned::id, id).text(interned::name, name);
}

/// Writes the packets. Each row of a track is a packet sequence of its own. The packets of a
/// sequence are therefore in the order of time, and each name is written only once in the sequence.
class Packets : public IntervalVisitor {
 public:
  Packets(const Intervals& intervals, const Structure& structure, ExportFile& out)
      : tracks_(intervals.tracks()),
        structure_(structure),
        intervals_(intervals),
        out_(out),
        next_uuid_(1 + static_cast<std::uint32_t>(structure.hosts.size())) {
    for (std::uint32_t host = 0; host < structure.hosts.size(); ++host) add_host(host);
    for (const Label& label : tracks_.labels())
      categories_.push_back(
          category_ids_.try_emplace(label.kind, category_ids_.size() + 1).first->second);
  }

  void enter(std::uint32_t track, std::uint32_t number, const Interval& interval) override {
    Row& row = row_of(track, number);
    const EventRecord& record = interval.record;
    Message slice;
    slice.number(event::type, event::slice_begin)
        .number(event::name, 1 + interval.label)
        .number(event::category, categories_[interval.label]);
    if (interval.label != Tracks::thread_label && interval.label != Tracks::computation_label)
      annotate(slice, record);
    if (tracks_.crossing_out(interval.probe) != nullptr)
      slice.fixed(event::flow, flow_of(tracks_.probe_below(interval.probe), record));
    if (tracks_.crossing_in(interval.probe) != nullptr)
      slice.fixed(event::last_of_flow, flow_of(interval.probe, record));
    Message packet = at(interval.begin_nanos, row, slice);
    if (row.told.insert(interval.label).second) packet.message(packet::interned, names(interval));
    put(packet);
  }

  void leave(std::uint32_t track, std::uint32_t number, const Interval& interval) override {
    Message slice;
    slice.number(event::type, event::slice_end);
    put(at(interval.end_nanos, row_of(track, number), slice));
  }

  void end_track(std::uint32_t) override { rows_.clear(); }

 private:
  struct Row {
    std::uint32_t uuid = 0;  // identifier of the row and of its packet sequence
    std::set<std::uint32_t> told;
  };

  // Each process and each thread must have a number of its own. The number 0 is not used, because
  // it belongs to the system.
  static std::uint64_t pid_of(std::uint32_t host) { return 1 + host; }
  std::uint64_t tid_of(std::uint32_t thread) const { return 1 + structure_.hosts.size() + thread; }
  static std::uint64_t uuid_of_host(std::uint32_t host) { return 1 + host; }

  void add_host(std::uint32_t host) {
    const Structure::Host& one = structure_.hosts[host];
    const std::string name = fmt::format("{}/{}", structure_.clusters[one.cluster], one.name);
    put(Message().message(
        packet::descriptor,
        Message()
            .number(descriptor::uuid, uuid_of_host(host))
            .message(descriptor::process, Message()
                                              .number(descriptor::pid, pid_of(host))
                                              .text(descriptor::process_name, name))));
  }

  Row& row_of(std::uint32_t track, std::uint32_t number) {
    while (rows_.size() <= number) {
      rows_.push_back({next_uuid_++, {}});
      add_row(tracks_.all()[track], rows_.back());
    }
    return rows_[number];
  }

  /// Adds a row to `track`, which is a thread, a link or another line of the timeline. A track has
  /// several rows if its intervals overlap without nesting. For Perfetto, each row is a track of
  /// its own. Perfetto shows tracks with the same name together, so all rows get the name of
  /// `track`.
  void add_row(const Track& track, const Row& row) {
    Message described;
    described.number(descriptor::uuid, row.uuid)
        .number(descriptor::parent, uuid_of_host(track.host));
    if (track.thread == none || rows_.size() > 1)
      described.text(descriptor::name, track.name);
    else
      described.message(descriptor::thread, Message()
                                                .number(descriptor::pid, pid_of(track.host))
                                                .number(descriptor::tid, tid_of(track.thread))
                                                .text(descriptor::thread_name, track.name));
    put(Message()
            .number(packet::sequence, row.uuid)
            .number(packet::is_first, 1)
            .number(packet::flags, packet::state_begins | packet::state_needed)
            .message(packet::defaults, Message().message(packet::default_event,
                                                         Message().number(event::track, row.uuid)))
            .message(packet::interned, annotation_names())
            .message(packet::descriptor, described));
  }

  static Message annotation_names() {
    return Message()
        .message(interned::annotations, interned_name(round_of, "round"))
        .message(interned::annotations, interned_name(operation_of, "operation"))
        .message(interned::annotations, interned_name(bytes_of, "bytes"))
        .message(interned::annotations, interned_name(flags_of, "flags"));
  }

  Message names(const Interval& interval) const {
    const Label& label = tracks_.labels()[interval.label];
    return Message()
        .message(interned::names, interned_name(1 + interval.label, label.name))
        .message(interned::categories, interned_name(categories_[interval.label], label.kind));
  }

  void annotate(Message& slice, const EventRecord& record) const {
    const auto number = [&](Annotation name, std::uint64_t value) {
      slice.message(
          event::annotation,
          Message().number(event::annotation_name, name).number(event::annotation_number, value));
    };
    const auto words = [&](Annotation name, std::string_view text) {
      slice.message(
          event::annotation,
          Message().number(event::annotation_name, name).text(event::annotation_text, text));
    };
    if (is(record, GroupEvent::step)) {
      const GroupStep step = step_of(record);
      words(operation_of, fmt::format("step {} to or from {}", step.number, host_name(step.peer)));
      return number(bytes_of, step.bytes);
    }
    if (is(record, GroupEvent::member)) return number(bytes_of, member_of(record).bytes);
    if (is(record, GroupEvent::share)) return number(round_of, share_of(record).operation);
    if (is_transfer(record)) {
      const Transfer transfer = transfer_of(record);
      words(operation_of,
            fmt::format("{} to {}", host_name(transfer.from_host), host_name(transfer.to_host)));
      return number(bytes_of, transfer.bytes);
    }
    number(round_of, record.sequence);
    if (is_operation(record)) words(operation_of, name_of_operation(record));
    number(bytes_of, record.bytes);
    if (record.flags != 0) words(flags_of, names_of_flags(record));
  }

  std::string host_name(std::uint32_t host) const {
    return host < structure_.hosts.size() ? structure_.hosts[host].name : "unknown";
  }

  /// Returns the flow identifier of an operation that arrives from another host at the Probe
  /// `probe`.
  static std::uint64_t flow_of(std::uint32_t probe, const EventRecord& record) {
    constexpr int sequence_bits = 36;
    const std::uint64_t sequence = record.sequence;
    return (std::uint64_t{probe} + 1) << sequence_bits |
           (sequence & ((std::uint64_t{1} << sequence_bits) - 1));
  }

  Message at(std::int64_t nanos, const Row& row, const Message& slice) const {
    Message packet;
    packet.number(packet::timestamp, intervals_.unsigned_time(nanos))
        .number(packet::sequence, row.uuid)
        .number(packet::flags, packet::state_needed)
        .message(packet::event, slice);
    return packet;
  }

  void put(const Message& packet) {
    out_.text() += Message().message(trace::packet, packet).bytes();
    out_.write_when_much();
  }

  const Tracks& tracks_;
  const Structure& structure_;
  const Intervals& intervals_;
  ExportFile& out_;
  std::uint32_t next_uuid_;
  std::unordered_map<std::string, std::uint64_t> category_ids_;
  std::vector<std::uint64_t> categories_;  // identifier of each label's category
  std::vector<Row> rows_;                  // rows of the current track
};

}  // namespace

Exported export_perfetto(const TraceDirectory& trace, const std::filesystem::path& file,
                         const HostClocks& clocks) {
  Intervals intervals(trace, clocks, file);
  ExportFile out(file);
  Packets packets(intervals, trace.structure, out);
  intervals.visit(packets);
  out.finish();
  return intervals.exported();
}

}  // namespace eventspace
