// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/forged_trace.hpp — traces with any content but correct checksums, as a faulty or
// hostile program could write them.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eventspace/group_record.hpp"
#include "eventspace/transfer_record.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/export_sample.hpp"

namespace forged_trace {

namespace fs = std::filesystem;
using eventspace::ChunkHead;
using eventspace::EventKind;
using eventspace::EventRecord;
using eventspace::Structure;

struct Chunk {
  ChunkHead head{};
  std::string payload;

  std::size_t records() const {
    return head.is(eventspace::ChunkKind::records) ? payload.size() / sizeof(EventRecord) : 0;
  }
  EventRecord record(std::size_t place) const {
    EventRecord record;
    std::memcpy(static_cast<void*>(&record), payload.data() + place * sizeof(record),
                sizeof(record));
    return record;
  }
  void set(std::size_t place, const EventRecord& record) {
    std::memcpy(payload.data() + place * sizeof(record), &record, sizeof(record));
  }
};

/// A trace directory in memory. write() computes all checksums again.
struct Trace {
  struct File {
    std::string name;
    eventspace::TraceHeader header;
    std::vector<Chunk> chunks;
  };
  std::string structure;
  std::vector<File> files;
};

/// Reads a trace directory. Requires: PATHS or write() has written it.
inline Trace read(const fs::path& directory) {
  Trace trace;
  trace.structure = trace_sample::bytes_of(directory / eventspace::structure_file_name);
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == eventspace::trace_file_ending) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string bytes = trace_sample::bytes_of(path);
    Trace::File file{path.filename().string(), eventspace::TraceReader(path).header(), {}};
    std::size_t at = eventspace::trace_prefix_bytes +
                     eventspace::header_bytes_in(std::as_bytes(std::span(bytes))) +
                     eventspace::checksum_bytes;
    while (at + sizeof(ChunkHead) <= bytes.size()) {
      Chunk chunk;
      std::memcpy(&chunk.head, bytes.data() + at, sizeof(ChunkHead));
      at += sizeof(ChunkHead);
      chunk.payload = bytes.substr(at, chunk.head.payload_bytes);
      at += chunk.payload.size();
      file.chunks.push_back(std::move(chunk));
    }
    trace.files.push_back(std::move(file));
  }
  return trace;
}

inline void repair_checksums(Chunk& chunk) {
  chunk.head.payload_checksum = eventspace::checksum_of(std::as_bytes(std::span(chunk.payload)));
  chunk.head.head_checksum = eventspace::checksum_of(
      std::as_bytes(std::span(&chunk.head, 1)).first(offsetof(ChunkHead, head_checksum)));
}

inline void write(const fs::path& directory, const Trace& trace) {
  fs::remove_all(directory);
  fs::create_directories(directory);
  trace_sample::put(directory / eventspace::structure_file_name, trace.structure);
  for (const Trace::File& file : trace.files) {
    std::string bytes = encode_head(file.header);
    for (Chunk chunk : file.chunks) {
      repair_checksums(chunk);
      bytes.append(reinterpret_cast<const char*>(&chunk.head), sizeof(ChunkHead));
      bytes += chunk.payload;
    }
    trace_sample::put(directory / file.name, bytes);
  }
}

// Seeds ------------------------------------------------------------------------------------------

/// A run that has records of every kind. Its hosts have either one virtual clock, or steady clocks
/// whose offsets they measure.
class EveryKind {
 public:
  EveryKind(bool is_virtual, int rounds) : is_virtual_(is_virtual), rounds_(rounds) {
    eventspace::sample::Options options;
    options.hosts = 2;
    options.broadcast_delay = 2 * eventspace::sample::ms;
    run_.emplace(std::move(options));
    add_ways();
  }

  void write(const fs::path& directory) {
    export_sample::Writing writing(directory, run_->structure);
    const auto add = [&](std::uint32_t host, const EventRecord& record) {
      writing.add(host, record);
    };
    for (int round = 0; round < rounds_; ++round) {
      writing.add(run_->next_round());
      for (const Way& way : ways_) pass(way, static_cast<std::uint64_t>(round), add);
      add_group_operation(static_cast<std::uint32_t>(round), add);
      add_calls(static_cast<std::uint32_t>(round), add);
      if (!is_virtual_) add_clock_looks(round, add);
    }
    writing.add(run_->thread_records());
  }

 private:
  struct Stop {
    std::string kind;
    std::uint32_t host = 0;
    std::string settings = "";
    std::vector<std::uint32_t> combines = {};
  };
  using Way = std::vector<std::uint32_t>;  // indices of stages, from the start of a path to its end

  std::uint32_t near() const { return 0; }
  std::uint32_t far() const { return 3; }  // first host of the second cluster

