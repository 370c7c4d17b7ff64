// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/writer.cpp — chunks of records, with one system call each.
#include "eventspace/trace/writer.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "eventspace/structure.hpp"
#include "eventspace/trace/file.hpp"

namespace eventspace {
namespace {

void append_chunk(File& file, const ChunkHead& head, std::span<const std::byte> payload) {
  file.append(std::as_bytes(std::span(&head, 1)), payload);
}

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& directory, const TraceHeader& header,
                         Recorder& recorder)
    : path_(directory / trace_file_name(header.host)), recorder_(recorder) {
  make_directory(directory);
  const std::string head = encode_head(header);
  File file = File::create(path_);
  try {
    file.append(std::as_bytes(std::span(head)));
  } catch (const std::runtime_error&) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);  // no reader can use a file without a head
    throw;
  }
  whole_bytes_ = head.size();
  recorder_.on_full([this] { drain(Failure::kept); });
}

TraceWriter::~TraceWriter() {
  recorder_.on_full(nullptr);
  drain(Failure::kept);
}

void TraceWriter::flush() { drain(Failure::thrown); }

void TraceWriter::finish() {
  drain(Failure::kept);
  if (!has_failed_) {
    try {
      write_end();
    } catch (const std::runtime_error& error) {
      has_failed_ = true;
      unsaid_ = error.what();
    }
  }
  if (has_failed_) say_end_after_failure();
  if (!unsaid_.empty()) throw std::runtime_error(std::exchange(unsaid_, {}));
}

/// Removes the incomplete chunk of a failed write, then writes the end mark. The end mark shows
/// readers that the process ended, and how many records are missing. If the disk is full, the end
/// mark may use the space of the removed chunk.
void TraceWriter::say_end_after_failure() {
  std::error_code ignored;
  std::filesystem::resize_file(path_, whole_bytes_, ignored);
  try {
    write_end();
  } catch (const std::runtime_error&) {  // finish() throws the earlier error instead
  }
}

std::uint64_t TraceWriter::written() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.written;
  return sum;
}

std::uint64_t TraceWriter::lost() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.lost;
  return sum;
}

void TraceWriter::drain(Failure failure) {
  std::string thrown;
  recorder_.take([&](const Recorder::Taken& taken) {
    lanes_.resize(std::max<std::size_t>(lanes_.size(), taken.lane + 1));
    Lane& lane = lanes_[taken.lane];
    const std::uint64_t written_before = lane.written;
    lane.records = taken.first + taken.count();
    lane.is_notified = lane.is_notified && lane.dropped == taken.dropped;
    lane.dropped = taken.dropped;
    if (!has_failed_) {
      try {
        write(taken, lane);
      } catch (const std::runtime_error& error) {
        has_failed_ = true;
        unsaid_ = error.what();
      }
    }
    lane.lost += taken.count() - (lane.written - written_before);
    if (failure == Failure::thrown) thrown += std::exchange(unsaid_, {});
  });
  if (!thrown.empty()) throw std::runtime_error(thrown);
}

void TraceWriter::write(const Recorder::Taken& taken, Lane& lane) {
  if (taken.count() == 0 && lane.is_notified) return;
  File file = File::to_append(path_);
  std::uint64_t first = taken.first;
  for (auto records : taken.records) {
    while (!records.empty() || !lane.is_notified) {
      const auto now = records.first(std::min(records.size(), chunk_records_max));
      const auto payload = std::as_bytes(now);
      append_chunk(file,
                   make_chunk_head(ChunkKind::records, taken.lane, first, now.size(), taken.dropped,
                                   payload),
                   payload);
      whole_bytes_ += sizeof(ChunkHead) + payload.size();
      lane.is_notified = true;
      lane.written += now.size();
      first += now.size();
      records = records.subspan(now.size());
    }
  }
}

void TraceWriter::write_end() {
  File file = File::to_append(path_);
  std::vector<LaneTotal> totals;
  for (const Lane& lane : lanes_) totals.push_back({lane.records, lane.dropped});
  // Writes at least one chunk. The file therefore gets an end mark even if there are no record
  // buffers.
  constexpr std::size_t totals_max = chunk_payload_bytes_max / sizeof(LaneTotal);
  std::size_t lane = 0;
  do {
    const auto now = std::span(totals).subspan(lane, std::min(totals.size() - lane, totals_max));
    const auto payload = std::as_bytes(now);
    append_chunk(file,
                 make_chunk_head(ChunkKind::end, static_cast<std::uint32_t>(lane), totals.size(),
                                 now.size(), 0, payload),
                 payload);
    lane += now.size();
  } while (lane < totals.size());
}

void write_structure(const std::filesystem::path& directory, const Structure& structure) {
  make_directory(directory);
  write_whole(directory / structure_file_name, to_json(structure));
}

void write_config(const std::filesystem::path& directory, std::string_view expanded) {
  make_directory(directory);
  write_whole(directory / config_file_name, expanded);
}

}  // namespace eventspace
