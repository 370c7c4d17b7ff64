// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/trace_test.cpp — writing and reading of traces. Damaged records are counted, but
// never used.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "eventspace/trace/file.hpp"
#include "runtime/runtime.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace eventspace;
using namespace trace_sample;
namespace fs = std::filesystem;

constexpr std::size_t ten_records_bytes = sizeof(ChunkHead) + 10 * sizeof(EventRecord);
constexpr std::size_t end_mark_bytes = sizeof(ChunkHead) + sizeof(LaneTotal);

std::string refusal(const fs::path& file) {
  return test_support::thrown<std::runtime_error>([&] { TraceReader reader(file); });
}

Structure two_hosts() {
  Structure structure;
  structure.clusters = {"alpha"};
  structure.hosts = {{"alpha-0", 0, 0, 2}, {"alpha-1", 0, 2, 1}};
  return structure;
}

std::string refusal_of_directory(const fs::path& directory) {
  return test_support::thrown<std::runtime_error>([&] { TraceDirectory trace(directory); });
}

}  // namespace

TEST_CASE("trace: records are read back with the header and without losses") {
  const Folder folder;
  TraceHeader head = header();
  head.clock = "steady";
  head.origin_utc_nanos = 1'700'000'000'123'456'789;
  const fs::path file = write_trace(folder.path() / "deep" / "down", 5000, 700, head);
  CHECK(TraceReader(file).header() == head);
  const Read read = read_trace(file);
  REQUIRE(read.records.size() == 5000);
  CHECK(are_as_written(read.records));
  CHECK(read.losses.has_none());
  CHECK(read.ended);
}

TEST_CASE("trace: one large flush is cut into chunks per lane") {
  const Folder folder;
  Recorder recorder(10'000);
  TraceWriter writer(folder.path(), header(), recorder);
  for (std::uint64_t number = 0; number < 10'000; ++number) recorder.add(numbered(number));
  writer.finish();
  TraceReader reader(folder.path() / "alpha-0.trace");
  std::vector<EventRecord> chunk;
  std::vector<std::size_t> sizes;
  while (reader.next(chunk)) {
    sizes.push_back(chunk.size());
    CHECK(reader.lane() == 0);
  }
  CHECK(sizes == std::vector<std::size_t>{4096, 4096, 1808});
  CHECK(writer.written() == 10'000);
}

TEST_CASE("trace: flushed records survive a process that never ends its trace") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 1000, 100);
  fs::resize_file(file, fs::file_size(file) - end_mark_bytes);
  const Read read = read_trace(file);
  CHECK(read.records.size() == 1000);
  CHECK_FALSE(read.ended);
  CHECK(read.losses.has_none());
}

TEST_CASE("trace: records dropped because the lane was full are counted in the file") {
  const Folder folder;
  Recorder recorder(100);
  TraceWriter writer(folder.path(), header(), recorder);
  for (std::uint64_t number = 0; number < 150; ++number) recorder.add(numbered(number));
  writer.flush();
  const fs::path file = folder.path() / "alpha-0.trace";
  CHECK(read_trace(file).losses.records_dropped == 50);
  for (std::uint64_t number = 150; number < 260; ++number) recorder.add(numbered(number));
  writer.finish();
  const Read read = read_trace(file);
  CHECK(read.records.size() == 200);
  CHECK(are_as_written(read.records));
  CHECK(read.losses.records_dropped == 60);
  CHECK(read.losses.records_missing == 0);
  CHECK(read.ended);
}

TEST_CASE("trace: a recorder that flushes when full writes to its file") {
  const Folder folder;
  Recorder recorder(16, WhenFull::flush);
  TraceWriter writer(folder.path(), header(), recorder);
  for (std::uint64_t number = 0; number < 1000; ++number) recorder.add(numbered(number));
  writer.finish();
  const Read read = read_trace(folder.path() / "alpha-0.trace");
  CHECK(read.records.size() == 1000);
  CHECK(read.losses.has_none());
}

TEST_CASE("trace: a writer destroyed without finish writes its records without an end mark") {
  const Folder folder;
  {
    Recorder recorder(16);
    TraceWriter writer(folder.path(), header(), recorder);
    recorder.add(numbered(0));
  }
  const Read read = read_trace(folder.path() / "alpha-0.trace");
  CHECK(read.records.size() == 1);
  CHECK_FALSE(read.ended);
}

TEST_CASE("trace: a file cut anywhere gives all whole chunks before the cut and reports it") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 40, 10);
  const std::string whole = bytes_of(file);
  const std::size_t head = whole.size() - 4 * ten_records_bytes - end_mark_bytes;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size << " of " << whole.size());
    put(file, whole.substr(0, size));
    const Read read = read_trace(file);
    TraceLosses expected;
    if (size < head) {
      expected.is_header_damaged = true;
      expected.chunks_cut_off = 1;
      expected.bytes_unused = size;
    } else {
      const std::size_t behind_head = size - head;
      const std::size_t chunks = std::min<std::size_t>(behind_head / ten_records_bytes, 4);
      const std::size_t rest = behind_head - chunks * ten_records_bytes;
      REQUIRE(read.records.size() == 10 * chunks);
      expected.chunks_cut_off = rest > 0 ? 1 : 0;
      expected.bytes_unused = rest;
      // The head of a chunk (a block of records) is there, so the number of records in the missing
      // rest is known.
      expected.records_missing = rest >= sizeof(ChunkHead) && chunks < 4 ? 10 : 0;
    }
    REQUIRE(are_as_written(read.records));
    REQUIRE_FALSE(read.ended);
    REQUIRE(read.losses == expected);
  }
}

