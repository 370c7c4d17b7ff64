// SPDX-License-Identifier: Apache-2.0
// paths/joins/round.hpp — rounds of a join: contributions, waiters, result, and the open rounds.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/payload.hpp"
#include "base/units.hpp"
#include "paths/operation.hpp"
#include "paths/travel_error.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Contribution of one slot to a round.
struct Contribution {
  bool is_here = false;
  std::uint32_t path = 0;
  std::uint64_t contributions = 0;  ///< number of threads whose values are in the payload
  base::Payload payload;
  Failure failure;
};

/// State of a combination of large contributions that several threads compute part by part.
/// Why: the round owns this object, so that a helping thread can complete its part even if the
///      round has failed meanwhile.
struct SharedFold {
  SharedFold(std::size_t bytes, std::size_t part_bytes)
      : sum(bytes), parts((bytes + part_bytes - 1) / part_bytes) {}

  base::Buffer sum;
  const std::size_t parts;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<bool> is_right{true};
  runtime::WaitList waiting;  ///< contains the leader while it waits for the last part
};

/// One operation of all contributors of a join.
///
/// Thread-safe: no. The join's mutex guards the members, with two exceptions. `key` and `gone` need
///              no mutex. `by_slot` and `until` need none while the round has a leader and no
///              failure.
struct Round {
  /// An operation that waits for the round without blocking a thread or fiber.
  class Waiter;

  using Key = std::pair<std::uint64_t, std::uint32_t>;  ///< sequence, segment

  explicit Round(std::uint32_t slots) : by_slot(slots) {}
  void add(Waiter& waiter);
  bool is_decided() const { return failure || result; }
  /// Returns the first failure among the contributions that have arrived; nullptr if there is none.
  /// Such a failure of a stage above often explains why other contributions are late.
  Failure first_failure_above() const;
  void clear();

  Key key;
  std::vector<Contribution> by_slot;
  std::uint32_t here = 0;              ///< number of slots that have contributed
  std::atomic<std::uint32_t> gone{0};  ///< number of slots that have a result or never contribute
  bool has_leader = false;             ///< whether a contributor leads, or has led, this round
  Failure failure;                     ///< failure of the round; nullptr if `result` is set
  std::optional<Result> result;
  std::unique_ptr<SharedFold> fold;  ///< nullptr if one context combines all contributions alone
  runtime::WaitList waiting;         ///< contexts that wait for this round
  Waiter* first_waiter = nullptr;  ///< head of the linked list of waiters, in the order of arrival
  Waiter* last_waiter = nullptr;
  base::Nanos until = base::Nanos::max();  ///< earliest deadline of the contributions
};

/// Open rounds of a join, by sequence and segment. Closed rounds are reused. In a steady state,
/// opening a round therefore allocates no memory.
///
/// Thread-safe: no. The join's mutex guards this object. leave() locks the mutex. Callers of all
///              other functions must hold it.
class OpenRounds {
 public:
  using Key = Round::Key;
  using Map = std::map<Key, std::unique_ptr<Round>>;

  /// If `recycles` is true, keeps closed rounds for reuse.
  OpenRounds(std::uint32_t slots, bool recycles) : slots_(slots), recycles_(recycles) {}
  /// Returns the round with this key; nullptr if it is not open.
  Round* find(const Key& key);
  Round& open(const Key& key);
  /// Removes a round for which no slot waits any more, and returns it to the caller.
  Map::node_type close(const Key& key);
  /// Notes that a slot has got the result of the round, or will never contribute to the round. The
  /// call for the last slot closes the round.
  /// Requires: `mutex` not held.
  void leave(Round& round, runtime::Mutex& mutex);
  Map& all() { return all_; }

 private:
  Map::iterator at(const Key& key);
  const std::uint32_t slots_;
  /// Whether closed rounds are kept for reuse. False in simulations, because the kept rounds of
  /// their many joins would double the memory.
  const bool recycles_;
  Map all_;
  Map::iterator newest_ = all_.end();
  std::vector<Map::node_type> closed_;
};

}  // namespace paths
