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

/// The combination of large contributions, which several threads compute part by part. The round
/// owns this object. A thread that helps can therefore complete its part even if the round has
/// failed meanwhile.
struct SharedFold {
  SharedFold(std::size_t bytes, std::size_t part_bytes)
      : sum(bytes), parts((bytes + part_bytes - 1) / part_bytes) {}

  base::Buffer sum;
  const std::size_t parts;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<bool> is_right{true};
  runtime::WaitList waiting;  ///< the leader, while it waits until the last part is combined
};

/// One operation of all contributors of a join.
///
/// Thread-safe: no. The join's mutex guards it, except `key` and `gone`, and `by_slot` and `until`
///              of a round that has a leader and no failure.
struct Round {
  /// An operation that waits for the round without blocking a thread or fiber.
  class Waiter;

  using Key = std::pair<std::uint64_t, std::uint32_t>;  ///< sequence, segment

  explicit Round(std::uint32_t slots) : by_slot(slots) {}
  void add(Waiter& waiter);
  bool is_decided() const { return failure || result; }
  /// Returns the first failure among the contributions that have arrived; nullptr if there is none.
  /// If a host above has missed its deadline, this failure explains why other contributions are
  /// late.
  Failure first_failure_above() const;
  void clear();

  Key key;
  std::vector<Contribution> by_slot;
  std::uint32_t here = 0;              ///< number of slots that have contributed
  std::atomic<std::uint32_t> gone{0};  ///< number of slots that have a result or never contribute
  bool has_leader = false;             ///< whether a contributor leads this round; at most one does
  Failure failure;                     ///< failure of the round; set at most once, as is `result`
  std::optional<Result> result;
  std::unique_ptr<SharedFold> fold;  ///< nullptr if contributions are small
  runtime::WaitList waiting;         ///< contexts that wait for this round
  Waiter* first_waiter = nullptr;    ///< list of waiters in the order of arrival
  Waiter* last_waiter = nullptr;
  base::Nanos until = base::Nanos::max();  ///< earliest deadline of the contributions
};

/// Open rounds of a join, by sequence and segment. Closed rounds are reused, so that rounds
/// allocate no memory in a steady state.
///
/// Thread-safe: no. The join's mutex guards it. leave() locks this mutex; callers of all other
///              functions hold it.
class OpenRounds {
 public:
  using Key = Round::Key;
  using Map = std::map<Key, std::unique_ptr<Round>>;

  /// Keeps closed rounds for reuse if `recycles` is true.
  OpenRounds(std::uint32_t slots, bool recycles) : slots_(slots), recycles_(recycles) {}
  /// Returns the round with this key; nullptr if it is not open.
  Round* find(const Key& key);
  Round& open(const Key& key);
  /// Removes a round that no slot waits for any more. The caller destroys it.
  Map::node_type close(const Key& key);
  /// Notes that a slot has its result or does not contribute. The call for the last slot closes the
  /// round.
  /// Requires: `mutex` not held.
  void leave(Round& round, runtime::Mutex& mutex);
  Map& all() { return all_; }

 private:
  Map::iterator at(const Key& key);
  const std::uint32_t slots_;
  /// Whether closed rounds are kept for reuse. In simulations they are not: the many joins would
  /// need twice the memory.
  const bool recycles_;
  Map all_;
  Map::iterator newest_ = all_.end();
  std::vector<Map::node_type> closed_;
};

}  // namespace paths
