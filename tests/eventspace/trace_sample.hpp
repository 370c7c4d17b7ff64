// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/trace_sample.hpp — trace files that tests write, damage and read.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "eventspace/trace/reader.hpp"
#include "eventspace/trace/writer.hpp"
#include "tests/support/folder.hpp"

namespace trace_sample {

/// The name of a trace folder that a test may create. The destructor removes the folder.
class Folder {
 public:
  const std::filesystem::path& path() const { return path_; }

 private:
  const test_support::Folder outer_;
  const std::filesystem::path path_ = outer_.path() / "trace";
};

inline eventspace::TraceHeader header(const std::string& host = "alpha-0") {
  eventspace::TraceHeader header;
  header.host = host;
  header.plan = "00112233445566778899aabbccddeeff";
  header.clock = "virtual";
  header.seed = 7;
  header.command = {"noise_allreduce", "--seed", "7"};
  header.started = "2026-01-02T03:04:05Z";
  return header;
}

/// Returns the record with this number. All fields of the record are computed from the number.
inline eventspace::EventRecord numbered(std::uint64_t number) {
  eventspace::EventRecord record;
  record.place = static_cast<std::uint32_t>(3 * number);
  record.slot = static_cast<std::uint32_t>(number % 5);
  record.sequence = number;
  record.kind = number % 20;
  record.down_nanos = static_cast<std::int64_t>(10 * number);
  record.up_nanos = record.down_nanos + 5;
  record.bytes = static_cast<std::uint32_t>(number & eventspace::event_bytes_max);
  record.flags = number & 0x7f;
  return record;
}

/// Writes the trace file of a host with `records` records: numbered(0), numbered(1) and so on.
/// Flushes the records to the file after every `flush_every` records.
inline std::filesystem::path write_trace(const std::filesystem::path& directory,
                                         std::uint64_t records, std::uint64_t flush_every,
                                         const eventspace::TraceHeader& head = header()) {
  eventspace::Recorder recorder(flush_every);
  eventspace::TraceWriter writer(directory, head, recorder);
  for (std::uint64_t number = 0; number < records; ++number) {
    recorder.add(numbered(number));
    if ((number + 1) % flush_every == 0) writer.flush();
  }
  writer.finish();
  return directory / eventspace::trace_file_name(head.host);
}

struct Read {
  std::vector<eventspace::EventRecord> records;
  eventspace::TraceLosses losses;
  bool ended = false;
};

inline Read read_trace(const std::filesystem::path& file) {
  eventspace::TraceReader reader(file);
  Read read;
  std::vector<eventspace::EventRecord> chunk;
  while (reader.next(chunk)) read.records.insert(read.records.end(), chunk.begin(), chunk.end());
  read.losses = reader.losses();
  read.ended = reader.ended();
  return read;
}

/// Checks records that were read from one record buffer of a trace file. Returns whether each
/// record is a record that write_trace() wrote, and no record was read twice.
inline bool are_as_written(const std::vector<eventspace::EventRecord>& records) {
  std::uint64_t next = 0;
  for (const eventspace::EventRecord& record : records) {
    if (record.sequence < next || !(record == numbered(record.sequence))) return false;
    next = record.sequence + 1;
  }
  return true;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace trace_sample
