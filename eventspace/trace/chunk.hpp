// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/chunk.hpp — format of a trace file: the head and the chunks after it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.hpp"

/// docs/reference/trace.md documents the format of trace files. If you change the format here,
/// change that page, too.
namespace eventspace {

inline constexpr std::uint32_t trace_version = 1;
inline constexpr std::uint16_t chunk_version = 1;
/// Maximum number of records in a chunk. A host writes each chunk with one system call, so a kill
/// leaves at most one incomplete chunk.
inline constexpr std::size_t chunk_records_max = 4096;
/// Maximum size of a chunk's payload. A reader treats a longer payload as damage. The reader
/// therefore never allocates memory for bytes that the file does not have.
inline constexpr std::size_t chunk_payload_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t header_bytes_max = std::size_t{1} << 24;

/// Properties of the host that wrote a trace file, and of the clock of its records.
struct TraceHeader {
  std::string host;
  std::uint32_t host_number = 0;
  std::string plan;   ///< digest of the plan
  std::string clock;  ///< "virtual" or "steady"
  std::int64_t resolution_nanos = 1;
  /// UTC time at time 0 of the records' clock, in nanoseconds since 1970.
  std::optional<std::int64_t> origin_utc_nanos = {};
  std::uint64_t seed = 0;
  std::vector<std::string> command = {};
  std::string version = std::string(base::version);  ///< version of PATHS
  std::string started = {};                          ///< date and time of the start, for people
  friend bool operator==(const TraceHeader&, const TraceHeader&) = default;
};

/// A trace file begins with a head. The parts of the head are the mark, the trace version, the
/// length of the JSON, the JSON, and a checksum of the parts before the checksum.
inline constexpr std::string_view trace_mark = "PATHSEVT";
inline constexpr std::size_t trace_prefix_bytes = 16;
inline constexpr std::size_t checksum_bytes = 8;
std::string encode_head(const TraceHeader& header);
std::uint32_t trace_version_in(std::span<const std::byte> prefix);
std::uint32_t header_bytes_in(std::span<const std::byte> prefix);
/// Decodes a whole head. Returns nullopt if the checksum or the JSON is wrong.
std::optional<TraceHeader> decode_head(std::span<const std::byte> head);

enum class ChunkKind : std::uint16_t {
  records = 1,  ///< array of EventRecord, in their memory layout
  /// Array of LaneTotal. The array begins with the total of the record buffer whose number is in
  /// ChunkHead::lane. ChunkHead::first is the number of record buffers of the whole file.
  end = 2,
};

/// Number of records that were added to a record buffer (recorder.hpp), and number of records that
/// this buffer dropped because it was full.
struct LaneTotal {
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
};

inline constexpr std::string_view chunk_mark = "PATHSCHK";

/// Header before the payload of each chunk, written in its memory layout. The fields mark, version,
/// kind and payload_bytes have the same positions in all versions, so that every reader can skip a
/// chunk of any version.
struct ChunkHead {
  std::array<char, 8> mark;
  std::uint16_t version;
  std::uint16_t kind;
  std::uint32_t payload_bytes;
  std::uint32_t lane;     ///< number of the record buffer
  std::uint32_t count;    ///< number of records or LaneTotals in the payload
  std::uint64_t first;    ///< index of the first record among all records of its record buffer
  std::uint64_t dropped;  ///< number of records that the record buffer has dropped so far
  std::uint64_t payload_checksum;
  std::uint64_t head_checksum;  ///< checksum of all other fields

  bool is(ChunkKind wanted) const {
    return version == chunk_version && kind == static_cast<std::uint16_t>(wanted);
  }
};
static_assert(sizeof(ChunkHead) == 56);

ChunkHead make_chunk_head(ChunkKind kind, std::uint32_t lane, std::uint64_t first,
                          std::size_t count, std::uint64_t dropped,
                          std::span<const std::byte> payload);
/// Returns the head of a chunk. Returns nullopt if the bytes are no head, or if the head is damaged
/// or contradicts itself.
std::optional<ChunkHead> decode_chunk_head(std::span<const std::byte, sizeof(ChunkHead)> bytes);
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// Returns the name of a host's trace file. Throws: std::runtime_error if the host's name is not
/// valid in a file name.
std::string trace_file_name(std::string_view host);
inline constexpr std::string_view trace_file_ending = ".trace";
inline constexpr std::string_view structure_file_name = "structure.json";
inline constexpr std::string_view config_file_name = "config.yaml";
/// Subfolder of a trace directory. It contains one trace directory for each deployment of the run
/// after the first.
inline constexpr std::string_view further_traces_folder_name = "wirings";

}  // namespace eventspace
