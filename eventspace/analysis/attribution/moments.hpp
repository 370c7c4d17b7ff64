// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/moments.hpp — the moments of a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eventspace/analysis/attribution/labels.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// A time in a run at which something happened.
struct Moment {
  enum class Kind : std::uint8_t {
    nothing,
    down,          ///< an operation passed a collector; number of the pass
    up,            ///< its result passed back
    node,          ///< part of a group's operation; number of the node
    thread_begin,  ///< rank of the thread
    thread_end,    ///< rank of the thread
  };
  Kind kind = Kind::nothing;
  std::uint32_t number = 0;
  explicit operator bool() const { return kind != Kind::nothing; }
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// Name of the operations that threads do on one object.
struct OperationName {
  std::string object;          ///< collective, element or group
  std::string kind;            ///< "move", "observe", or for a group "allreduce"
  bool is_collective = false;  ///< whether several contributors take part in each operation
  friend auto operator<=>(const OperationName&, const OperationName&) = default;
};

/// A call of a thread on a path or on a group.
struct ThreadOperation {
  std::int64_t down_nanos = 0;
  std::int64_t up_nanos = 0;
  std::uint32_t name = 0;     ///< number of its OperationName
  std::uint32_t leaf = none;  ///< begin of its path; none for a group
  std::uint64_t kind = 0;     ///< number of the operation on the path, or a number for a group's
  Moment end;
  std::uint32_t label_before = 0;  ///< label of the thread's time before it: computing or unknown
  std::uint32_t arrival = none;    ///< place of its record among all records, if it is known
  std::uint64_t number = 0;        ///< number of the move, or of the host's share in a group
};

/// A place in a program: between an operation on one object and an operation on another.
struct PlaceInProgram {
  std::string after;  ///< collective, element or group; "" if the thread begins there
  std::string before;
  friend auto operator<=>(const PlaceInProgram&, const PlaceInProgram&) = default;
};

/// From the begin to the end of a thread, as far as the trace shows them.
struct ThreadLife {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  bool has_begun = false;
  bool has_ended = false;
};

/// Types in which the analysis keeps the records of a run.
struct MomentTypes {
  struct KeptPass {
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
    std::uint32_t round = 0;
    std::uint32_t bytes : 24 = 0;
    std::uint32_t flags : 8 = 0;
    std::uint32_t order = 0;  // place among the thread's operations, for a leaf of a thread
    bool is_started = false;  // whether the thread went on without the result
    bool is_here = false;
  };
  struct KeptRound {
    std::uint32_t tree = 0;
    std::uint32_t first_pass = 0;
    std::uint64_t sequence : 56 = 0;
    std::uint64_t kind : 8 = 0;
  };
  struct Node {
    std::int64_t time_nanos = 0;
    std::uint32_t host = none;
    std::uint32_t name = none;
    std::uint32_t thread = none;  // rank, for the begin and end of a member's call
    std::uint32_t order = 0;
    bool is_end = false;
    std::uint32_t first_before = 0;
    std::uint32_t befores = 0;
  };
  struct Before {
    std::uint32_t node = 0;
    Moment moment;
    std::uint32_t label = 0;
  };
  struct TimedMoment {
    std::int64_t time_nanos = 0;
    Moment moment;
  };
  /// Tuple that was stored in an element.
  struct StoredTuple : TimedMoment {
    std::uint64_t round = unknown_round;  // round of its value, if it is the value of a cluster
  };
  static constexpr std::uint64_t unknown_round = ~std::uint64_t{0};
  /// Call by which a thread starts an operation, or waits for one.
  struct ThreadCall {
    std::uint32_t leaf = none;  // none for an operation of a group
    std::uint64_t number = 0;   // number of the move, or of the share
    bool is_wait = false;
    std::uint32_t arrival = 0;
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
  };
  struct ThreadState {
    ThreadLife life;
    std::vector<ThreadCall> calls;
    std::vector<std::int64_t> marks;  // ends of iterations, as the program marks them
    std::vector<ThreadOperation> operations;
    std::vector<Moment> begins;  // begin of each operation
    std::vector<TimedMoment> moments;
    std::vector<std::uint32_t> place_of_begin, place_of_end;  // in `moments`
  };
  /// What happens between a collector and the next one below.
  struct HopLabels {
    std::uint32_t down = 0;
    std::uint32_t up = 0;
    std::uint32_t runtime = 0;       // work of the collector's host itself
    std::uint32_t link_down = none;  // stage of an emulated link that delays on the way down
    std::uint32_t link_up = none;    // the same on the way up
    std::uint32_t check = none;      // wrapper of a check
    std::uint64_t lag = 0;           // rounds by which results are late
    bool is_schedule = false;        // whether a group carries out the operation here
  };
  struct LinkPassage {
    std::int64_t up_nanos = 0;
    std::int64_t down_nanos = 0;
    std::int64_t queued_nanos = 0;
  };
  struct CacheRead {
    std::uint32_t slot = 0;
    std::int64_t up_nanos = 0;
  };
  /// Wrapper that begins a path.
  struct Driver {
    std::uint32_t fills = none;  // element that a prefetch fills
    std::uint32_t sends = none;  // element whose tuples a push sends
    std::uint32_t asks = none;   // element of requests that a push answers
    std::vector<TimedMoment> ends;
  };
};

/// The moments of a run, and the objects of which they are. A MomentReader fills it from records,
/// and Bindings tells what each moment waited for.
///
/// Memory: about 90 bytes for each record of an operation.
class Moments : private MomentTypes {
 public:
  /// has_common_clock: whether times of different hosts can be compared.
  Moments(const Shape& shape, bool has_common_clock);