TEST_CASE("trace: a wrong byte anywhere loses only its chunk and is counted") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 40, 10);
  const std::string whole = bytes_of(file);
  const std::size_t head = whole.size() - 4 * ten_records_bytes - end_mark_bytes;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    INFO("byte " << place << " of " << whole.size());
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
    put(file, damaged);
    if (place < trace_mark.size() + sizeof(trace_version)) {
      REQUIRE_THAT(refusal(file), Catch::StartsWith(file.string() + ": is "));
      continue;
    }
    const Read read = read_trace(file);
    const bool in_head = place < head;
    const bool in_end = place >= whole.size() - end_mark_bytes;
    REQUIRE(are_as_written(read.records));
    REQUIRE(read.records.size() == (in_head || in_end ? 40 : 30));
    REQUIRE(read.losses.is_header_damaged == in_head);
    REQUIRE(read.losses.records_missing == 40 - read.records.size());
    REQUIRE(read.losses.damaged_places == 1);
    REQUIRE(read.losses.chunks_cut_off == 0);
    REQUIRE(read.losses.bytes_unused == (in_head  ? head
                                         : in_end ? end_mark_bytes
                                                  : ten_records_bytes));
    REQUIRE(read.ended == !in_end);
  }
}

TEST_CASE("trace: chunks of another version or kind are skipped and counted") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 30, 10);
  std::string bytes = bytes_of(file);
  const std::size_t second = bytes.size() - 2 * ten_records_bytes - end_mark_bytes;
  ChunkHead head;
  std::memcpy(&head, bytes.data() + second, sizeof(head));
  SECTION("version") { head.version = 2; }
  SECTION("kind") { head.kind = 99; }
  head.head_checksum = checksum_of(
      std::as_bytes(std::span(&head, 1)).first(sizeof(head) - sizeof(head.head_checksum)));
  std::memcpy(bytes.data() + second, &head, sizeof(head));
  put(file, bytes);
  const Read read = read_trace(file);
  CHECK(read.records.size() == 20);
  CHECK(are_as_written(read.records));
  CHECK(read.losses.chunks_unknown == 1);
  CHECK(read.losses.records_missing == 10);
  CHECK(read.losses.damaged_places == 0);
  CHECK(read.ended);
}

TEST_CASE("trace: a repeated chunk is used once") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 30, 10);
  std::string bytes = bytes_of(file);
  const std::size_t second = bytes.size() - 2 * ten_records_bytes - end_mark_bytes;
  bytes.insert(second, bytes.substr(second, ten_records_bytes));
  put(file, bytes);
  const Read read = read_trace(file);
  CHECK(read.records.size() == 30);
  CHECK(are_as_written(read.records));
  CHECK(read.losses.chunks_repeated == 1);
  CHECK(read.losses.records_missing == 0);
}

