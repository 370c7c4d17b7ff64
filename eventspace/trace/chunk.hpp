// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/chunk.hpp — the bytes of a trace file: its head, and the chunks behind it.
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

/// docs/trace.md says what these bytes mean to people; the two are changed together.
namespace eventspace {

inline constexpr std::uint32_t trace_version = 1;
inline constexpr std::uint16_t chunk_version = 1;
/// What a host writes at once, and so what a killed one loses of each flush at most.
inline constexpr std::size_t chunk_records_max = 4096;
/// A reader takes more for damage, so that it never asks for memory that the file has not.
inline constexpr std::size_t chunk_payload_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t header_bytes_max = std::size_t{1} << 24;

/// Who wrote a trace file, and how its times are to be read.
struct TraceHeader {
  std::string host;
  std::uint32_t host_number = 0;
  std::string plan;   ///< its digest
  std::string clock;  ///< "virtual" or "steady"
  std::int64_t resolution_nanos = 1;
  /// What a UTC clock showed, in nanoseconds since 1970, at time 0 of the clock of the records.
  std::optional<std::int64_t> origin_utc_nanos = {};
  std::uint64_t seed = 0;
  std::vector<std::string> command = {};
  std::string version = std::string(base::version);  ///< of PATHS
  std::string started = {};                          ///< when, for people
  friend bool operator==(const TraceHeader&, const TraceHeader&) = default;
};

/// The head of a file: mark, trace version, length of the JSON, the JSON, checksum of all that.
inline constexpr std::string_view trace_mark = "PATHSEVT";
inline constexpr std::size_t trace_prefix_bytes = 16;
inline constexpr std::size_t checksum_bytes = 8;
std::string encode_head(const TraceHeader& header);
std::uint32_t trace_version_in(std::span<const std::byte> prefix);
std::uint32_t header_bytes_in(std::span<const std::byte> prefix);
/// Nothing when the checksum or the JSON is wrong. `head` is all of it.
std::optional<TraceHeader> decode_head(std::span<const std::byte> head);

enum class ChunkKind : std::uint16_t {
  records = 1,  ///< as they lie in memory
  end = 2,      ///< a LaneTotal for each lane from `lane` on; `first` is how many lanes there are
};

struct LaneTotal {
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
};

inline constexpr std::string_view chunk_mark = "PATHSCHK";

/// What stands before the payload of every chunk, as it lies in memory. mark, version, kind and
/// payload_bytes stay where they are in every version, so that any reader can skip any chunk.
struct ChunkHead {
  std::array<char, 8> mark;
  std::uint16_t version;
  std::uint16_t kind;
  std::uint32_t payload_bytes;
  std::uint32_t lane;
  std::uint32_t count;    ///< of records, or of totals
  std::uint64_t first;    ///< number in the lane of the first record
  std::uint64_t dropped;  ///< in the lane so far
  std::uint64_t payload_checksum;
  std::uint64_t head_checksum;  ///< of all before it

  bool is(ChunkKind wanted) const {
    return version == chunk_version && kind == static_cast<std::uint16_t>(wanted);
  }
};
static_assert(sizeof(ChunkHead) == 56);

ChunkHead make_chunk_head(ChunkKind kind, std::uint32_t lane, std::uint64_t first,
                          std::size_t count, std::uint64_t dropped,
                          std::span<const std::byte> payload);
/// Nothing when these bytes are no head of a chunk, or a damaged one, or one that contradicts
/// itself.
std::optional<ChunkHead> decode_chunk_head(std::span<const std::byte, sizeof(ChunkHead)> bytes);
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// Throws std::runtime_error when the host's name is no file's name.
std::string trace_file_name(std::string_view host);
inline constexpr std::string_view trace_file_ending = ".trace";
inline constexpr std::string_view structure_file_name = "structure.json";
inline constexpr std::string_view config_file_name = "config.yaml";
/// Of a trace directory: a trace directory for each further deployment of the run.
inline constexpr std::string_view further_traces_folder_name = "wirings";

}  // namespace eventspace
