// SPDX-License-Identifier: Apache-2.0
// eventspace/export/intervals.hpp — a trace as other tools want it: tracks with intervals that
// nest.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/output_file.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/export/interval_sort.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/trace/host_clocks.hpp"
#include "eventspace/trace/reader.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {

/// What an export read. A trace's losses are no errors, but whoever asked for it wants to know.
struct Exported {
  std::uint64_t records = 0;
  TraceLosses losses;
};

/// All records that can be read, with their times on the common clock; host by host.
Exported for_each_record(
    const TraceDirectory& trace, const HostClocks& clocks,
    const std::function<void(std::uint32_t host, const EventRecord& record)>& visit);

/// Where things happen one after another or within each other: a thread, a node of a tree (what is
/// behind a join, or was entered from another host), a link, reads of a cluster's values.
struct Track {
  std::uint32_t host = 0;
  std::uint32_t thread = none;  ///< rank
  std::string name;
};

/// What an interval is, for people.
struct Label {
  std::string name;
  std::string kind;      ///< of the wrapper
  std::string position;  ///< in the config
};

/// A wrapper that sends operations to another host, and where they come out there.
struct Crossing {
  std::uint32_t from_host = 0;
  std::uint32_t to_host = 0;
  std::uint32_t number = 0;  ///< among those between the two hosts
};

/// Which track a record belongs to, what it is called, and what messages it means.
class Tracks {
 public:
  static constexpr std::uint32_t computation_label = 0, thread_label = 1, unknown_label = 2,
                                 clock_label = 3;
  static constexpr std::uint32_t operation_depth = 1;

  explicit Tracks(const Structure& structure);
  struct Place {
    std::uint32_t track = 0;
    std::uint32_t depth = 0;
  };
  /// Names of groups' operations are in the records themselves: they are labels from then on.
  void learn(const EventRecord& record);
  /// What refers to nothing is on a track of its own, by host.
  Place place_of(std::uint32_t host, const EventRecord& record);

  const Structure& structure() const { return shape_.structure; }
  const std::vector<Track>& all() const { return tracks_; }
  const std::vector<Label>& labels() const { return labels_; }
  std::uint32_t label_of(const EventRecord& record) const;
  std::uint32_t label_of_operation(std::uint32_t leaf) const;
  std::uint32_t lane_of(const EventRecord& record) const;
  /// Of a thread's operation: where its path begins; none of other records.
  std::uint32_t leaf_of(const EventRecord& record) const;
  std::uint32_t leaves() const { return static_cast<std::uint32_t>(shape_.leaves.size()); }
  const Crossing* crossing_out(std::uint32_t lane) const { return crossing(crossing_out_, lane); }
  const Crossing* crossing_in(std::uint32_t lane) const { return crossing(crossing_in_, lane); }
  std::uint32_t lane_below(std::uint32_t lane) const { return shape_.lanes[lane].below; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // host, stage, slot
  void add_labels();
  void add_lanes();
  void add_crossings();
  std::uint32_t head_track(std::uint32_t lane);
  std::string head_name(std::uint32_t lane) const;
  std::string wrapper_name(std::uint32_t stage) const;
  Place place_in_group(std::uint32_t host, const EventRecord& record);
  std::uint32_t label_in_group(const EventRecord& record) const;
  std::uint32_t track_at(const Key& key, const std::function<std::string()>& name);
  const Crossing* crossing(const std::vector<std::uint32_t>& by_lane, std::uint32_t lane) const {
    return lane == none || by_lane[lane] == none ? nullptr : &crossings_[by_lane[lane]];
  }

  Shape shape_;
  std::vector<Track> tracks_;  // those of threads first
  std::vector<Label> labels_;
  std::vector<std::uint32_t> label_of_stage_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Place> places_;                // by lane
  std::vector<std::uint32_t> crossing_out_;  // by lane
  std::vector<std::uint32_t> crossing_in_;
  std::vector<Crossing> crossings_;
  GroupTexts texts_;
  std::uint32_t transfer_label_ = 0;     // 0: none yet
  std::uint32_t first_group_label_ = 0;  // of the actions, then of what has no name; 0: none yet
  std::map<std::uint32_t, std::uint32_t> group_labels_;  // by number of the name
};

/// A part of a track's time.
struct Interval {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  std::uint32_t label = 0;
  std::uint32_t lane = none;  ///< of an operation that passed a collector
  std::uint32_t leaf = none;  ///< of a thread's operation, and of the computation before it
  EventRecord record;         ///< whose it is; of a computation: that of the operation behind it
};

/// Sees each track's intervals nested: entered in order of time, left before the next begins or
/// before the one around them is. Those that overlap without nesting, such as messages under way
/// on a link, are on different rows, of which most tracks have only the first.
class IntervalVisitor {
 public:
  virtual ~IntervalVisitor() = default;
  virtual void enter(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void leave(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void end_track(std::uint32_t track) = 0;
};

/// A trace in memory that does not grow with it: sorted by way of a file next to what is exported.
class Intervals {
 public:
  /// `wanted`: which tracks; empty for all.
  Intervals(const TraceDirectory& trace, const HostClocks& clocks,
            const std::filesystem::path& scratch,
            const std::function<bool(const Track&)>& wanted = {},
            std::size_t sort_bytes = std::size_t{64} << 20);

  /// Track by track, as often as wanted.
  void visit(IntervalVisitor& visitor);

  const Tracks& tracks() const { return tracks_; }
  const Exported& exported() const { return exported_; }
  std::int64_t begin_nanos() const { return begin_nanos_; }
  std::int64_t end_nanos() const { return end_nanos_; }
  bool is_utc() const { return is_utc_; }

 private:
  Tracks tracks_;
  SpanSort sort_;
  Exported exported_;
  std::int64_t begin_nanos_ = 0;
  std::int64_t end_nanos_ = 0;
  bool is_utc_ = false;
};

/// A text or bytes on their way to a new file. Throws std::runtime_error if the file is there.
class ExportFile {
 public:
  explicit ExportFile(const std::filesystem::path& path);
  std::string& text() { return text_; }  ///< to append to
  void write_when_much();
  void finish();

 private:
  void write();
  base::OutputFile file_;
  std::string text_;
};

std::string_view name_of_kind(const EventRecord& record);       ///< "operation", "link"
std::string_view name_of_operation(const EventRecord& record);  ///< "move"; "" of other kinds
std::string names_of_flags(const EventRecord& record);          ///< "one_way|remote"

}  // namespace eventspace
