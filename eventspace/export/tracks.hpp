// SPDX-License-Identifier: Apache-2.0
// eventspace/export/tracks.hpp — lines of a timeline (tracks), and the track of each record.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// A line of a timeline, with intervals that follow each other or nest. A track shows a thread, a
/// node of a tree, a link, or a check's reads of another cluster's values. A node of a tree is a
/// chain of event collectors (wrappers that record operations) on one host. The chain begins below
/// a join, or where operations arrive from another host.
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

/// Finds for each record its track, its label, and the crossings at which its operation passed to
/// another host.
class Tracks {
 public:
  static constexpr std::uint32_t computation_label = 0, thread_label = 1, unknown_label = 2,
                                 clock_label = 3;
  /// Nesting depth of records that enclose operations: records of threads and of prefetches.
  static constexpr std::uint32_t whole_depth = 0;
  static constexpr std::uint32_t operation_depth = 1;

  explicit Tracks(const Structure& structure);
  struct Place {
    std::uint32_t track = 0;
    std::uint32_t depth = 0;
  };
  /// Reads a record that contains a part of the name of a group operation. Adds labels when the
  /// name is complete. The names are in records because the structure does not have them.
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
  std::vector<Place> places_;                // track and depth, indexed by Probe
  std::vector<std::uint32_t> crossing_out_;  // index in `crossings_` or none, per Probe
  std::vector<std::uint32_t> crossing_in_;
  std::vector<Crossing> crossings_;
  GroupTexts texts_;
  std::uint32_t transfer_label_ = 0;  // index in `labels_`; 0 = not created yet
  std::uint32_t first_call_label_ = 0;
  // Index of the label of the first GroupAction; 0 = not created. The labels of the other actions
  // follow it, then the label of operations without a known name.
  std::uint32_t first_group_label_ = 0;
  // Indexes of labels, keyed by number of the text.
  std::map<std::uint32_t, std::uint32_t> group_labels_;
};

}  // namespace eventspace
