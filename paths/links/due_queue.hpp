// SPDX-License-Identifier: Apache-2.0
// paths/links/due_queue.hpp — what is to be done when.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace paths {

/// What goes first of what happens at one moment, on the virtual clock: prices have the same order
/// (collectives/cost/evaluator.hpp), so that what is simulated is what was priced.
enum class Turn : std::uint8_t {
  events,   ///< what ends or has come
  heads,    ///< of frames at links that hosts share, by where they began
  choices,  ///< of what is sent next, when everything that may be is known
};

/// Work by time and turn; of one turn by `rank`, and then in the order in which it was put down.
///
/// Sharing: guarded by its owner's mutex.
class DueQueue {
 public:
  using Work = std::function<void()>;
  void put(base::Nanos at, Work work, Turn turn = Turn::events, std::uint64_t rank = 0) {
    entries_.push({{at, turn, rank, next_++}, std::move(work)});
  }
  bool empty() const { return entries_.empty(); }
  base::Nanos next() const { return entries_.top().place.at; }
  Turn next_turn() const { return entries_.top().place.turn; }
  Work take() {
    // The order of the rest does not depend on the work.
    Work work = std::move(const_cast<Entry&>(entries_.top()).work);
    entries_.pop();
    return work;
  }
  void clear() { entries_ = {}; }

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
    bool operator<(const Entry& other) const { return other.place < place; }  // the largest first
  };
  std::priority_queue<Entry> entries_;
  std::uint64_t next_ = 0;
};

}  // namespace paths
