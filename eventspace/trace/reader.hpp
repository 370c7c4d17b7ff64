// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/reader.hpp — what can be used of a trace, and what cannot, by reason.
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

/// What of a trace is not there or cannot be used. One damage may show in several of these.
struct TraceLosses {
  std::uint64_t records_dropped = 0;  ///< by the recorder: nobody took them in time
  std::uint64_t records_missing = 0;  ///< written, as their neighbours' numbers show, not read
  std::uint64_t damaged_places = 0;   ///< where a checksum failed: up to the next whole chunk
  std::uint64_t chunks_cut_off = 0;   ///< by the end of the file
  std::uint64_t chunks_unknown = 0;  ///< whole, but of a version or kind this program does not know
  std::uint64_t chunks_repeated = 0;  ///< with records that were read before
  std::uint64_t bytes_unused = 0;     ///< of all these together
  bool is_header_damaged = false;
  bool has_none() const { return *this == TraceLosses{}; }
  TraceLosses& operator+=(const TraceLosses& other);
  friend bool operator==(const TraceLosses&, const TraceLosses&) = default;
};

/// A file's bytes one after another through a window, which is all that is kept of them.
///
/// Why:    the file is open only while the window moves, so that one program can go through those
///         of thousands of hosts side by side.
/// Throws: std::runtime_error, naming file and reason, when the file cannot be read.
class FileWindow {
 public:
  explicit FileWindow(std::filesystem::path path);
  /// The next bytes; fewer than wanted only at the end of the file. Good until the next call.
  std::span<const std::byte> look(std::size_t wanted);
  std::span<const std::byte> look() const { return std::span(bytes_).subspan(begin_, size_); }
  void skip(std::size_t count);  ///< of those looked at

 private:
  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint64_t place_ = 0;  ///< in the file, behind the window
  bool is_at_end_ = false;
};

/// What begins otherwise than any trace does.
struct NoTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One host's file, chunk by chunk, in bounded memory.
///
/// Damage is no error: what stands before and behind it is used, no record that was not written is
/// ever given out, and losses() says what could not be used and why. With a damaged head, what it
/// says is unknown but for the host, which the file's name says.
///
/// Throws: std::runtime_error, naming the file: when it cannot be read; at construction when it is
///         no trace at all, or one of another version (both are named).
class TraceReader {
 public:
  explicit TraceReader(const std::filesystem::path& path);

  const TraceHeader& header() const { return header_; }
  /// The records of the next chunk that can be used, in the order in which its lane has them;
  /// false at the end of the file.
  bool next(std::vector<EventRecord>& records);
  std::uint32_t lane() const { return lane_; }  ///< of the records that next() gave
  bool ended() const { return ended_; }         ///< the end mark was read: its process finished
  /// Complete when next() said false.
  const TraceLosses& losses() const { return losses_; }

 private:
  struct Lane {
    std::uint64_t next = 0;      ///< number of the record behind the last that was read
    std::uint64_t read = 0;      ///< records
    std::uint64_t existing = 0;  ///< as far as anything says
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
  /// Since when no whole chunk was found, and what it looked like: a chunk that reaches beyond the
  /// file's end was cut off, unless whole ones follow.
  Lost astray_ = Lost::nothing;
  std::uint32_t lane_ = 0;
  bool ended_ = false;
  bool finished_ = false;
  TraceLosses losses_;
};

/// The files of a run, and what they refer to: of one directory, or of several when machines that
/// share no files each wrote their own.
///
/// A file that is no trace is left out and told of, as long as there is one that is.
///
/// Throws: std::runtime_error with all that is wrong, a line each that names its file: no structure
///         or a wrong one, files of which none is a trace, of another version, of other hosts or
///         runs, a host that is there twice.
struct TraceDirectory {
  struct File {
    std::filesystem::path path;
    std::uint32_t host = 0;  ///< in the structure
    TraceHeader header;      ///< its host only, when the head is damaged
  };

  explicit TraceDirectory(const std::filesystem::path& directory)
      : TraceDirectory(std::vector{directory}) {}
  explicit TraceDirectory(const std::vector<std::filesystem::path>& directories);

  std::filesystem::path path;  ///< the first
  Structure structure;
  std::vector<File> files;                 ///< in the order of the hosts
  std::vector<std::string> missing_hosts;  ///< without a file
  std::vector<std::string> no_traces;  ///< files that are called so and are none, with the reason
};

}  // namespace eventspace