  std::int64_t time_of(Moment moment) const;
  std::uint32_t host_of(Moment moment) const;
  /// Returns the rank of the thread of which this moment is the begin or end of an operation, or
  /// none.
  std::uint32_t thread_of(Moment moment) const;
  /// Returns the name of the object whose operation the moment is part of, or none.
  std::uint32_t name_at(Moment moment) const;
  /// Returns the place among its thread's operations of the one that begins or ends then.
  std::uint32_t order_of(Moment moment) const;

  /// All moments have an index below count(). Some indexes stand for records that are missing.
  std::uint32_t count() const;
  std::uint32_t index_of(Moment moment) const;
  Moment at(std::uint32_t index) const;  ///< none if the record is missing

  std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }
  const ThreadLife& life_of(std::uint32_t thread) const { return threads_[thread].life; }
  /// Returns the operations of a thread in the order of their begins.
  const std::vector<ThreadOperation>& operations_of(std::uint32_t thread) const {
    return threads_[thread].operations;
  }
  /// Returns the times at which a thread marked the end of an iteration.
  const std::vector<std::int64_t>& marks_of(std::uint32_t thread) const {
    return threads_[thread].marks;
  }
  const std::vector<OperationName>& names() const { return names_; }
  /// Returns the place of a label of computing.
  const PlaceInProgram& place_of(const TimeLabel& label) const { return places_[label.other]; }
  /// Returns the collectives and elements on which threads have paths without a collector.
  std::vector<std::string> not_recorded() const;
  const Labels& labels() const { return labels_; }
  const Structure& structure() const { return shape_.structure; }
  bool has_common_clock() const { return has_common_clock_; }
  /// Whether the moments end before the run, because it has too many records.
  bool is_cut() const { return is_cut_; }

 private:
  friend class MomentReader;
  friend class Bindings;

  const Lane& lane_of(std::uint32_t pass) const;
  const KeptPass* pass_at(const KeptRound& round, std::uint32_t lane) const;
  std::uint32_t pass_number(const KeptRound& round, std::uint32_t lane) const {
    return round.first_pass + shape_.lanes[lane].place;
  }

  const Shape& shape_;
  const bool has_common_clock_;
  bool is_cut_ = false;
  Labels labels_;
  std::vector<HopLabels> hop_labels_;
  std::vector<KeptPass> passes_;
  std::vector<KeptRound> rounds_;
  std::vector<Node> nodes_;
  std::vector<Before> befores_;  // sorted by node in prepare()
  std::vector<ThreadState> threads_;
  std::vector<PlaceInProgram> places_{1};  // the first one is the end of a thread
  std::vector<OperationName> names_;
  std::map<OperationName, std::uint32_t> number_of_name_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> name_of_leaf_kind_;
  std::unordered_map<std::uint32_t, std::uint32_t> name_of_graph_;

  std::map<std::string, std::uint32_t, std::less<>> element_numbers_;
  std::vector<std::vector<StoredTuple>> stores_;  // indexed by element; in the order of time
  std::vector<std::vector<TimedMoment>> rooms_;   // reads and discards of tuples, by element
  std::vector<std::uint32_t> element_of_lane_;    // element at the end of the path, or none
  std::vector<std::vector<std::uint32_t>> asked_at_lane_;  // elements of a check's requests
  std::unordered_map<std::uint32_t, Driver> drivers_;      // keyed by leaf
  // Ends of hosts' parts in operations that a group carries out for a declared collective, keyed by
  // host and collective.
  std::map<std::pair<std::uint32_t, std::string>, std::vector<TimedMoment>> share_ends_;
  // Moments at which all contributors of a join had arrived, keyed by round. Only for joins that no
  // collector follows.
  std::unordered_map<std::uint32_t, std::uint32_t> all_arrived_;
  std::unordered_map<std::uint32_t, std::uint32_t> starts_;  // node of the call, keyed by pass
  // Elements of the values that a check combines, keyed by its wrapper.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> caches_;
  // Rounds of trees with late results, keyed by tree and sequence.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> lagged_rounds_;
  // Keyed by the wrapper of a check and the round.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<CacheRead>> cache_reads_;
  std::unordered_map<std::uint32_t, std::vector<LinkPassage>> passages_;  // keyed by stage
};

}  // namespace eventspace