  void add_way(const std::string& graph, std::uint32_t threads, const std::vector<Stop>& stops) {
    Structure& structure = run_->structure;
    std::uint32_t below = eventspace::no_stage;
    for (auto stop = stops.rbegin(); stop != stops.rend(); ++stop) {
      structure.wrappers.push_back(
          {"", stop->kind, stop->host, 1, stop->settings,
           "every.yaml:" + std::to_string(structure.wrappers.size()) + ":3", stop->combines});
      set_job_by_kind(structure.wrappers.back());
      if (stop->kind == "push") structure.wrappers.back().job = eventspace::Job::push;
      structure.stages.push_back(
          {static_cast<std::uint32_t>(structure.wrappers.size() - 1), below, 0, 0});
      below = static_cast<std::uint32_t>(structure.stages.size() - 1);
    }
    structure.paths.push_back({graph, stops.front().host, 0, threads, 0, below});
    Way way;
    for (std::uint32_t stage = below; stage != eventspace::no_stage;
         stage = structure.stages[stage].below)
      way.push_back(stage);
    ways_.push_back(std::move(way));
  }

  void add_ways() {
    const Stop collector{"event_collector", near()};
    const Stop far_collector{"event_collector", far()};
    add_way("decided", 1,
            {collector,
             {"periodic", near(), "every: 2"},
             collector,
             {"reduce", near()},
             collector,
             {"condition_check", near(), "combine: [own, theirs], rounds: 1", {0, 1}},
             {"store", near(), "element: own"}});
    add_way("decided", 0,
            {{"prefetch", near(), "into: theirs"},
             collector,
             {"forward", near(), "to: beta-0"},
             {"emulate_link", far(), "latency: 5ms"},
             far_collector,
             {"observe", far(), "element: sum"}});
    add_way("decided", 0,
            {{"push", far()},
             far_collector,
             {"emulate_link", far(), "latency: 5ms"},
             {"forward", far(), "to: alpha-0"},
             collector,
             {"store", near(), "element: theirs"}});
    run_->structure.streams = {{0, 1, 4}, {1, 0, 0}};
  }

  template <typename Add>
  void pass(const Way& way, std::uint64_t round, const Add& add) const {
    const Structure& structure = run_->structure;
    std::int64_t down = static_cast<std::int64_t>(round) * 40 * eventspace::sample::ms;
    std::int64_t up = down + 30 * eventspace::sample::ms;
    for (const std::uint32_t stage : way) {
      EventRecord record;
      record.place = stage;
      record.sequence = round;
      record.down_nanos = down += eventspace::sample::us;
      record.up_nanos = up -= eventspace::sample::us;
      record.bytes = 8;
      const auto kind = [&](EventKind one) { record.kind = static_cast<std::uint64_t>(one); };
      switch (structure.wrapper_of(stage).job) {
        case eventspace::Job::collector: record.kind = eventspace::move_operation; break;
        case eventspace::Job::check: kind(EventKind::cache_read); break;
        case eventspace::Job::prefetch: kind(EventKind::prefetch); break;
        case eventspace::Job::link: kind(EventKind::link); break;
        default: continue;
      }
      if (record.kind == static_cast<std::uint64_t>(EventKind::cache_read)) {
        record.slot = 1;
        record.flags = round % 3 == 0 ? eventspace::event_cached : 0;
      }
      add(structure.host_of(stage), record);
    }
  }

  /// Adds the records of a group's allreduce between two hosts, with one message in each direction.
  template <typename Add>
  void add_group_operation(std::uint32_t number, const Add& add) const {
    using namespace eventspace;
    const std::string text = text_of({"world", "allreduce", "tree:arity=2"});
    const std::int64_t begin = std::int64_t{number} * 40 * sample::ms;
    const std::array<std::uint32_t, 2> hosts = {near(), far()};
    for (std::uint32_t place = 0; place < hosts.size(); ++place) {
      const std::uint32_t host = hosts[place];
      const std::uint32_t other = hosts[1 - place];
      if (number == 0)
        for (const EventRecord& record : records_of(text, begin)) add(host, record);
      std::uint32_t step = 0;
      for (const GroupAction action :
           {GroupAction::copy, GroupAction::send, GroupAction::receive, GroupAction::fold}) {
        const bool is_message = action == GroupAction::send || action == GroupAction::receive;
        const std::int64_t at = begin + step * sample::ms;
        add(host, record_of(GroupStep{number, step, action, is_message ? other : host, 0, 4096, at,
                                      at + sample::ms}));
        ++step;
      }
      const std::uint32_t thread = run_->structure.hosts[host].first_thread;
      add(host, record_of(GroupMember{thread, text_number(text), number, 4096, begin,
                                      begin + 5 * sample::ms}));
      add(host, record_of(GroupShare{text_number(text), number, number, 2, false, begin,
                                     begin + 5 * sample::ms}));
      add(host, record_of(Transfer{host, other, 4096, true, true, begin + sample::ms,
                                   begin + 2 * sample::ms, begin + 3 * sample::ms}));
    }
  }

