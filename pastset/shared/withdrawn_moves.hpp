// SPDX-License-Identifier: Apache-2.0
// pastset/shared/withdrawn_moves.hpp — moves that this process withdrew from the line of an element
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "pastset/shared/log/log.hpp"

namespace pastset {

/// The places of withdrawn moves in the line (the queue of moves that wait for room) of a shared
/// element. This process cannot free the places while another process holds the element.
///
/// Thread-safe: no.
/// Requires:    the mutex of the element is held.
class WithdrawnMoves {
 public:
  explicit WithdrawnMoves(SharedLog& log) : log_(log) {}

  bool empty() const { return places_.empty(); }
  void add(std::uint32_t place) { places_.push_back(place); }
  /// Frees the places. Then appends the tuples of the moves that still wait, while there is room.
  /// Requires: the lock of the log is held too.
  void free_places() {
    const std::vector<std::uint32_t> places = std::exchange(places_, {});
    const bool is_deleted = log_.is_deleted();
    for (const std::uint32_t place : places)
      is_deleted ? log_.line().forget(place) : log_.line().leave(place, log_.users());
    if (is_deleted) return;
    try {
      // This process's Doorbell then calls on_ring(), which completes the admitted moves.
      if (log_.admit()) log_.users().ring_this_process();
    } catch (const ElementError&) {
      // Waiters of the element detect the error themselves.
    }
  }

 private:
  SharedLog& log_;
  std::vector<std::uint32_t> places_;
};

}  // namespace pastset
