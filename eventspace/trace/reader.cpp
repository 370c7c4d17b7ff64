// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/reader.cpp — validation of chunks one by one, with a search for the next whole
// chunk.
#include "eventspace/trace/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/visible.hpp"
#include "eventspace/trace/file.hpp"

namespace eventspace {
namespace {

/// Initial size of a window. A window grows to the size of the largest chunk of its file. A larger
/// initial size would save little time. It would need gigabytes for thousands of open files.
constexpr std::size_t window_bytes = std::size_t{16} * 1024;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TraceLosses& TraceLosses::operator+=(const TraceLosses& other) {
  records_dropped += other.records_dropped;
  records_missing += other.records_missing;
  damaged_places += other.damaged_places;
  chunks_cut_off += other.chunks_cut_off;
  chunks_unknown += other.chunks_unknown;
  chunks_repeated += other.chunks_repeated;
  bytes_unused += other.bytes_unused;
  is_header_damaged = is_header_damaged || other.is_header_damaged;
  return *this;
}

FileWindow::FileWindow(std::filesystem::path path) : path_(std::move(path)) {
  const std::uint64_t size = File::to_read(path_).size();
  bytes_.resize(std::min<std::uint64_t>(size + 1, window_bytes));
}

std::span<const std::byte> FileWindow::look(std::size_t wanted) {
  if (size_ < wanted && !is_at_end_) {
    const File file = File::to_read(path_);
    std::memmove(bytes_.data(), bytes_.data() + begin_, size_);
    begin_ = 0;
    if (wanted > bytes_.size()) {
      // The window is never larger than the file, even if a damaged length requests more.
      bytes_.resize(std::max(bytes_.size(), std::min<std::size_t>(wanted, file.size() + 1)));
    }
    const auto room = std::span(bytes_).subspan(size_);
    const std::size_t got = file.read(place_, room);
    place_ += got;
    size_ += got;
    is_at_end_ = got < room.size();
  }
  return look().first(std::min(wanted, size_));
}

void FileWindow::skip(std::size_t count) {
  begin_ += count;
  size_ -= count;
}

TraceReader::TraceReader(const std::filesystem::path& path) : window_(path) {
  header_.host = path.stem().string();
  try {
    read_head();
  } catch (const NoTrace& error) {
    throw NoTrace(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), error.what()));
  }
}

void TraceReader::read_head() {
  constexpr std::size_t version_end = trace_mark.size() + sizeof(trace_version);
  const auto begin = window_.look(trace_prefix_bytes);
  if (text_of(begin).substr(0, trace_mark.size()) != trace_mark.substr(0, begin.size()))
    throw NoTrace("is no trace of PATHS");
  if (begin.size() >= version_end) {
    const std::uint32_t version = trace_version_in(begin);
    if (version != trace_version)
      throw std::runtime_error(fmt::format(
          "is a trace of version {}; this program reads version {}", version, trace_version));
  }
  if (begin.size() == trace_prefix_bytes) {
    const std::size_t length =
        trace_prefix_bytes + std::min<std::size_t>(header_bytes_in(begin), header_bytes_max);
    const auto head = window_.look(length + checksum_bytes);
    if (head.size() == length + checksum_bytes) {
      if (auto header = decode_head(head)) {
        header_ = std::move(*header);
        window_.skip(head.size());
        return;
      }
      losses_.is_header_damaged = true;
      give_up(Lost::place, trace_prefix_bytes);
      return;
    }
  }
  losses_.is_header_damaged = true;
  give_up(Lost::file_end, begin.size());
}

/// Skips `bytes` bytes that cannot be used, and counts them as unused. Remembers the first reason
/// since the last whole chunk.
void TraceReader::give_up(Lost lost, std::size_t bytes) {
  if (astray_ == Lost::nothing) astray_ = lost;
  window_.skip(bytes);
  losses_.bytes_unused += bytes;
}

/// If there was damage before the current position, counts it as a damaged place. Called when a
/// valid chunk head was found, so the damage is not at the end of the file.
void TraceReader::settle() {
  if (std::exchange(astray_, Lost::nothing) != Lost::nothing) ++losses_.damaged_places;
}

