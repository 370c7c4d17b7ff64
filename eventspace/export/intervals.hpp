// SPDX-License-Identifier: Apache-2.0
// eventspace/export/intervals.hpp — tracks with nested intervals, the form in which tools read
// traces.
#pragma once
#include <algorithm>
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

/// Result of an export. Losses of the trace are no errors, but are reported to the user.
struct Exported {
  std::uint64_t records = 0;
  TraceLosses losses;
};

/// Visits all readable records host by host, with times on the common clock.
Exported for_each_record(
    const TraceDirectory& trace, const HostClocks& clocks,
    const std::function<void(std::uint32_t host, const EventRecord& record)>& visit);

/// A line of a timeline, with intervals that follow each other or nest. It shows a thread, a node
/// of a tree, a link, or the reads of another cluster's values by a check. A node of a tree is a
/// chain of event collectors (wrappers that record operations) on one host. It begins below a join,
/// or where operations arrive from another host.
struct Track {
  std::uint32_t host = 0;
  std::uint32_t thread = none;  ///< rank of the thread that the track shows
  std::string name;
};

/// Description of intervals for people.
struct Label {
  std::string name;
  std::string kind;      ///< kind of the wrapper
  std::string position;  ///< file and line of the wrapper in the config
};

/// The place where a path continues on another host (a wrapper of the kind `forward`).
struct Crossing {
  std::uint32_t from_host = 0;
  std::uint32_t to_host = 0;
  std::uint32_t number = 0;  ///< index among the crossings between the two hosts
};

/// Finds for each record its track, its label, and the crossings over which its operation was sent.
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
  /// Adds labels for the names of group operations. The structure does not have these names, so
  /// records contain them.
  void learn(const EventRecord& record);
  /// Returns the track and depth of a record. Each host has a separate track for records that refer
  /// to nothing in the structure.
  Place place_of(std::uint32_t host, const EventRecord& record);

  const Structure& structure() const { return shape_.structure; }
  const std::vector<Track>& all() const { return tracks_; }
  const std::vector<Label>& labels() const { return labels_; }
  std::uint32_t label_of(const EventRecord& record) const;
  std::uint32_t label_of_operation(std::uint32_t leaf) const;
  std::uint32_t probe_of(const EventRecord& record) const;
  /// Returns the number of the Leaf at which a thread's operation begins its path. Returns none if
  /// the record is not about an operation of a thread.
  std::uint32_t leaf_of(const EventRecord& record) const;
  std::uint32_t leaves() const { return static_cast<std::uint32_t>(shape_.leaves.size()); }
  const Crossing* crossing_out(std::uint32_t probe) const { return crossing(crossing_out_, probe); }
  const Crossing* crossing_in(std::uint32_t probe) const { return crossing(crossing_in_, probe); }
  std::uint32_t probe_below(std::uint32_t probe) const { return shape_.probes[probe].below; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // host, stage, slot
  void add_labels();
  void add_probes();
  void add_crossings();
  std::uint32_t head_track(std::uint32_t probe);
  std::string head_name(std::uint32_t probe) const;
  std::string wrapper_name(std::uint32_t stage) const;
  Place place_in_group(std::uint32_t host, const EventRecord& record);
  std::uint32_t label_in_group(const EventRecord& record) const;
  std::uint32_t track_at(const Key& key, const std::function<std::string()>& name);
  const Crossing* crossing(const std::vector<std::uint32_t>& by_probe, std::uint32_t probe) const {
    return probe == none || by_probe[probe] == none ? nullptr : &crossings_[by_probe[probe]];
  }

  Shape shape_;
  std::vector<Track> tracks_;  // tracks of threads come first
  std::vector<Label> labels_;
  std::vector<std::uint32_t> label_of_stage_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Place> places_;                // track and depth of each Probe
  std::vector<std::uint32_t> crossing_out_;  // index in `crossings_` of each Probe's crossing
  std::vector<std::uint32_t> crossing_in_;
  std::vector<Crossing> crossings_;
  GroupTexts texts_;
  std::uint32_t transfer_label_ = 0;  // index of the label; 0 = not created
  std::uint32_t first_call_label_ = 0;
  // Label of the first GroupAction. The labels of the other actions and of operations without a
  // known name follow; 0 = not created.
  std::uint32_t first_group_label_ = 0;
  // Indexes of labels, keyed by number of the text.
  std::map<std::uint32_t, std::uint32_t> group_labels_;
};

/// Part of a track's time, such as an operation or a computation.
struct Interval {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  std::uint32_t label = 0;
  std::uint32_t probe = none;  ///< Probe at which the operation passed a collector
  std::uint32_t leaf = none;   ///< leaf of a thread's operation, and of the computation before it
  EventRecord record;  ///< record of the interval; for a computation, record of the next operation
};

/// Receives the intervals of each track in nested order: enter() at the begin of an interval,
/// leave() at its end. Calls of enter() are in the order of the begins. An interval is left before
/// the next one on its row is entered, unless it encloses that one. Intervals that overlap without
/// nesting, such as messages on a link, are on different rows. Most tracks use only the first row.
class IntervalVisitor {
 public:
  virtual ~IntervalVisitor() = default;
  virtual void enter(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void leave(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void end_track(std::uint32_t track) = 0;
};

/// Nested intervals of a trace, in bounded memory. The records are sorted in a temporary file,
/// `scratch`.
class Intervals {
 public:
  /// `wanted` selects tracks; empty = all.
  Intervals(const TraceDirectory& trace, const HostClocks& clocks,
            const std::filesystem::path& scratch,
            const std::function<bool(const Track&)>& wanted = {},
            std::size_t sort_bytes = std::size_t{64} << 20);

  /// Visits the intervals track by track, any number of times.
  void visit(IntervalVisitor& visitor);

  const Tracks& tracks() const { return tracks_; }
  const Exported& exported() const { return exported_; }
  std::int64_t begin_nanos() const { return begin_nanos_; }
  std::int64_t end_nanos() const { return end_nanos_; }
  /// Returns a time for formats without negative times. If begin_nanos() is negative, the result
  /// counts from begin_nanos(), otherwise from 0.
  std::uint64_t unsigned_time(std::int64_t nanos) const {
    const std::int64_t zero = std::min<std::int64_t>(0, begin_nanos_);
    return static_cast<std::uint64_t>(nanos) - static_cast<std::uint64_t>(zero);
  }
  bool is_utc() const { return is_utc_; }

 private:
  Tracks tracks_;
  SpanSort sort_;
  Exported exported_;
  std::int64_t begin_nanos_ = 0;
  std::int64_t end_nanos_ = 0;
  bool is_utc_ = false;
};

/// A new output file. It buffers text or bytes and writes them in large pieces.
/// Throws: std::runtime_error if the file exists.
class ExportFile {
 public:
  explicit ExportFile(const std::filesystem::path& path);
  std::string& text() { return text_; }  ///< buffer to append to
  void write_when_much();
  void finish();

 private:
  void write();
  base::OutputFile file_;
  std::string text_;
};

std::string_view name_of_kind(const EventRecord& record);       ///< "operation", "link"
std::string_view name_of_operation(const EventRecord& record);  ///< "move"; "" for other kinds
std::string names_of_flags(const EventRecord& record);          ///< "one_way|remote"

}  // namespace eventspace
