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

/// An event of a run at one point in time. Examples are the begin and the end of an operation at a
/// collector (a wrapper that records operations).
struct Moment {
  enum class Kind : std::uint8_t {
    nothing,
    down,          ///< an operation passed a collector; `number`: index of its KeptPass
    up,            ///< an operation's result passed a collector; `number` as for `down`
    node,          ///< event of a group's operation; `number`: index of a Node
    thread_begin,  ///< begin of a thread; `number`: rank of the thread
    thread_end,    ///< end of a thread; `number`: rank of the thread
  };
  Kind kind = Kind::nothing;
  std::uint32_t number = 0;
  explicit operator bool() const { return kind != Kind::nothing; }
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// Kind of operation on one object, such as "observe" on an element.
struct OperationName {
  std::string object;          ///< collective, element or group
  std::string kind;            ///< such as "move" or "observe"; in a group, such as "allreduce"
  bool is_collective = false;  ///< whether several contributors take part in each operation
  friend auto operator<=>(const OperationName&, const OperationName&) = default;
};

/// An operation of a thread on a path or in a group, or a call that starts or awaits such an
/// operation.
struct ThreadOperation {
  std::int64_t down_nanos = 0;
  std::int64_t up_nanos = 0;
  std::uint32_t name = 0;     ///< index in Moments::names()
  std::uint32_t leaf = none;  ///< number of the path's Leaf; none for a group
  /// Kind as a number. It is the kind of operation for an operation on a path, and
  /// group_operation_kind() for an operation of a group. For a call that starts or awaits an
  /// operation, it is an EventKind.
  std::uint64_t kind = 0;
  Moment end;
  /// Number of the label of the thread's time before the operation: computing or unknown.
  std::uint32_t label_before = 0;
  std::uint32_t arrival = none;  ///< index of the operation's record among all records
  /// Sequence of the operation on its path. For a group's operation: number of the host's share.
  std::uint64_t number = 0;
};

/// A place in a program at which a thread computes: the place between operations on two objects.
struct PlaceInProgram {
  std::string after;  ///< object before the computation; "" at the thread's begin
  std::string before;
  friend auto operator<=>(const PlaceInProgram&, const PlaceInProgram&) = default;
};

/// Begin and end of a thread, as far as the trace shows them.
struct ThreadLife {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  bool has_begun = false;
  bool has_ended = false;
};

/// Types of the data that the analysis keeps of a run.
struct MomentTypes {
  struct KeptPass {
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
    std::uint32_t round = 0;
    std::uint32_t bytes : 24 = 0;
    std::uint32_t flags : 8 = 0;
    // Index of the operation among its thread's operations. It is set only if a thread's path
    // begins at the collector.
    std::uint32_t order = 0;
    bool is_started = false;  // whether the thread started the operation without waiting
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
    std::uint32_t thread = none;  // rank of the thread whose call begins or ends at the node
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
  /// Moment at which a tuple was stored in an element.
  struct StoredTuple : TimedMoment {
    std::uint64_t round = unknown_round;  // round of the tuple, if it is a cluster's value
  };
  static constexpr std::uint64_t unknown_round = ~std::uint64_t{0};
  /// Call by which a thread starts an operation, or waits for an operation.
  struct ThreadCall {
    std::uint32_t leaf = none;  // number of the path's Leaf; none for a group
    std::uint64_t number = 0;   // sequence of the move, or of the operation in a group
    bool is_wait = false;
    std::uint32_t arrival = 0;
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
  };
  struct ThreadState {
    ThreadLife life;
    std::vector<ThreadCall> calls;
    std::vector<std::int64_t> marks;  // times at which the program marked ends of iterations
    std::vector<ThreadOperation> operations;
    std::vector<Moment> begins;  // begin of each of the `operations`
    std::vector<TimedMoment> moments;
    // Indexes in `moments` of the begin and end of each operation.
    std::vector<std::uint32_t> place_of_begin, place_of_end;
  };
  /// Labels of the time that operations spend between a collector and the next collector below.
  struct HopLabels {
    std::uint32_t down = 0;
    std::uint32_t up = 0;
    std::uint32_t runtime = 0;       // label of the work that the collector's host does
    std::uint32_t link_down = none;  // stage of an emulated link that delays on the way down
    std::uint32_t link_up = none;    // stage of an emulated link that delays on the way up
    std::uint32_t check = none;      // condition check, as index in Structure::wrappers
    std::uint64_t lag = 0;           // a round returns the result of `lag` rounds before
    bool is_schedule = false;        // whether a group carries out the operation
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
  /// Wrapper that begins a path. `none` = the wrapper has no such element.
  struct Driver {
    std::uint32_t fills = none;  // element into which a prefetch writes
    std::uint32_t sends = none;  // element whose tuples a push sends
    std::uint32_t asks = none;   // element with the requests to which a push replies
    std::vector<TimedMoment> ends;
    // Ends of the threads on the host of a push. The host stops after them, and the push then sends
    // its newest tuple even without a request. Empty if the trace does not show all of them.
    std::vector<Moment> stops;
  };
};

/// The moments of a run, with their threads, hosts and operations. A MomentReader fills it from
/// records, and Bindings finds the moment for which each moment waited.
///
/// Memory: about 90 bytes for each record of an operation.
class Moments : private MomentTypes {
 public:
  /// `has_common_clock` tells whether times of different hosts can be compared.
  Moments(const Shape& shape, bool has_common_clock);

