// SPDX-License-Identifier: Apache-2.0
// pastset/shared/moves.hpp — moves of this process into a shared element
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "pastset/shared/log/log.hpp"
#include "pastset/waiters.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// The moves of this process into a shared element, and their places in the line (the queue of
/// moves that wait for room). Includes the places of withdrawn moves, which this process cannot
/// free while another process holds the element. Private to elements.
///
/// Thread-safe: no.
/// Requires: the mutex of the element is held, and the lock of the log unless noted otherwise.
class SharedMoves {
 public:
  /// A tuple that will be moved. `room` is its memory in the space; nullopt while the tuple has no
  /// memory there.
  struct Incoming {
    base::Payload tuple;
    std::optional<SharedLog::Room> room;
  };
  SharedMoves(const Element& element, const SharedMapping& mapping, SharedLog& log,
              Waiters& waiters)
      : element_(element), mapping_(mapping), log_(log), waiters_(waiters) {}

  /// Appends a tuple, and returns its number. Returns nullopt if the move must wait.
  std::optional<std::uint64_t> append(Incoming& incoming);
  /// Adds a move to the line, and returns its place there. Throws if the move must not wait, or if
  /// its wait can never end.
  std::uint32_t join_line(Incoming& incoming);
  /// Ends the wait of the moves whose tuples were appended or overwritten. Returns whether a move
  /// that still waits has just got memory. Such a move then waits only for room in the log.
  bool answer(runtime::DeferredWakes& wakes);
  /// Ends all waiting moves with the error, because there will be no room for them.
  void fail(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  std::string no_room() const;  ///< error message of a move whose deadline has passed

  // ---- withdrawn moves. The lock of the log need not be held, except in free_withdrawn().

  bool has_withdrawn() const { return !withdrawn_.empty(); }
  /// Withdraws a move from the line. If the lock of the log is not held, the place of the move in
  /// the line is freed later.
  void withdraw(std::uint32_t place, bool is_log_held);
  /// Withdraws all started moves. The caller then ends their waits.
  void withdraw_begun();
  /// Frees the places of withdrawn moves. Then appends the tuples of the moves that still wait,
  /// while there is room.
  void free_withdrawn();

 private:
  const Element& element_;
  const SharedMapping& mapping_;
  SharedLog& log_;
  Waiters& waiters_;
  std::vector<std::uint32_t> withdrawn_;  // places in the line
};

}  // namespace pastset