void TraceReader::find_next_mark() {
  const auto bytes = window_.look(chunk_mark.size());
  if (text_of(bytes) == chunk_mark) return;
  // Searches the window for a chunk mark. If the window has no mark, the last bytes are kept,
  // because a mark may begin in them.
  const std::size_t found = text_of(window_.look()).find(chunk_mark);
  const std::size_t seen = window_.look().size();
  const std::size_t unused = found != std::string_view::npos    ? found
                             : bytes.size() < chunk_mark.size() ? seen
                                                                : seen - chunk_mark.size() + 1;
  give_up(Lost::place, unused);
}

/// Returns the head of the next whole chunk. After the call, the window begins with the payload of
/// that chunk.
std::optional<ChunkHead> TraceReader::next_chunk() {
  while (true) {
    if (astray_ != Lost::nothing) find_next_mark();
    const auto bytes = window_.look(sizeof(ChunkHead));
    if (bytes.empty()) return std::nullopt;
    if (bytes.size() < sizeof(ChunkHead)) {
      const bool is_cut = chunk_mark.starts_with(text_of(bytes).substr(0, chunk_mark.size()));
      give_up(is_cut ? Lost::file_end : Lost::place, is_cut ? bytes.size() : 1);
      continue;
    }
    const auto head = decode_chunk_head(bytes.first<sizeof(ChunkHead)>());
    if (!head) {
      give_up(Lost::place, 1);
      continue;
    }
    settle();
    if (head->is(ChunkKind::records)) note(head->lane, head->first + head->count, head->dropped);
    const std::size_t size = sizeof(ChunkHead) + head->payload_bytes;
    const auto chunk = window_.look(size);
    const bool is_there = chunk.size() == size;
    if (is_there && checksum_of(chunk.subspan(sizeof(ChunkHead))) == head->payload_checksum) {
      window_.skip(sizeof(ChunkHead));
      return head;
    }
    // Skips only the head of the damaged chunk. If bytes are missing inside this chunk, the next
    // chunk begins before the computed end of this chunk.
    give_up(is_there ? Lost::place : Lost::file_end, sizeof(ChunkHead));
  }
}

bool TraceReader::next(std::vector<EventRecord>& records) {
  records.clear();
  while (const auto head = next_chunk()) {
    const bool has_records = use(*head, records);
    window_.skip(head->payload_bytes);
    if (has_records) return true;
  }
  finish();
  return false;
}

bool TraceReader::use(const ChunkHead& head, std::vector<EventRecord>& records) {
  const auto payload = window_.look(head.payload_bytes);
  if (head.is(ChunkKind::end)) {
    use_totals(head, payload);
    return false;
  }
  if (!head.is(ChunkKind::records)) {
    ++losses_.chunks_unknown;
    losses_.bytes_unused += sizeof(ChunkHead) + payload.size();
    return false;
  }
  if (head.count == 0) return false;  // the chunk only reports the number of dropped records
  Lane& lane = lanes_[head.lane];
  if (head.first < lane.next) {
    ++losses_.chunks_repeated;
    losses_.bytes_unused += sizeof(ChunkHead) + payload.size();
    return false;
  }
  lane.next = head.first + head.count;
  lane.read += head.count;
  lane_ = head.lane;
  records.resize(head.count);
  std::memcpy(static_cast<void*>(records.data()), payload.data(), payload.size());
  return true;
}

void TraceReader::use_totals(const ChunkHead& head, std::span<const std::byte> payload) {
  for (std::uint32_t i = 0; i < head.count; ++i) {
    LaneTotal total;
    std::memcpy(&total, payload.data() + i * sizeof(total), sizeof(total));
    note(head.lane + i, total.records, total.dropped);
  }
  ended_ = ended_ || std::uint64_t{head.lane} + head.count == head.first;
}

void TraceReader::note(std::uint32_t lane, std::uint64_t existing, std::uint64_t dropped) {
  Lane& known = lanes_[lane];
  known.existing = std::max(known.existing, existing);
  known.dropped = std::max(known.dropped, dropped);
}

void TraceReader::finish() {
  if (std::exchange(finished_, true)) return;
  if (astray_ == Lost::file_end) ++losses_.chunks_cut_off;
  if (astray_ == Lost::place) ++losses_.damaged_places;
  for (const auto& [number, lane] : lanes_) {
    losses_.records_missing += lane.existing - lane.read;
    losses_.records_dropped += lane.dropped;
  }
}

