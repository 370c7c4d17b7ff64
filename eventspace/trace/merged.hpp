// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/merged.hpp — the records of all hosts of a run as one stream.
#pragma once
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Gives out chunk after chunk, always of the host that is least far in the run, so that all
/// advance about together. How far a host is, is counted from its own first record: their clocks
/// need not agree.
///
/// Memory: a chunk of each host.
/// Throws: std::runtime_error, naming the file, when one cannot be read.
class MergedTrace {
 public:
  explicit MergedTrace(const TraceDirectory& directory);

  /// False at the end of all. What `records` shows is good until the next call.
  bool next(std::uint32_t& host, std::span<const EventRecord>& records);
  double share_read() const;  ///< of the bytes of all files: 0 to 1

  /// A host's file, as far as it was read; complete at the end.
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
    bool advance();  ///< to the next chunk that has records
    std::uint32_t host;
    TraceReader reader;
    std::vector<EventRecord> records = {};
    std::uint64_t read = 0;
    std::int64_t begin_nanos = 0;
    std::int64_t at_nanos = 0;  ///< how far the present chunk goes
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
