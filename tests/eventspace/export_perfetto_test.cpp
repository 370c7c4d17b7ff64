// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_perfetto_test.cpp — exported Perfetto files, read back with the field
// numbers of Perfetto's public definition.
#include <catch2/catch.hpp>
#include <optional>
#include <regex>
#include <stdexcept>

#include "eventspace/export/perfetto.hpp"
#include "tests/eventspace/export_sample.hpp"
#include "tests/support/skip.hpp"

namespace {

using namespace eventspace;
using namespace export_sample;
using trace_sample::Folder;

/// The fields of a message in the wire format of protobuf, keyed by field number.
class Fields {
 public:
  explicit Fields(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t tag = varint(bytes);
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      switch (tag & 7) {
        case 0: numbers_.emplace(field, varint(bytes)); break;
        case 1: numbers_.emplace(field, fixed(bytes)); break;
        case 2: texts_.emplace(field, taken(bytes, varint(bytes))); break;
        default: throw std::runtime_error("a form that is not used");
      }
    }
  }
  std::optional<std::uint64_t> number(std::uint32_t field) const {
    const auto found = numbers_.find(field);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string_view> texts(std::uint32_t field) const {
    std::vector<std::string_view> all;
    for (auto [at, end] = texts_.equal_range(field); at != end; ++at) all.push_back(at->second);
    return all;
  }
  Fields message(std::uint32_t field) const { return Fields(text(field)); }
  std::string_view text(std::uint32_t field) const {
    const auto found = texts_.find(field);
    return found == texts_.end() ? std::string_view() : found->second;
  }
  bool has(std::uint32_t field) const { return texts_.count(field) > 0; }

 private:
  static std::string_view taken(std::string_view& bytes, std::uint64_t count) {
    if (count > bytes.size()) throw std::runtime_error("cut off");
    const std::string_view first = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return first;
  }
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(taken(bytes, 1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number that does not end");
  }
  static std::uint64_t fixed(std::string_view& bytes) {
    std::uint64_t value = 0;
    const std::string_view eight = taken(bytes, 8);
    for (int byte = 7; byte >= 0; --byte)
      value = value << 8 | static_cast<std::uint8_t>(eight[static_cast<std::size_t>(byte)]);
    return value;
  }
  std::multimap<std::uint32_t, std::uint64_t> numbers_;
  std::multimap<std::uint32_t, std::string_view> texts_;
};

struct Read {
  std::map<std::uint64_t, std::string> processes;  // names, keyed by process number (pid)
  std::map<std::uint64_t, std::string> threads;    // names, keyed by thread number (tid)
  std::map<std::string, int> slices;               // number of slices, keyed by "track: a / b"
  // Number of begun flows minus number of ended flows, keyed by the id of the flow.
  std::map<std::uint64_t, int> flows;
  std::size_t flow_ends = 0;
  bool is_nested = true, is_in_order = true, is_notified = true;
};

/// State of one sequence of packets in the file. Each track has its own sequence.
struct Sequence {
  std::string track;
  std::uint64_t uuid = 0;
  std::uint64_t at = 0;
  std::map<std::uint64_t, std::string> names;
  std::vector<std::string> open;
};

void describe(const Fields& descriptor, Read& read, Sequence& sequence) {
  const Fields process = descriptor.message(3), thread = descriptor.message(4);
  if (process.number(1)) read.processes[*process.number(1)] = process.text(6);
  if (thread.number(2)) read.threads[*thread.number(2)] = thread.text(5);
  sequence.track = thread.number(2) ? thread.text(5) : descriptor.text(2);
  sequence.uuid = descriptor.number(1).value();
}

void add_slice(const Fields& event, Read& read, Sequence& sequence) {
  if (event.number(9) == 2u) {
    read.is_nested = read.is_nested && !sequence.open.empty();
    if (!sequence.open.empty()) sequence.open.pop_back();
    return;
  }
  const auto name = sequence.names.find(event.number(10).value());
  read.is_notified = read.is_notified && name != sequence.names.end();
  if (name == sequence.names.end()) return;
  sequence.open.push_back(name->second);
  ++read.slices[fmt::format("{}: {}", sequence.track, fmt::join(sequence.open, " / "))];
  if (event.number(47)) ++read.flows[*event.number(47)];
  if (event.number(48)) --read.flows[*event.number(48)], ++read.flow_ends;
}

Read read(const std::string& bytes) {
  Read read;
  std::map<std::uint64_t, Sequence> sequences;
  for (const std::string_view one : Fields(bytes).texts(1)) {
    const Fields packet(one);
    Sequence& sequence = sequences[packet.number(10).value_or(0)];
    if (packet.has(60)) describe(packet.message(60), read, sequence);
    if (packet.has(59))
      read.is_notified =
          read.is_notified && packet.message(59).message(11).number(11) == sequence.uuid;
    for (const std::string_view name : packet.message(12).texts(2))
      sequence.names[Fields(name).number(1).value()] = Fields(name).text(2);
    if (!packet.has(11)) continue;
    const std::uint64_t time = packet.number(8).value();
    read.is_in_order = read.is_in_order && sequence.at <= time;
    sequence.at = time;
    add_slice(packet.message(11), read, sequence);
  }
  for (const auto& [number, sequence] : sequences)
    read.is_nested = read.is_nested && sequence.open.empty();
  return read;
}

}  // namespace

TEST_CASE(
    "perfetto: hosts are processes and threads are threads and slices nest in order of time") {
  const Folder folder;
  write_run(folder.path() / "run", 10);
  const TraceDirectory trace(folder.path() / "run");
  export_perfetto(trace, folder.path() / "trace", one_clock(trace));
  const Read seen = read(trace_sample::bytes_of(folder.path() / "trace"));
  CHECK(seen.is_nested);
  CHECK(seen.is_in_order);
  CHECK(seen.is_notified);
  CHECK(seen.processes.size() == 6);
  CHECK(seen.processes.at(1) == "alpha/alpha-0");
  CHECK(seen.threads.size() == 8);
  CHECK(seen.slices.at("beta-1/0: thread") == 1);
  CHECK(seen.slices.at("beta-1/0: thread / computation") == 10);
  CHECK(seen.slices.at("beta-1/0: thread / sum / sum.join.beta-1") == 10);
  CHECK(seen.slices.at("sum.join.beta-1: forward to beta-0") == 10);
  CHECK(seen.slices.at("sum.join: store") == 10);
  // Operations cross to another host four times in each round. Each crossing is a flow from the
  // slice of the sender to the slice of the receiver.
  CHECK(seen.flow_ends == 4 * 10);
  CHECK(seen.flows.size() == 4 * 10);
  for (const auto& [flow, open] : seen.flows) CHECK(open == 0);
}

TEST_CASE("perfetto: overlapping messages on a link have rows of the same name") {
  const Folder folder;
  sample::Run run({});
  std::uint32_t link = 0;
  while (run.structure.wrapper_of(link).kind != "emulate_link") ++link;
  {
    Writing writing(folder.path() / "run", run.structure);
    for (std::int64_t message = 0; message < 3; ++message) {
      EventRecord record;
      record.kind = static_cast<std::uint64_t>(EventKind::link);
      record.place = link;
      record.down_nanos = 10 * message - 5;  // the first message begins before time 0
      record.up_nanos = record.down_nanos + 25;
      writing.add(run.structure.host_of(link), record);
    }
  }
  const TraceDirectory trace(folder.path() / "run");
  export_perfetto(trace, folder.path() / "trace", own_clocks(trace));
  const Read seen = read(trace_sample::bytes_of(folder.path() / "trace"));
  CHECK(seen.is_nested);
  const std::string name = run.structure.wrapper_of(link).name;
  CHECK(seen.slices == std::map<std::string, int>{{name + ": " + name, 3}});
}

TEST_CASE("perfetto: protoc finds no field that the definition lacks") {
  const Folder folder;
  write_run(folder.path() / "run", 2);
  const TraceDirectory trace(folder.path() / "run");
  export_perfetto(trace, folder.path() / "trace", own_clocks(trace));
  const std::string text =
      output_of("protoc", fmt::format("--decode=perfetto.protos.Trace -I{0}/eventspace "
                                      "{0}/eventspace/export/perfetto_trace.proto < {1}",
                                      PATHS_SOURCE_DIR, (folder.path() / "trace").string()));
  if (text.empty()) return test_support::skip("perfetto (protoc)");
  CHECK_THAT(text, Catch::StartsWith("packet {"));
  CHECK_THAT(text, Catch::Contains("thread_name: \"beta-1/0\""));
  CHECK_FALSE(std::regex_search(text, std::regex("\n *\\d+[:{ ]")));  // no field without a name
}
