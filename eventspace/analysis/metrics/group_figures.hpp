// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_figures.hpp — times of operations of groups, and their causes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/analysis/metrics/group_path.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Computes the figures of the operations of groups from a stream of records.
///
/// Memory: Grows with the kinds of operations, the threads and the pairs of clusters, and with
///         pairs of hosts up to host_pairs_max.
class GroupFigures {
 public:
  static constexpr std::size_t host_pairs_max = 100'000;

  /// Callback for each message of which the trace has both ends. It is called only if all hosts
  /// have a common clock. `begin` is the time at which the message was passed to its link. `end` is
  /// the time of its arrival.
  using OnMessage = std::function<void(std::uint32_t from, std::uint32_t to, std::int64_t begin,
                                       std::int64_t end, std::uint64_t bytes)>;
  /// Callback for each operation that is complete or dropped.
  using OnOperation = std::function<void(const WholeOperation&, const GroupTexts&)>;
  GroupFigures(const Structure& structure, std::size_t exact_max, bool has_common_clock,
               std::size_t open_bytes_max, OnMessage on_message, OnOperation on_operation);

  void add(std::uint32_t host, const EventRecord& record);
  const GroupTexts& texts() const { return operations_.texts(); }
  /// Completes the figures. Call once. `begin_nanos` is the begin of the run.
  GroupsReport finish(std::int64_t begin_nanos);
  /// Adds the series of values that a comparison of two runs needs.
  void report_series(Report& report) const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  struct Total {
    std::uint64_t operations = 0;
    std::int64_t nanos = 0;
    void add(std::int64_t more_nanos) {
      ++operations;
      add_to(nanos, more_nanos);
    }
  };
  /// Figures of all operations with the same group, collective and algorithm. These operations have
  /// the same text.
  struct Kind {
    explicit Kind(std::size_t exact)
        : bytes(exact),
          time(exact),
          after_last(exact),
          wait(exact),
          predicted(exact),
          per_predicted(exact),
          per_tuned(exact) {}
    std::uint64_t operations = 0, incomplete = 0, failed = 0;
    Distribution bytes, time, after_last, wait, predicted;
    // Time from the last arrival at an operation to the end of the operation. The unit is a
    // thousandth: in per_predicted of the predicted time, in per_tuned of the time that tuning
    // measured.
    Distribution per_predicted, per_tuned;
    Blocks times, times_after_last;  // one value for each operation, in the order of the operations
    // Index, in the group, of the operation that `first` describes.
    std::uint32_t first_number = 0;
    std::optional<GroupReport::Span> first;
    std::array<std::int64_t, group_causes> by_cause = {};
    std::map<std::pair<GroupCause, Pair>, Total> parts;
    std::map<std::uint32_t, Total> threads, hosts;
  };
  struct Link {
    explicit Link(std::size_t exact) : latency(exact) {}
    std::uint64_t messages = 0, bytes = 0;
    Distribution latency;
    Blocks latencies;
    std::int64_t nanos_per_mebibyte = std::numeric_limits<std::int64_t>::max();
    void add_latency(std::int64_t nanos) {
      latency.add(nanos);
      latencies.add(nanos);
    }
  };
  struct Member {
    explicit Member(std::size_t exact) : computation(exact) {}
    Distribution computation;
    Blocks computations;
    std::uint64_t next = 0;  // index of the member's next operation in the group
    Total late;
    void add_computation(std::int64_t nanos) {
      computation.add(nanos);
      computations.add(nanos);
    }
  };

  bool is_possible(std::uint32_t host, const EventRecord& record) const;
  void add_share(const HostShare& share);
  void add_operation(const WholeOperation& operation);
  void add_within_hosts(const WholeOperation& operation, Kind& kind);
  void add_between_hosts(const WholeOperation& operation, Kind& kind);
  void add_last(const WholeOperation& operation, Kind& kind);
  static void compare_with(const GroupPrediction& prediction, std::int64_t arrivals_nanos,
                           std::int64_t after_last_nanos, Kind& kind);
  void add_path(const GroupMessages& messages, Kind& kind);
  void add_messages(const GroupMessages& messages);
  void add_step(std::uint32_t host, const GroupStep& step);
  Link& link_of(std::uint32_t from_host, std::uint32_t to_host);
  std::uint32_t cluster_of(std::uint32_t host) const { return structure_.hosts[host].cluster; }
  Pair key_of(const GroupSegment& segment) const;
  std::string name_of_part(GroupCause cause, const Pair& key) const;
  GroupReport report_of(std::uint32_t text, const Kind& kind, std::int64_t begin_nanos) const;
  void report_members(GroupsReport& report) const;
  void report_links(GroupsReport& report) const;

  const Structure& structure_;
  const std::size_t exact_;
  const bool has_common_clock_;
  const OnMessage on_message_;
  const OnOperation on_operation_;
  GroupOperations operations_;
  std::map<std::uint32_t, Kind> kinds_;  // figures, keyed by the number of the kind's text
  std::map<std::pair<std::string, std::uint32_t>, Member> members_;  // keyed by group and thread
  // For each thread, the end of its last operation in any group.
  std::vector<std::int64_t> last_end_;
  std::map<Pair, Link> clusters_;
  // Numbers of messages and bytes, keyed by sending and receiving host.
  std::map<Pair, std::pair<std::uint64_t, std::uint64_t>> hosts_;
  std::uint64_t other_messages_ = 0;
  std::uint64_t records_ = 0, unknown_ = 0;
};

}  // namespace eventspace
