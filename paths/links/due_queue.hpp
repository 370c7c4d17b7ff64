// SPDX-License-Identifier: Apache-2.0
// paths/links/due_queue.hpp — queue of functions, each to be called at a due time
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "base/units.hpp"

namespace paths {

/// Kind of work in a DueQueue. In a queue with turns, work that is due at the same time is done in
/// the order in which the kinds are declared here. Predicted times use the same order
/// (collectives/cost/evaluator.hpp), so that simulation and prediction agree.
enum class Turn : std::uint8_t {
  events,   ///< ends of transfers and arrivals of frames
  heads,    ///< arrivals of first bytes of frames at a shared link, ordered by source host
  choices,  ///< choices of the next frame for a link, after all candidates have arrived
};

/// Lowest ranks of two kinds of requests for the processor of a host: requests to send a frame, and
/// requests to receive a frame. The requests are work of Turn::choices. A request to receive a
/// frame has the rank rank_of_receives plus the number of the frame's source host. Requests for
/// folds and copies have lower ranks than both kinds, in the order of their steps. After all
/// requests, the processor begins its next work; rank_of_processor is the rank of this choice.
inline constexpr std::uint64_t rank_of_sends = std::uint64_t{1} << 62;
inline constexpr std::uint64_t rank_of_receives = std::uint64_t{1} << 63;
inline constexpr std::uint64_t rank_of_processor = ~std::uint64_t{0};

/// Queue of work, ordered by due time. Work with the same due time is ordered by its Turn. Work
/// with the same time and Turn is ordered by `rank`, lowest first, then by insertion. For
/// Turn::heads, `rank` is the number of the source host.
///
/// In a queue with turns, work of one kind is done only after all work of earlier kinds for the
/// same time has been added. Only the service context of an endpoint can wait for that, so this
/// context does all work. In a queue without turns, any thread or fiber may do work as soon as it
/// is due. Simulations need turns, because their times must be exact.
///
/// Thread-safe: only has_turns(). The mutex of the owner guards all other functions.
class DueQueue {
 public:
  using Work = std::function<void()>;
  explicit DueQueue(bool has_turns) : has_turns_(has_turns) {}
  bool has_turns() const { return has_turns_; }
  /// Returns the last kind of work that may be done as soon as the work is due. Without turns, this
  /// is the last of all kinds.
  Turn first_turn() const { return has_turns_ ? Turn::events : Turn::choices; }
  void put(base::Nanos at, Work work, Turn turn = Turn::events, std::uint64_t rank = 0) {
    entries_.push({{at, turn, rank, next_++}, std::move(work), false});
  }
  /// Like put(), for work that checks whether a different host is alive. The end of this host does
  /// not wait for such work.
  void put_check(base::Nanos at, Work work) {
    entries_.push({{at, Turn::events, 0, next_++}, std::move(work), true});
    ++checks_;
  }
  bool empty() const { return entries_.empty(); }
  bool has_only_checks() const { return entries_.size() == checks_; }
  base::Nanos next() const { return entries_.top().place.at; }
  /// Returns whether the first work in the queue is of a later kind than `turn`.
  bool is_later_than(Turn turn) const { return !empty() && entries_.top().place.turn > turn; }
  /// Returns whether the queue has work that is due at `moment` or earlier and that any thread may
  /// do. Always false in a queue with turns.
  bool is_behind(base::Nanos moment) const { return !has_turns_ && !empty() && next() <= moment; }
  Work take() {
    // The cast is safe: the order of the entries depends only on `place`, which moving `work`
    // leaves unchanged.
    Work work = std::move(const_cast<Entry&>(entries_.top()).work);
    if (entries_.top().is_check) --checks_;
    entries_.pop();
    return work;
  }
  void clear() {
    entries_ = {};
    checks_ = 0;
  }

 private:
  struct Place {
    base::Nanos at;
    Turn turn;
    std::uint64_t rank, number;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Entry {
    Place place;
    Work work;
    bool is_check;
    // Reversed, because the top of a std::priority_queue is its largest entry.
    bool operator<(const Entry& other) const { return other.place < place; }
  };
  const bool has_turns_;
  std::priority_queue<Entry> entries_;
  std::uint64_t next_ = 0;
  std::size_t checks_ = 0;
};

}  // namespace paths
