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

/// Kind of work. In a queue with turns, work of the same time is done in the order in which the
/// kinds are declared here. Predicted times use the same order
/// (collectives/cost/evaluator.hpp), so that simulation and prediction agree.
enum class Turn : std::uint8_t {
  events,  ///< ends of transfers and arrivals of frames
  heads,   ///< arrivals of first bytes of frames at a shared link, in the order of the source hosts
  choices,  ///< choices of the next frame for a link, after all candidates have arrived
};

/// Lowest ranks of two groups of requests to a host's processor, which are work of Turn::choices.
/// Folds and copies have lower ranks than both groups, in the order of their steps. Frames to send
/// follow, then frames to receive, in the order of the source hosts.
inline constexpr std::uint64_t rank_of_sends = std::uint64_t{1} << 62;
inline constexpr std::uint64_t rank_of_receives = std::uint64_t{1} << 63;

/// Queue of work, ordered by time. Work of the same time is ordered by its Turn. Work of the same
/// Turn is ordered by `rank`, lowest first, then by insertion. For Turn::heads, `rank` is the
/// number of the source host.
///
/// In a queue with turns, work of a kind waits until all work of earlier kinds was added for the
/// same time. Only the service context of an endpoint can wait so, and it does all work. Without
/// turns, any thread or fiber may do work as soon as it is due. Simulations need turns, because
/// their times must be exact.
///
/// Thread-safe: guarded by its owner's mutex, except has_turns().
class DueQueue {
 public:
  using Work = std::function<void()>;
  explicit DueQueue(bool has_turns) : has_turns_(has_turns) {}
  bool has_turns() const { return has_turns_; }
  /// Returns the kind of work that may be done when a time begins.
  Turn first_turn() const { return has_turns_ ? Turn::events : Turn::choices; }
  void put(base::Nanos at, Work work, Turn turn = Turn::events, std::uint64_t rank = 0) {
    entries_.push({{at, turn, rank, next_++}, std::move(work), false});
  }
  /// Like put(), for a check of another host. The end of this host does not wait for it.
  void put_check(base::Nanos at, Work work) {
    entries_.push({{at, Turn::events, 0, next_++}, std::move(work), true});
    ++checks_;
  }
  bool empty() const { return entries_.empty(); }
  bool has_only_checks() const { return entries_.size() == checks_; }
  base::Nanos next() const { return entries_.top().place.at; }
  /// Returns whether the next work is of a later kind than `turn`.
  bool is_later_than(Turn turn) const { return !empty() && entries_.top().place.turn > turn; }
  /// Returns whether work that is due at `moment` waits, and may be done at once.
  bool is_behind(base::Nanos moment) const { return !has_turns_ && !empty() && next() <= moment; }
  Work take() {
    // The cast is safe: the order of the entries depends only on their member `place`, which the
    // move leaves unchanged.
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
