// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/merged.hpp — records of all hosts of a run as one stream.
#pragma once
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Merges the traces of all hosts into one stream, in which all hosts advance at about the same
/// pace.
///
/// The next chunk is always from the host with the least progress. The progress of a host is the
/// time from its first record to its last record that was read. Both times are on the same clock,
/// so the clocks of different hosts need not agree.
///
/// Memory: One chunk for each host.
/// Throws: std::runtime_error that names the file, if any file cannot be read.
class MergedTrace {
 public:
  explicit MergedTrace(const TraceDirectory& directory);

  /// Returns false at the end of all files. `records` is valid until the next call.
  bool next(std::uint32_t& host, std::span<const EventRecord>& records);
  double share_read() const;  ///< share of the bytes of all files that was read so far, 0 to 1

  /// State of the part of a host's file that was read. It is final after next() has returned false.
  struct File {
    std::uint32_t host;
    TraceHeader header;
    std::uint64_t records;
    bool ended;
    TraceLosses losses;
  };
  std::vector<File> files() const;

 private:
  struct Stream {
    Stream(const TraceDirectory::File& file);
    bool advance();  ///< reads the next chunk with records; false at the end
    std::uint32_t host;
    TraceReader reader;
    std::vector<EventRecord> records = {};
    std::uint64_t read = 0;
    std::int64_t begin_nanos = 0;
    std::int64_t at_nanos = 0;  ///< time from begin_nanos to the last record of `records`
  };
  struct IsFurther {
    bool operator()(const Stream* a, const Stream* b) const;
  };
  void enqueue(Stream& stream);

  std::vector<Stream> streams_;
  std::priority_queue<Stream*, std::vector<Stream*>, IsFurther> waiting_;
  Stream* given_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace eventspace
