// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/reader.hpp — reader of trace files that skips damage and counts the losses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"
#include "eventspace/trace/chunk.hpp"

namespace eventspace {

/// Counts of the parts of a trace that are missing or cannot be used. The same damage may count in
/// several fields.
struct TraceLosses {
  std::uint64_t records_dropped = 0;  ///< records that a full record buffer dropped
  std::uint64_t records_missing = 0;  ///< records with numbers that the file lacks
  std::uint64_t damaged_places = 0;   ///< damaged parts, each up to the next whole chunk
  std::uint64_t chunks_cut_off = 0;   ///< chunks that the end of the file cuts off
  std::uint64_t chunks_unknown = 0;   ///< whole chunks of an unknown version or kind
  std::uint64_t chunks_repeated = 0;  ///< chunks with records that were read before
  std::uint64_t bytes_unused = 0;     ///< bytes of all parts that were not used
  bool is_header_damaged = false;
  bool has_none() const { return *this == TraceLosses{}; }
  TraceLosses& operator+=(const TraceLosses& other);
  friend bool operator==(const TraceLosses&, const TraceLosses&) = default;
};

/// A window that slides over a file. Only the bytes inside the window are in memory.
///
/// Why:    The file is open only while the window slides. A program can therefore read the files of
///         thousands of hosts side by side.
/// Throws: std::runtime_error that names file and reason, if the file cannot be read.
class FileWindow {
 public:
  explicit FileWindow(std::filesystem::path path);
  /// Returns the first `wanted` bytes of the window. First reads more of the file if necessary.
  /// Returns fewer bytes only at the end of the file. The span is valid until the next call.
  std::span<const std::byte> look(std::size_t wanted);
  std::span<const std::byte> look() const { return std::span(bytes_).subspan(begin_, size_); }
  void skip(std::size_t count);  ///< drops bytes from the front of the window

 private:
  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint64_t place_ = 0;  ///< offset in the file of the first byte after the window
  bool is_at_end_ = false;
};

/// Thrown for a file that does not begin like a trace.
struct NoTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the intact parts of one host's file, chunk by chunk, in bounded memory.
///
/// Damage is no error: the reader skips damaged bytes and continues with the next whole chunk. It
/// never returns a record that was not written. losses() returns counts of the parts that could not
/// be used, by reason. If the head of the file is damaged, header() contains only the host's name,
/// which is taken from the name of the file.
///
/// Throws: std::runtime_error that names the file, if the file cannot be read. The constructor
///         throws NoTrace if the file is no trace, and std::runtime_error if the trace has a
///         different version.
class TraceReader {
 public:
  explicit TraceReader(const std::filesystem::path& path);

  const TraceHeader& header() const { return header_; }
  /// Replaces `records` by the records of the next usable chunk, in the order in which their OS
  /// thread made them. Returns false at the end of the file.
  bool next(std::vector<EventRecord>& records);
  /// Returns the number of the record buffer (recorder.hpp) from which the last chunk came.
  std::uint32_t lane() const { return lane_; }
  bool ended() const { return ended_; }  ///< whether the end mark was read (TraceWriter::finish())
  /// Returns the losses so far. They are complete when next() has returned false.
  const TraceLosses& losses() const { return losses_; }

 private:
  struct Lane {
    std::uint64_t next = 0;  ///< expected number of the next record
    std::uint64_t read = 0;  ///< number of records that were read
    /// Number of records that were added to the record buffer, as far as the file shows them.
    std::uint64_t existing = 0;
    std::uint64_t dropped = 0;
  };
  enum class Lost : std::uint8_t { nothing, place, file_end };

  void read_head();
  void give_up(Lost lost, std::size_t bytes);
  void settle();
  void find_next_mark();
  std::optional<ChunkHead> next_chunk();
  bool use(const ChunkHead& head, std::vector<EventRecord>& records);
  void use_totals(const ChunkHead& head, std::span<const std::byte> payload);
  void note(std::uint32_t lane, std::uint64_t existing, std::uint64_t dropped);
  void finish();

  FileWindow window_;
  TraceHeader header_;
  std::unordered_map<std::uint32_t, Lane> lanes_;
  /// First damage since the last whole chunk. A chunk that reaches beyond the end of the file
  /// counts as cut off (file_end), unless whole chunks follow.
  Lost astray_ = Lost::nothing;
  std::uint32_t lane_ = 0;
  bool ended_ = false;
  bool finished_ = false;
  TraceLosses losses_;
};

/// Finds the files of a run and checks that they belong together. A run may have several
/// directories, because machines without a shared file system write directories of their own.
///
/// Files that are no traces are left out. `no_traces` lists them.
///
/// Throws: std::runtime_error with all reasons, one per line, each with the name of the file.
///         Possible reasons are: the structure is missing or wrong; no file is a trace; a trace has
///         a different version, host or run than expected; a host has two files.
struct TraceDirectory {
  struct File {
    std::filesystem::path path;
    std::uint32_t host = 0;  ///< number of the host in the structure
    TraceHeader header;      ///< if the head is damaged, only the host is set
  };

  explicit TraceDirectory(const std::filesystem::path& directory)
      : TraceDirectory(std::vector{directory}) {}
  explicit TraceDirectory(const std::vector<std::filesystem::path>& directories);

  std::filesystem::path path;  ///< first of the given directories
  Structure structure;
  std::vector<File> files;                 ///< in the order of the hosts
  std::vector<std::string> missing_hosts;  ///< hosts without a file
  std::vector<std::string> no_traces;      ///< errors that name the files that are no traces
};

}  // namespace eventspace