namespace {

/// Collects the errors of a run's files.
class FileCheck {
 public:
  FileCheck(const Structure& structure, std::vector<std::string>& wrongs) : wrongs_(wrongs) {
    for (const auto& host : structure.hosts) {
      const auto number = static_cast<std::uint32_t>(hosts_.size());
      hosts_.emplace(host.name, number);
    }
  }

  void add(const std::filesystem::path& path, std::vector<TraceDirectory::File>& files) {
    TraceReader reader(path);
    const TraceHeader& header = reader.header();
    const auto found = hosts_.find(header.host);
    if (found == hosts_.end())
      return wrong(path, fmt::format("is of host '{}', which the run does not have", header.host));
    const std::uint32_t number = found->second;
    if (!reader.losses().is_header_damaged) {
      if (path.filename() != trace_file_name(header.host))
        return wrong(path, fmt::format("is of host '{}', not of that in its name", header.host));
      if (header.host_number != number)
        return wrong(path, fmt::format("says that it is of host {}, which is {} in the run",
                                       header.host_number, number));
      if (!is_of_same_run(path, header)) return;
    }
    files.push_back({path, number, header});
  }

 private:
  void wrong(const std::filesystem::path& path, std::string_view what) {
    wrongs_.push_back(base::visible(fmt::format("{}: {}", path.string(), what)));
  }

  bool is_of_same_run(const std::filesystem::path& path, const TraceHeader& header) {
    if (!first_) {
      first_ = header;
      return true;
    }
    const auto same = [&](std::string_view what, const auto& first, const auto& here) {
      if (first == here) return true;
      wrong(path, fmt::format("is of another run than host {}: its {} is {}, not {}", first_->host,
                              what, here, first));
      return false;
    };
    return same("plan", first_->plan, header.plan) && same("clock", first_->clock, header.clock) &&
           same("seed", first_->seed, header.seed);
  }

  std::unordered_map<std::string_view, std::uint32_t> hosts_;
  std::vector<std::string>& wrongs_;
  std::optional<TraceHeader> first_;
};

std::vector<std::filesystem::path> trace_files_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == trace_file_ending) files.push_back(at->path());
  }
  if (error)
    throw std::runtime_error(
        fmt::format("{}: cannot read: {}", directory.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

Structure read_structure(const std::filesystem::path& file) {
  const std::string text = read_whole(file);
  try {
    return structure_from_json(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace

TraceDirectory::TraceDirectory(const std::vector<std::filesystem::path>& directories)
    : path(directories.front()) {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> wrongs;
  for (const auto& directory : directories) {
    const auto here = trace_files_in(directory);
    if (here.empty()) wrongs.push_back(fmt::format("{}: no traces here", directory.string()));
    found.insert(found.end(), here.begin(), here.end());
  }
  bool has_structure = false;
  try {
    structure = read_structure(path / structure_file_name);
    has_structure = true;
    for (const auto& directory : directories)
      if (read_structure(directory / structure_file_name) != structure)
        wrongs.push_back(
            fmt::format("{}: is of another plan than {}", directory.string(), path.string()));
  } catch (const std::runtime_error& error) {
    wrongs.emplace_back(error.what());
  }
  FileCheck check(structure, wrongs);
  for (const auto& file : found) {
    try {
      if (has_structure)
        check.add(file, files);
      else
        TraceReader reader(file);  // throws if the file cannot be used
    } catch (const NoTrace& error) {
      no_traces.emplace_back(error.what());
    } catch (const std::runtime_error& error) {
      wrongs.emplace_back(error.what());
    }
  }
  std::sort(files.begin(), files.end(),
            [](const File& one, const File& other) { return one.host < other.host; });
  for (std::size_t i = 1; i < files.size(); ++i)
    if (files[i].host == files[i - 1].host)
      wrongs.push_back(fmt::format("{}: is of the same host as {}", files[i].path.string(),
                                   files[i - 1].path.string()));
  if (files.empty() || !wrongs.empty())
    wrongs.insert(wrongs.end(), no_traces.begin(), no_traces.end());
  if (!wrongs.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(wrongs, "\n")));
  std::size_t at = 0;
  for (std::uint32_t host = 0; host < structure.hosts.size(); ++host) {
    if (at < files.size() && files[at].host == host)
      ++at;
    else
      missing_hosts.push_back(structure.hosts[host].name);
  }
}

}  // namespace eventspace
