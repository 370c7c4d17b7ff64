// SPDX-License-Identifier: Apache-2.0
// eventspace/export/otf2.cpp — export of OTF2 archives, the only user of libotf2.
#include "eventspace/export/otf2.hpp"

#include <fmt/format.h>

#include <stdexcept>

#ifndef PATHS_HAS_OTF2

namespace eventspace {

Exported export_otf2(const TraceDirectory&, const std::filesystem::path& directory,
                     const std::vector<std::int64_t>&) {
  throw std::runtime_error(
      fmt::format("{}: this program was built without OTF2: install libopen-trace-format2-dev and "
                  "build again",
                  directory.string()));
}

}  // namespace eventspace

#else

#include <otf2/otf2.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/output_file.hpp"
#include "base/version.hpp"
#include "eventspace/export/intervals.hpp"

namespace eventspace {
namespace {

constexpr std::uint64_t events_chunk_bytes = OTF2_CHUNK_SIZE_MIN;
constexpr std::uint64_t definitions_chunk_bytes = OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT;
constexpr OTF2_AttributeRef round_attribute = 0;
constexpr OTF2_CommRef communicator = 0;
// Limits of the two parts of a message's tag: the round, and the number of the crossing. Numbers at
// or above a limit are truncated.
constexpr std::uint64_t tag_rounds = 1u << 20;
constexpr std::uint32_t tag_ways = 1u << 11;

/// While this object exists, it receives the errors that the library otherwise writes to standard
/// error. It keeps only the first error, because the first error causes all later errors.
class Reasons {
 public:
  Reasons() : before_(OTF2_Error_RegisterCallback(keep, &first_)) {}
  ~Reasons() { OTF2_Error_RegisterCallback(before_, nullptr); }
  Reasons(const Reasons&) = delete;
  Reasons& operator=(const Reasons&) = delete;
  const std::string& first() const { return first_; }