  /// Adds calls of a thread that starts every second operation of its path and of its group, and
  /// that marks iterations.
  template <typename Add>
  void add_calls(std::uint32_t number, const Add& add) const {
    using namespace eventspace;
    EventRecord call;
    call.place = run_->structure.hosts[near()].first_thread;
    call.down_nanos = call.up_nanos = std::int64_t{number} * 40 * sample::ms;
    for (const bool is_in_group : {false, true}) {
      call.slot = is_in_group ? number : 0;
      call.sequence = is_in_group ? 0 : number;
      call.flags = is_in_group ? event_in_group : 0;
      for (const EventKind kind : {EventKind::start, EventKind::wait}) {
        call.kind = static_cast<std::uint8_t>(kind);
        if (number % 2 == 0) add(near(), call);
        call.up_nanos += 30 * sample::ms;
      }
    }
    call.kind = static_cast<std::uint8_t>(EventKind::iteration);
    call.down_nanos = call.up_nanos;
    add(near(), call);
  }

  template <typename Add>
  void add_clock_looks(int round, const Add& add) const {
    const auto hosts = static_cast<std::uint32_t>(run_->structure.hosts.size());
    for (std::uint32_t host = 1; host < hosts; ++host) {
      EventRecord look;
      look.kind = static_cast<std::uint64_t>(EventKind::clock);
      look.place = host - 1;
      look.down_nanos = round * 40 * eventspace::sample::ms;
      look.up_nanos = look.down_nanos + 100 * eventspace::sample::us;
      look.sequence = static_cast<std::uint64_t>(look.down_nanos + 50 * eventspace::sample::us);
      add(host, look);
    }
  }

  const bool is_virtual_;
  const int rounds_;
  std::optional<eventspace::sample::Run> run_;
  std::vector<Way> ways_;
};

// Mutations --------------------------------------------------------------------------------------

/// Returns a number for a forged field: a small number, or a number near a power of two. Some large
/// numbers are valid as counts, because a structure may have millions of threads. The function does
/// not return such numbers, because they would only use up the memory of the test.
inline std::uint64_t number_to_try(runtime::Random& random) {
  const auto near = [&](std::uint64_t number) { return number + random.below(3) - 1; };
  switch (random.below(7)) {
    case 0: return random.below(4);
    case 1: return random.below(300);
    case 2: return near(std::uint64_t{1} << (26 + random.below(38)));
    case 3: return near(0xffffffff);
    case 4: return ~std::uint64_t{0} - random.below(4);
    case 5: return 0xffffffff;
    default: return random.next() | std::uint64_t{1} << 40;
  }
}

inline void set_field(EventRecord& record, std::uint64_t field, std::uint64_t value) {
  switch (field) {
    case 0: record.place = static_cast<std::uint32_t>(value); break;
    case 1: record.slot = static_cast<std::uint32_t>(value); break;
    case 2: record.sequence = value & ((std::uint64_t{1} << 56) - 1); break;
    case 3: record.kind = value & 0xff; break;
    case 4: record.down_nanos = static_cast<std::int64_t>(value); break;
    case 5: record.up_nanos = static_cast<std::int64_t>(value); break;
    case 6: record.bytes = value & eventspace::event_bytes_max; break;
    default: record.flags = value & 0xff;
  }
}
inline constexpr std::uint64_t record_fields = 8;

inline std::uint64_t field_of(const EventRecord& record, std::uint64_t field) {
  switch (field) {
    case 0: return record.place;
    case 1: return record.slot;
    case 2: return record.sequence;
    case 3: return record.kind;
    case 4: return static_cast<std::uint64_t>(+record.down_nanos);
    case 5: return static_cast<std::uint64_t>(+record.up_nanos);
    case 6: return record.bytes;
    default: return record.flags;
  }
}

inline void change_record(Chunk& chunk, runtime::Random& random) {
  const std::size_t records = chunk.records();
  if (records == 0) return;
  const std::size_t place = random.below(records);
  EventRecord record = chunk.record(place);
  const EventRecord other = chunk.record(random.below(records));
  const std::uint64_t field = random.below(record_fields);
  switch (random.below(6)) {
    case 0: set_field(record, field, number_to_try(random)); break;
    case 1: set_field(record, field, field_of(other, field)); break;
    case 2: set_field(record, field, field_of(record, field) + random.below(5) - 2); break;
    case 3: set_field(record, 3, random.below(28)); break;
    case 4: record = other; break;
    default:
      for (std::uint64_t one = 0; one < record_fields; ++one)
        if (random.chance(0.3)) set_field(record, one, number_to_try(random));
  }
  chunk.set(place, record);
}

