// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/line.hpp — the line of a shared element: moves that wait for room
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "pastset/shared/arena/arena.hpp"
#include "pastset/shared/layout.hpp"
#include "pastset/shared/log/element_users.hpp"

namespace pastset {

/// The queue of moves that wait for room in an element, in shared memory. Each move waits at a
/// place, a numbered entry of the line. The order of the moves is the order of their tickets.
///
/// Owns:        the holds of this process on the memory of its waiting tuples. The holds survive
///              this object, because other processes may append the tuples later.
/// Thread-safe: no; one thread at a time.
/// Requires:    the caller holds the element (SharedLog::Held).
class SharedLine {
 public:
  SharedLine(shared::Element& element, shared::Waiting* places, std::uint64_t count)
      : element_(element), places_(places), count_(count) {}
  SharedLine(SharedLine&&) = default;
  ~SharedLine();

  bool is_empty() const { return element_.line_count == 0; }
  shared::Waiting& at(std::uint32_t place) const { return places_[place]; }
  /// Returns a place at which no move waits; nullopt if the line is full.
  std::optional<std::uint32_t> free_place() const;
  /// Returns the place of the first waiting move: the move with the smallest ticket. A move gets
  /// memory only when every earlier move has memory.
  std::optional<std::uint32_t> head() const;
  bool has_one_without_memory() const;

  /// Keeps the hold on the memory of the tuple at `place` as long as a move of this process waits
  /// there.
  void keep_hold(std::uint32_t place, SharedArena::Held held);
  /// Releases the memory of the tuple at a place, after the element was deleted.
  void forget(std::uint32_t place) { held_.erase(place); }
  void leave(std::uint32_t place, ElementUsers& users);  ///< ends this process's wait there
  void remove(shared::Waiting& one, ElementUsers& users);
  void remove_all_of(std::uint32_t process, ElementUsers& users);
  /// Repairs the line after the death of a process that held the element. `newest` is the ticket of
  /// the newest tuple, whose number is `last - 1`; 0 if there is none.
  void mend(std::uint64_t newest, std::uint64_t last);

 private:
  shared::Element& element_;
  shared::Waiting* places_;
  std::uint64_t count_;
  std::map<std::uint32_t, SharedArena::Held> held_;  // keyed by place
};

}  // namespace pastset