 private:
  static OTF2_ErrorCode keep(void* first, const char*, std::uint64_t, const char*,
                             OTF2_ErrorCode code, const char* format, va_list values) {
    char text[512] = "";
    std::vsnprintf(text, sizeof text, format, values);
    auto& kept = *static_cast<std::string*>(first);
    if (kept.empty()) kept = fmt::format("{}: {}", OTF2_Error_GetDescription(code), text);
    return code;
  }
  std::string first_;
  OTF2_ErrorCallback before_;
};

OTF2_FlushType always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

/// OTF2 archive that is being written. Converts errors of the library into exceptions.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& directory)
      : directory_(directory),
        archive_(
            OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, events_chunk_bytes,
                              definitions_chunk_bytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
            OTF2_Archive_Close) {
    static const OTF2_FlushCallbacks flush = {always, nullptr};
    check(get());
    check(OTF2_Archive_SetFlushCallbacks(get(), &flush, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(get()));
    check(OTF2_Archive_SetCreator(get(), fmt::format("PATHS {}", base::version).c_str()));
    check(OTF2_Archive_OpenEvtFiles(get()));
  }

  OTF2_Archive* get() const { return archive_.get(); }
  void check(OTF2_ErrorCode code) const {
    if (code != OTF2_SUCCESS) fail();
  }
  template <typename Handle>
  Handle* check(Handle* handle) const {
    if (handle == nullptr) fail();
    return handle;
  }
  void close() {
    check(OTF2_Archive_Close(archive_.release()));
    // The library reports a failed write only to its error callback. The call itself returns
    // success.
    if (!reasons_.first().empty()) fail();
  }

 private:
  /// Throws an error with the reason. The library does not report a full disk as the reason, so
  /// this function tries a write of its own.
  [[noreturn]] void fail() const {
    const int error = base::find_disk_error(directory_.string());
    const std::string& said = reasons_.first();
    throw std::runtime_error(error != 0     ? base::disk_error_text(directory_ / "traces", error)
                             : said.empty() ? "the library gives no reason"
                                            : said);
  }
  const std::filesystem::path& directory_;
  Reasons reasons_;
  std::unique_ptr<OTF2_Archive, OTF2_ErrorCode (*)(OTF2_Archive*)> archive_;
};

struct Location {
  std::uint32_t host = 0;
  std::string name;
  bool is_thread = false;
  std::uint64_t events = 0;
};

/// Folder of an archive. If an empty folder with the final name exists, the archive is written into
/// that folder. Otherwise the folder has a temporary name until the archive is complete. An
/// incomplete archive is removed.
class ArchiveFolder {
 public:
  explicit ArchiveFolder(const std::filesystem::path& directory) : target_(directory) {
    if (!target_.has_filename()) target_ = target_.parent_path();  // the path may be "a/"
    is_new_ = !std::filesystem::exists(target_);
    path_ =
        is_new_
            ? std::filesystem::path(fmt::format("{}.{}.unfinished", target_.string(), ::getpid()))
            : target_;
    make_directory(path_);
  }
  ~ArchiveFolder() {
    if (is_finished_) return;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
      std::filesystem::remove_all(entry.path(), ignored);
    if (is_new_) std::filesystem::remove(path_, ignored);
  }
  ArchiveFolder(const ArchiveFolder&) = delete;
  ArchiveFolder& operator=(const ArchiveFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void finish() {
    if (is_new_) std::filesystem::rename(path_, target_);
    is_finished_ = true;
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool is_new_ = true;
  bool is_finished_ = false;
};

/// Writes the events, track by track.
class Events : public IntervalVisitor {
 public:
  Events(Archive& archive, const Intervals& intervals)
      : archive_(archive),
        tracks_(intervals.tracks()),
        intervals_(intervals),
        attributes_(OTF2_AttributeList_New(), OTF2_AttributeList_Delete) {}

  void enter(std::uint32_t track, std::uint32_t row, const Interval& interval) override {
    OTF2_EvtWriter* writer = writer_of(track, row);
    const OTF2_TimeStamp time = intervals_.unsigned_time(interval.begin_nanos);
    if (interval.label != Tracks::thread_label)
      archive_.check(OTF2_AttributeList_AddUint64(attributes_.get(), round_attribute,
                                                  interval.record.sequence));
    archive_.check(OTF2_EvtWriter_Enter(writer, attributes_.get(), time, interval.label));
    if (const Crossing* in = tracks_.crossing_in(interval.probe))
      receive(writer, time, *in, in->from_host, interval);
    if (const Crossing* out = tracks_.crossing_out(interval.probe))
      send(writer, time, *out, out->to_host, interval);
  }

  void leave(std::uint32_t track, std::uint32_t row, const Interval& interval) override {
    OTF2_EvtWriter* writer = writer_of(track, row);
    const OTF2_TimeStamp time = intervals_.unsigned_time(interval.end_nanos);
    if ((interval.record.flags & event_one_way) == 0) {
      if (const Crossing* out = tracks_.crossing_out(interval.probe))
        receive(writer, time, *out, out->to_host, interval);
      if (const Crossing* in = tracks_.crossing_in(interval.probe))
        send(writer, time, *in, in->from_host, interval);
    }
    archive_.check(OTF2_EvtWriter_Leave(writer, nullptr, time, interval.label));
  }

  void end_track(std::uint32_t) override {
    for (const auto& [location, writer] : rows_) close(location, writer);
    rows_.clear();
  }

  /// Adds an empty location, because an MPI process needs at least one.
  void add_empty(std::uint32_t host, const std::string& name) {
    locations_.push_back({host, name, false, 0});
    const OTF2_LocationRef location = locations_.size() - 1;
    close(location, archive_.check(OTF2_Archive_GetEvtWriter(archive_.get(), location)));
  }
  const std::vector<Location>& locations() const { return locations_; }

 private:
  OTF2_EvtWriter* writer_of(std::uint32_t track, std::uint32_t row) {
    while (rows_.size() <= row) {
      const Track& here = tracks_.all()[track];
      locations_.push_back({here.host, here.name, here.thread != none, 0});
      const OTF2_LocationRef location = locations_.size() - 1;
      rows_.emplace_back(location,
                         archive_.check(OTF2_Archive_GetEvtWriter(archive_.get(), location)));
    }
    return rows_[row].second;
  }
  void close(OTF2_LocationRef location, OTF2_EvtWriter* writer) {
    archive_.check(OTF2_EvtWriter_GetNumberOfEvents(writer, &locations_[location].events));
    archive_.check(OTF2_Archive_CloseEvtWriter(archive_.get(), writer));
  }

  static std::uint32_t tag_of(const Crossing& crossing, const Interval& interval) {
    const std::uint64_t sequence = interval.record.sequence;
    return static_cast<std::uint32_t>(crossing.number % tag_ways * tag_rounds +
                                      sequence % tag_rounds);
  }
  void send(OTF2_EvtWriter* writer, OTF2_TimeStamp time, const Crossing& crossing,
            std::uint32_t to_host, const Interval& interval) {
    archive_.check(OTF2_EvtWriter_MpiSend(writer, nullptr, time, to_host, communicator,
                                          tag_of(crossing, interval), interval.record.bytes));
  }
  void receive(OTF2_EvtWriter* writer, OTF2_TimeStamp time, const Crossing& crossing,
               std::uint32_t from_host, const Interval& interval) {
    archive_.check(OTF2_EvtWriter_MpiRecv(writer, nullptr, time, from_host, communicator,
                                          tag_of(crossing, interval), interval.record.bytes));
  }

  Archive& archive_;
  const Tracks& tracks_;
  const Intervals& intervals_;
  std::unique_ptr<OTF2_AttributeList, OTF2_ErrorCode (*)(OTF2_AttributeList*)> attributes_;
  std::vector<Location> locations_;
  // Location and writer of each row of the current track.
  std::vector<std::pair<OTF2_LocationRef, OTF2_EvtWriter*>> rows_;
};

/// Writes the definitions: the names and properties of all objects to which events refer by a
/// number.
class Definitions {
 public:
  explicit Definitions(Archive& archive)
      : archive_(archive), writer_(archive.check(OTF2_Archive_GetGlobalDefWriter(archive.get()))) {}

  void add_clock(const Intervals& intervals) {
    const OTF2_TimeStamp begin = intervals.unsigned_time(intervals.begin_nanos());
    archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, 1'000'000'000, begin, intervals.unsigned_time(intervals.end_nanos()) - begin,
        intervals.is_utc() ? begin : OTF2_UNDEFINED_TIMESTAMP));
    archive_.check(OTF2_GlobalDefWriter_WriteAttribute(writer_, round_attribute, text("round"),
                                                       text("sequence of the operation"),
                                                       OTF2_TYPE_UINT64));
  }