TEST_CASE("trace: a lost chunk is detected by the numbers of the others") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 40, 10);
  std::string bytes = bytes_of(file);
  // Position of the lost chunk, counted from the end of the file: the last, the last but one, or
  // the first of four chunks.
  const std::size_t lost = GENERATE(1, 2, 4);
  bytes.erase(bytes.size() - lost * ten_records_bytes - end_mark_bytes, ten_records_bytes);
  put(file, bytes);
  const Read read = read_trace(file);
  CHECK(read.records.size() == 30);
  CHECK(read.losses.records_missing == 10);
  CHECK(read.losses.damaged_places == 0);
}

TEST_CASE(
    "trace: a file that is no trace is refused and another version with both versions named") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 1, 1);
  std::string other = bytes_of(file);
  other[trace_mark.size()] = 9;
  put(file, other);
  CHECK(refusal(file) == file.string() + ": is a trace of version 9; this program reads version 1");
  put(file, "something else altogether");
  CHECK(refusal(file) == file.string() + ": is no trace of PATHS");
  CHECK(refusal(folder.path() / "none") ==
        (folder.path() / "none").string() + ": cannot read: No such file or directory");
}

TEST_CASE("trace: an existing trace is not overwritten") {
  const Folder folder;
  const fs::path file = write_trace(folder.path(), 1, 1);
  CHECK_THROWS_WITH(write_trace(folder.path(), 1, 1),
                    file.string() + ": cannot create: File exists");
}

TEST_CASE("trace: a directory that cannot be created is an error that names it") {
  Recorder recorder(16);
  CHECK_THROWS_WITH(TraceWriter("/proc/nowhere", header(), recorder),
                    Catch::StartsWith("/proc/nowhere: cannot create: "));
  CHECK_THROWS_WITH(TraceWriter(Folder().path(), header("../a"), recorder),
                    "a host named '../a' can have no trace file");
}

TEST_CASE("trace: a full disk is one error and then the missing records and the end are marked") {
  const Folder folder;
  const fs::path file = folder.path() / "alpha-0.trace";
  const WhenFull when_full = GENERATE(WhenFull::drop, WhenFull::flush);
  Recorder recorder(10, when_full);
  TraceWriter writer(folder.path(), header(), recorder);
  const auto record = [&recorder](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) recorder.add(numbered(i));
  };
  record(0, 10);
  writer.flush();
  {
    const test_support::FileSizeLimit limit(fs::file_size(file) + ten_records_bytes + 100);
    record(10, 10);
    writer.flush();
    record(20, 10);
    if (when_full == WhenFull::flush) record(30, 5);  // add() never throws
    CHECK_THROWS_WITH(writer.flush(), file.string() + ": cannot write: File too large");
    record(40, 3);
    writer.flush();
  }
  record(50, 1);
  writer.finish();
  CHECK(writer.written() == 20);
  CHECK(writer.lost() == (when_full == WhenFull::flush ? 19 : 14));
  CHECK(recorder.dropped() == 0);
  const Read read = read_trace(file);
  CHECK(read.records.size() == 20);
  CHECK(are_as_written(read.records));
  CHECK(read.losses.chunks_cut_off == 0);
  CHECK(read.losses.records_missing == writer.lost());
  CHECK(read.ended);
}

TEST_CASE("trace: a disk that is full only at the end still has the end marked") {
  const Folder folder;
  const fs::path file = folder.path() / "alpha-0.trace";
  Recorder recorder(10, WhenFull::drop);
  TraceWriter writer(folder.path(), header(), recorder);
  for (std::uint64_t i = 0; i < 10; ++i) recorder.add(numbered(i));
  {
    const test_support::FileSizeLimit limit(fs::file_size(file) + 100);
    CHECK_THROWS_WITH(writer.finish(), file.string() + ": cannot write: File too large");
  }
  const Read read = read_trace(file);
  CHECK(read.ended);
  CHECK(read.losses.chunks_cut_off == 0);
  CHECK(read.losses.records_missing == 10);
}

