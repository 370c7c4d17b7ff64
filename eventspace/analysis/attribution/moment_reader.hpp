// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/moment_reader.hpp — moments of a run from its records.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/attribution/moments.hpp"
#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// Fills a Moments object from the records of a run.
///
/// If the run has more than `operations_max` records, the later records are ignored. The lives of
/// the threads then end with the last operation that was kept.
///
/// Requires: `all` outlives the reader. prepare() is called once, after the last add(); until
///           then the moments are not complete.
class MomentReader : private MomentTypes {
 public:
  MomentReader(Moments& all, std::size_t operations_max);

  void add(const Round& round);
  void add_cache_read(const EventRecord& record);
  void add_link(const EventRecord& record);
  void add_thread(const EventRecord& life);
  /// Adds a call by which a thread starts an operation, waits for an operation, or marks an
  /// iteration. `leaf` is the begin of the operation's path; none for an operation of a group.
  /// `arrival` is the index of the record among all records.
  void add_call(const EventRecord& call, std::uint32_t leaf, std::uint32_t arrival);
  void add(const WholeOperation& operation, const GroupTexts& texts);
  void prepare();

 private:
  class GroupNodes;
  class ThreadCalls;

  void make_hop_labels();
  HopLabels labels_of(const Hop& hop);
  /// Returns the number of the label for messages from one host to another. `link` is the emulated
  /// link between them, or nullptr.
  std::uint32_t label_between(std::uint32_t from_host, std::uint32_t to_host,
                              const Structure::Wrapper* link = nullptr);
  void find_elements();
  void find_drivers();
  std::uint32_t element_named(std::string_view name);
  std::uint32_t number_of(const OperationName& name);
  std::uint32_t name_of_leaf(std::uint32_t leaf, std::uint64_t kind);

  void keep_ends(const KeptRound& round, std::uint32_t pass, const Probe& probe);
  void keep_leaf(const KeptRound& round, std::uint32_t pass, const Leaf& leaf,
                 std::uint32_t arrival);
  void order_thread(ThreadState& thread);
  void label_times_before(std::uint32_t rank, ThreadState& thread);
  std::string object_of(const ThreadOperation& operation) const;
  void keep_all_arrived(const KeptRound& round);
  void connect_calls();
  void find_rounds_of_copies();
  /// Adds `records` to the number of kept records. Returns false if that number now exceeds the
  /// limit.
  bool has_room_for(std::size_t records);

  Moments& all_;
  const std::size_t operations_max_;
  std::size_t kept_ = 0;
  std::map<PlaceInProgram, std::uint32_t> numbers_of_places_;
  // Shortest time of a message of groups so far, keyed by the label of its way.
  std::unordered_map<std::uint32_t, std::int64_t> passages_;
};

}  // namespace eventspace