  std::int64_t time_of(Moment moment) const;
  std::uint32_t host_of(Moment moment) const;
  /// Returns the rank of the thread that begins or ends at the moment, or whose operation begins or
  /// ends at it. Returns none for other moments.
  std::uint32_t thread_of(Moment moment) const;
  /// Returns the name (index in names()) of the operation to which the moment belongs, or none.
  std::uint32_t name_at(Moment moment) const;
  /// Returns the index in operations_of() of the operation that begins or ends at the moment.
  std::uint32_t order_of(Moment moment) const;

  /// Returns the number of indexes. Moments have indexes from 0 to count() - 1. Some of the indexes
  /// stand for missing records.
  std::uint32_t count() const;
  std::uint32_t index_of(Moment moment) const;
  Moment at(std::uint32_t index) const;  ///< an empty Moment if the record is missing

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
  /// Returns the place in the program of a label with the cause computing or noise.
  const PlaceInProgram& place_of(const TimeLabel& label) const { return places_[label.other]; }
  /// Returns the collectives and elements on which threads have paths without a collector.
  std::vector<std::string> not_recorded() const;
  const Labels& labels() const { return labels_; }
  const Structure& structure() const { return shape_.structure; }
  bool has_common_clock() const { return has_common_clock_; }
  /// Whether the moments cover only the first part of the run because the run has too many records.
  bool is_cut() const { return is_cut_; }

 private:
  friend class MomentReader;
  friend class Bindings;

  const Probe& probe_of(std::uint32_t pass) const;
  const KeptPass* pass_at(const KeptRound& round, std::uint32_t probe) const;
  std::uint32_t pass_number(const KeptRound& round, std::uint32_t probe) const {
    return round.first_pass + shape_.probes[probe].place;
  }

  const Shape& shape_;
  const bool has_common_clock_;
  bool is_cut_ = false;
  Labels labels_;
  std::vector<HopLabels> hop_labels_;
  std::vector<KeptPass> passes_;
  std::vector<KeptRound> rounds_;
  std::vector<Node> nodes_;
  std::vector<Before> befores_;  // sorted by node when prepare() has returned
  std::vector<ThreadState> threads_;
  std::vector<PlaceInProgram> places_{1};  // index 0: between the last operation and the end
  std::vector<OperationName> names_;
  std::map<OperationName, std::uint32_t> number_of_name_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> name_of_leaf_kind_;
  std::unordered_map<std::uint32_t, std::uint32_t> name_of_graph_;

  std::map<std::string, std::uint32_t, std::less<>> element_numbers_;
  // Moments at which tuples were stored, indexed by element. The moments of each element are sorted
  // by time.
  std::vector<std::vector<StoredTuple>> stores_;
  // Moments at which tuples were read or discarded, indexed by element. A read or discard may make
  // room for a move.
  std::vector<std::vector<TimedMoment>> rooms_;
  std::vector<std::uint32_t> element_of_probe_;  // element at the end of the Probe's path, or none
  // Elements into which the condition check at each Probe writes requests.
  std::vector<std::vector<std::uint32_t>> asked_at_probe_;
  // Drivers (wrappers that begin a path), keyed by leaf.
  std::unordered_map<std::uint32_t, Driver> drivers_;
  // Ends of hosts' shares in the operations that a group carries out for a declared collective. The
  // key is the host and the collective.
  std::map<std::pair<std::uint32_t, std::string>, std::vector<TimedMoment>> share_ends_;
  // Node of the moment at which the last contributor arrived at the lowest join, keyed by round.
  // Only a join without a collector below has such a node.
  std::unordered_map<std::uint32_t, std::uint32_t> all_arrived_;
  // Node of the return of the call that started an operation, keyed by the operation's first pass.
  std::unordered_map<std::uint32_t, std::uint32_t> starts_;
  // Elements that contain the clusters' values that a check combines, keyed by the check's wrapper.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> caches_;
  // Rounds of trees with a `lagged` wrapper, which returns results of earlier rounds. The value is
  // the index in `rounds_`; the key is tree and sequence.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> lagged_rounds_;
  // Reads of other clusters' values by checks, keyed by the check's wrapper and the round's
  // sequence.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<CacheRead>> cache_reads_;
  // Messages on each link, keyed by stage.
  std::unordered_map<std::uint32_t, std::vector<LinkPassage>> passages_;
};

}  // namespace eventspace