  void add_hosts(const Structure& structure) {
    const auto clusters = static_cast<std::uint32_t>(structure.clusters.size());
    node(0, "run", "run", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster)
      node(1 + cluster, structure.clusters[cluster], "cluster", 0);
    for (std::uint32_t host = 0; host < structure.hosts.size(); ++host) {
      const Structure::Host& one = structure.hosts[host];
      node(1 + clusters + host, one.name, "host", 1 + one.cluster);
      archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, host, text(one.name), OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + clusters + host,
          OTF2_UNDEFINED_LOCATION_GROUP));
    }
  }

  void add_locations(const std::vector<Location>& locations, std::size_t hosts) {
    std::vector<std::uint64_t> first_location(hosts, OTF2_UNDEFINED_LOCATION);
    for (OTF2_LocationRef number = 0; number < locations.size(); ++number) {
      const Location& one = locations[number];
      archive_.check(OTF2_GlobalDefWriter_WriteLocation(
          writer_, number, text(one.name), OTF2_LOCATION_TYPE_CPU_THREAD, one.events, one.host));
      if (first_location[one.host] == OTF2_UNDEFINED_LOCATION) first_location[one.host] = number;
    }
    std::vector<std::uint64_t> ranks(hosts);
    for (std::uint64_t rank = 0; rank < hosts; ++rank) ranks[rank] = rank;
    const OTF2_StringRef name = text("hosts");
    group(0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, first_location);
    group(1, name, OTF2_GROUP_TYPE_COMM_GROUP, ranks);
    archive_.check(OTF2_GlobalDefWriter_WriteComm(writer_, communicator, name, 1,
                                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }

  void add_regions(const std::vector<Label>& labels) {
    for (std::uint32_t number = 0; number < labels.size(); ++number) {
      const Label& label = labels[number];
      const auto [file, line] = place_of(label.position);
      const bool is_wrapper = !label.position.empty();
      archive_.check(OTF2_GlobalDefWriter_WriteRegion(
          writer_, number, text(label.name), text(label.name), text(label.kind),
          is_wrapper ? OTF2_REGION_ROLE_WRAPPER : OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER,
          OTF2_REGION_FLAG_NONE, text(file), line, line));
    }
  }

 private:
  /// Returns file and line of a position such as "configs/a.yaml:12:5".
  static std::pair<std::string, std::uint32_t> place_of(const std::string& position) {
    const std::size_t column = position.rfind(':');
    const std::size_t line = column == std::string::npos ? column : position.rfind(':', column - 1);
    if (line == std::string::npos) return {position, OTF2_UNDEFINED_UINT32};
    std::uint32_t number = OTF2_UNDEFINED_UINT32;
    std::from_chars(position.data() + line + 1, position.data() + column, number);
    return {position.substr(0, line), number};
  }

  OTF2_StringRef text(const std::string& text) {
    const auto [found, is_new] =
        texts_.try_emplace(text, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new)
      archive_.check(OTF2_GlobalDefWriter_WriteString(writer_, found->second, text.c_str()));
    return found->second;
  }
  void node(std::uint32_t number, const std::string& name, const std::string& kind,
            OTF2_SystemTreeNodeRef parent) {
    archive_.check(
        OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, number, text(name), text(kind), parent));
  }
  void group(OTF2_GroupRef number, OTF2_StringRef name, OTF2_GroupType type,
             const std::vector<std::uint64_t>& members) {
    archive_.check(OTF2_GlobalDefWriter_WriteGroup(
        writer_, number, name, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
        static_cast<std::uint32_t>(members.size()), members.data()));
  }

  Archive& archive_;
  OTF2_GlobalDefWriter* writer_;
  std::unordered_map<std::string, OTF2_StringRef> texts_;
};

/// Writes a file of definitions for each location, because OTF2 requires one. The files are empty,
/// because the global file contains all definitions.
void write_local_definitions(Archive& archive, std::size_t locations) {
  archive.check(OTF2_Archive_OpenDefFiles(archive.get()));
  for (OTF2_LocationRef number = 0; number < locations; ++number)
    archive.check(OTF2_Archive_CloseDefWriter(
        archive.get(), archive.check(OTF2_Archive_GetDefWriter(archive.get(), number))));
  archive.check(OTF2_Archive_CloseDefFiles(archive.get()));
}

void write_archive(Intervals& intervals, const Structure& structure,
                   const std::filesystem::path& directory) {
  Archive archive(directory);
  Events events(archive, intervals);
  intervals.visit(events);
  std::vector<bool> has_location(structure.hosts.size(), false);
  for (const Location& location : events.locations()) has_location[location.host] = true;
  for (std::uint32_t host = 0; host < structure.hosts.size(); ++host)
    if (!has_location[host]) events.add_empty(host, structure.hosts[host].name);
  archive.check(OTF2_Archive_CloseEvtFiles(archive.get()));
  write_local_definitions(archive, events.locations().size());
  Definitions definitions(archive);
  definitions.add_clock(intervals);
  definitions.add_hosts(structure);
  definitions.add_regions(intervals.tracks().labels());
  definitions.add_locations(events.locations(), structure.hosts.size());
  archive.close();
}

}  // namespace

Exported export_otf2(const TraceDirectory& trace, const std::filesystem::path& directory,
                     const HostClocks& clocks) {
  if (std::filesystem::exists(directory) && !std::filesystem::is_empty(directory))
    throw std::runtime_error(
        fmt::format("{}: cannot write OTF2: is there already", directory.string()));
  try {
    ArchiveFolder folder(directory);
    Intervals intervals(trace, clocks, folder.path() / "traces");
    write_archive(intervals, trace.structure, folder.path());
    folder.finish();
    return intervals.exported();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(
        fmt::format("{}: cannot write OTF2: {}", directory.string(), error.what()));
  }
}

}  // namespace eventspace

#endif
