// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/rounds.hpp — assembly of rounds from the records of many hosts.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// Part of the record of an operation at an event collector (a wrapper that records operations). It
/// is kept until the round of the operation is complete.
struct Pass {
  std::int64_t down_nanos = 0;
  std::int64_t up_nanos = 0;
  /// Time that the thread computed before this operation; below 0 = unknown.
  std::int64_t computation_nanos = -1;
  std::uint32_t bytes = 0;
  std::uint32_t arrival = 0;  ///< index of the operation's record among all records
  std::uint8_t flags = 0;
  bool is_here = false;
};

/// Round of a tree: one operation of all contributors, as far as their records have arrived.
struct Round {
  std::uint32_t tree = 0;
  std::uint64_t sequence = 0;
  std::uint64_t kind = 0;
  std::uint32_t here = 0;
  bool has_failed = false;
  bool is_one_way = false;
  std::vector<Pass> passes;  ///< indexed by Probe::place
  bool is_complete() const { return here == passes.size(); }
};

/// Whether every operation of the round got its reply from a wrapper of the kind `periodic`, so
/// that no operation continued further down the path.
bool is_answered_above(const Shape& shape, const Round& round);

/// Returns the round's operation at the Probe `probe`. Returns nullptr if the operation has no
/// record, or if `probe` is none.
const Pass* pass_of(const Shape& shape, const Round& round, std::uint32_t probe);

/// Assembles rounds from the records of all hosts.
///
/// Each round is passed to `done` once: when it is complete, or when it is dropped. If the open
/// rounds need more than `bytes_max`, the oldest of them are dropped. At the end, all open rounds
/// are dropped. A round to which wrappers of the kind `periodic` replied is passed after the next
/// complete round.
class RoundTable {
 public:
  using Done = std::function<void(const Round&)>;
  RoundTable(const Shape& shape, std::size_t bytes_max, Done done);

  /// Adds a record of the Probe `probe`. `arrival` is the index of the record among all records.
  void add(std::uint32_t probe, const EventRecord& record, std::int64_t computation_nanos,
           std::uint32_t arrival = 0);
  void finish();

  /// Returns the number of operations through joins that belong to no round because they are not
  /// moves. Only a move contributes a tuple.
  std::uint64_t passed_by() const { return passed_by_; }
  /// Returns the number of records that arrived after their round was dropped.
  std::uint64_t late() const { return late_; }
  /// Returns the number of records that are copies of earlier records.
  std::uint64_t repeated() const { return repeated_; }

 private:
  struct Key {
    std::uint64_t operation = 0;  // sequence and kind of the operation, see key_of()
    std::uint64_t repeat = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.operation + 31 * key.repeat) * 0x9e3779b97f4a7c15 >> 8;
    }
  };
  /// Set of the rounds that were already passed to `done`. It covers the rounds of moves in a block
  /// of successive sequences. A late record must not open a round of this set again.
  struct Ended {
    static constexpr std::uint64_t rounds = 4096;
    std::bitset<rounds> any;
    std::bitset<rounds> complete;
  };
  struct Open {
    std::unordered_map<Key, std::unique_ptr<Round>, Hash> rounds;
    std::deque<Key> by_age;
    std::unordered_map<std::uint64_t, Ended> ended;  // keyed by sequence divided by Ended::rounds
    std::vector<std::unique_ptr<Round>> spare;
  };

  Key key_of(std::uint32_t probe, const EventRecord& record);
  Round* round_of(std::uint32_t tree, const Key& key, const EventRecord& record);
  bool has_ended(const Open& open, const EventRecord& record);
  std::size_t bytes_of(std::uint32_t tree) const;
  void hand_on(std::uint32_t tree, const Key& key);
  void hand_on_answered(std::uint32_t tree, std::uint64_t before);
  static void note_ended(Open& open, const Round& round);
  static void forget_ended(Open& open);
  void drop_oldest();

  const Shape& shape_;
  std::size_t bytes_max_;
  Done done_;
  std::vector<Open> open_;  // open rounds of each tree
  std::vector<Key> last_;   // key of the latest record of each Probe that is not of a move
  std::size_t bytes_ = 0;
  std::uint64_t passed_by_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t repeated_ = 0;
};

}  // namespace eventspace