TEST_CASE("trace directory: it lists the structure and host files in order and the missing hosts") {
  const Folder folder;
  Structure structure = two_hosts();
  structure.hosts.push_back({"lost", 0, 3, 1});
  write_structure(folder.path(), structure);
  // Every host of a run may write the structure. All of them write the same text.
  write_structure(folder.path(), structure);
  write_config(folder.path(), "hosts: []\n");
  TraceHeader second = header("alpha-1");
  second.host_number = 1;
  write_trace(folder.path(), 3, 1, second);
  write_trace(folder.path(), 3, 1);
  const TraceDirectory trace(folder.path());
  CHECK(trace.structure == structure);
  REQUIRE(trace.files.size() == 2);
  CHECK(trace.files[0].header == header());
  CHECK(trace.files[1].host == 1);
  CHECK(trace.files[1].path == folder.path() / "alpha-1.trace");
  CHECK(trace.missing_hosts == std::vector<std::string>{"lost"});
  CHECK(bytes_of(folder.path() / "config.yaml") == "hosts: []\n");
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 4);
}

TEST_CASE("trace directory: a host with a damaged head is known by its file name") {
  const Folder folder;
  write_structure(folder.path(), two_hosts());
  const fs::path file = write_trace(folder.path(), 20, 10);
  std::string bytes = bytes_of(file);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  put(file, bytes);
  const TraceDirectory trace(folder.path());
  REQUIRE(trace.files.size() == 1);
  CHECK(trace.files[0].host == 0);
  CHECK(trace.files[0].header.plan.empty());
  CHECK(read_trace(trace.files[0].path).records.size() == 20);
}

TEST_CASE("trace directory: all mistakes are reported at once file by file") {
  using Catch::Contains;
  const Folder folder;
  const fs::path& path = folder.path();
  CHECK(refusal_of_directory(path) == path.string() + ": cannot read: No such file or directory");
  write_config(path, "");
  CHECK(refusal_of_directory(path) == path.string() + ": no traces here\n" +
                                          (path / "structure.json").string() +
                                          ": cannot read: No such file or directory");
  write_trace(path, 1, 1);
  TraceHeader other = header("alpha-1");
  other.plan = "ff";
  other.host_number = 1;
  write_trace(path, 1, 1, other);
  write_trace(path, 1, 1, header("stranger"));
  put(path / "noise.trace", "1 2 3\n");
  CHECK_THAT(refusal_of_directory(path),
             Contains("structure.json: cannot read") && Contains("noise.trace: is no trace"));
  write_structure(path, two_hosts());
  CHECK_THAT(
      refusal_of_directory(path),
      Contains("alpha-1.trace: is of another run than host alpha-0: its plan is ff, not 00") &&
          Contains("noise.trace: is no trace of PATHS") &&
          Contains("stranger.trace: is of host 'stranger', which the run does not have"));
}

TEST_CASE(
    "trace directory: of runs that begin at once one gets the directory and the others an error") {
  constexpr int runs = 4;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const Folder folder;
    std::atomic<int> ready{0}, refused{0};
    test_support::on_steady_clock([&](runtime::Runtime& runtime) {
      test_support::in_threads(runtime, runs, [&](int run) {
        for (++ready; ready < runs;) continue;
        try {
          eventspace::write_config(folder.path(), fmt::format("seed: {}", run));
        } catch (const std::runtime_error& error) {
          if (std::string_view(error.what()).ends_with("is of another run")) ++refused;
        }
      });
    });
    CHECK(refused.load() == runs - 1);
    const fs::directory_iterator files(folder.path());
    CHECK(std::distance(begin(files), end(files)) == 1);  // all temporary files were removed
  }
}

TEST_CASE("trace directory: the directory of another run is refused") {
  const Folder folder;
  write_structure(folder.path(), two_hosts());
  CHECK_THROWS_WITH(write_structure(folder.path(), {}),
                    (folder.path() / "structure.json").string() + ": is of another run");
}

TEST_CASE("trace directory: directories of machines without shared files are read as one trace") {
  const Folder one, other;
  write_structure(one.path(), two_hosts());
  write_structure(other.path(), two_hosts());
  TraceHeader second = header("alpha-1");
  second.host_number = 1;
  write_trace(one.path(), 3, 1);
  write_trace(other.path(), 3, 1, second);
  const std::vector both{one.path(), other.path()};
  CHECK(TraceDirectory(both).files.size() == 2);
  write_trace(other.path(), 3, 1);
  CHECK_THROWS_WITH(TraceDirectory(both), Catch::Contains("is of the same host as"));
}