/// Replaces one field in the head of a chunk (a block of records) with another number.
inline void change_head(Chunk& chunk, runtime::Random& random) {
  const std::uint64_t value = number_to_try(random);
  switch (random.below(8)) {
    case 0: chunk.head.version = static_cast<std::uint16_t>(value); break;
    case 1: chunk.head.kind = static_cast<std::uint16_t>(random.below(4)); break;
    case 2: chunk.head.payload_bytes = static_cast<std::uint32_t>(value); break;
    case 3: chunk.head.lane = static_cast<std::uint32_t>(value); break;
    case 4: chunk.head.count = static_cast<std::uint32_t>(value); break;
    case 5: chunk.head.first = value; break;
    case 6: chunk.head.dropped = value; break;
    default: {
      auto* const bytes = reinterpret_cast<unsigned char*>(&chunk.head);
      bytes[random.below(sizeof(ChunkHead))] = static_cast<unsigned char>(random.next());
    }
  }
}

inline void change_chunks(Trace::File& file, runtime::Random& random) {
  if (file.chunks.empty()) return;
  const std::size_t place = random.below(file.chunks.size());
  Chunk& chunk = file.chunks[place];
  switch (random.below(6)) {
    case 0: file.chunks.push_back(chunk); break;
    case 1: file.chunks.erase(file.chunks.begin() + static_cast<std::ptrdiff_t>(place)); break;
    case 2: std::swap(chunk, file.chunks[random.below(file.chunks.size())]); break;
    case 3:
      if (!chunk.payload.empty())
        chunk.payload[random.below(chunk.payload.size())] = static_cast<char>(random.next());
      break;
    default: change_head(chunk, random);
  }
}

inline std::string word_to_try(runtime::Random& random) {
  static const std::vector<std::string> words = {
      "event_collector", "collector", "join",    "crossing",     "link",    "check", "gate",
      "prefetch",        "push",      "store",   "other",        "forward", "",      "\\u001b[2J",
      "\\u0000",         "null",      "\\u202e", "latency: -5ms"};
  return words[random.below(words.size())];
}

/// Changes the text of the structure: a number, a quoted word, a line, or a byte.
inline void change_structure(std::string& text, runtime::Random& random) {
  if (text.empty()) return;
  const std::size_t at = random.below(text.size());
  switch (random.below(7)) {
    case 0:
    case 1:
    case 2: {
      const std::size_t begin = text.find_first_of("0123456789", at);
      if (begin == std::string::npos) return;
      const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
      text.replace(begin, end - begin, std::to_string(number_to_try(random)));
      break;
    }
    case 3: {
      const std::size_t begin = text.find('"', at);
      const std::size_t end = begin == text.npos ? text.npos : text.find('"', begin + 1);
      if (end != text.npos) text.replace(begin + 1, end - begin - 1, word_to_try(random));
      break;
    }
    case 4: {
      const std::size_t begin = text.rfind('\n', at);
      const std::size_t end = text.find('\n', at);
      if (begin == text.npos || end == text.npos) return;
      if (random.chance(0.5))
        text.erase(begin, end - begin);
      else
        text.insert(end, text.substr(begin, end - begin));
      break;
    }
    case 5: text[at] = static_cast<char>(random.next()); break;
    default: {
      const std::size_t begin = text.find("null", at);
      if (begin != text.npos) text.replace(begin, 4, std::to_string(random.below(40)));
    }
  }
}

inline void change_header(eventspace::TraceHeader& header, runtime::Random& random) {
  switch (random.below(6)) {
    case 0: header.clock = random.chance(0.5) ? "steady" : "virtual"; break;
    case 1: header.origin_utc_nanos = static_cast<std::int64_t>(number_to_try(random)); break;
    case 2: header.resolution_nanos = static_cast<std::int64_t>(number_to_try(random)); break;
    case 3: header.command.assign(random.below(3), "\x1b[31m\xff"); break;
    case 4: header.host_number = static_cast<std::uint32_t>(number_to_try(random)); break;
    default: header.started = "\x1b]0;title\a";
  }
}

/// Makes many random changes in a trace, most of them in records. The reader refuses a trace with a
/// wrong structure or head before it reads any record.
inline void mutate(Trace& trace, runtime::Random& random) {
  const auto any_file = [&]() -> Trace::File& {
    return trace.files[random.below(trace.files.size())];
  };
  for (std::uint64_t changes = random.below(40); changes > 0; --changes) {
    Trace::File& file = any_file();
    if (!file.chunks.empty()) change_record(file.chunks[random.below(file.chunks.size())], random);
  }
  if (random.chance(0.3)) change_chunks(any_file(), random);
  if (random.chance(0.4))
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      change_structure(trace.structure, random);
  if (random.chance(0.1)) change_header(any_file().header, random);
}

}  // namespace forged_trace
