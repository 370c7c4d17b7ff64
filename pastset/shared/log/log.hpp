// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/log.hpp — tuples and waiting moves of one element, in shared memory
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/shared/log/element_users.hpp"
#include "pastset/shared/log/line.hpp"
#include "pastset/shared/log/tuple_range.hpp"
#include "pastset/shared/log/tuple_store.hpp"
#include "pastset/shared/mapping.hpp"
#include "pastset/shared/sizes.hpp"

namespace pastset {

/// The part of an element that is in shared memory: everything except the waiters of each process.
/// All processes change it, and each may die in the middle of a change.
///
/// The line is the queue of moves that wait for room. There is room for a tuple if `delta` allows a
/// further tuple and an entry is free. A tuple above 48 bytes also needs memory in the arena (a
/// Room).
///
/// Why:         Every change takes effect by one store. If a process dies between two stores, the
///              next process that holds the element calls mend(), which completes or undoes the
///              change.
/// Layout:      The tuples from `oldest` to last - 1 have an entry each (shared::Slot). Each place
///              in the line also has an entry. Tuples above 48 bytes are in the arena.
/// Thread-safe: no; one thread at a time.
/// Requires:    the caller holds the element (an object of class Held), unless noted otherwise.
/// Throws:      SharedSpaceError if a value in the memory is invalid.
class SharedLog {
 public:
  SharedLog(const SharedMapping& mapping, std::uint32_t index);

  /// Scope in which this process holds the element. try_take() must have returned true before. The
  /// destructor releases the element.
  class Held {
   public:
    explicit Held(SharedLog& log) : log_(log) {}
    ~Held() { log_.let_go(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    SharedLog& log_;
  };
  /// Tries for `patience` to hold the element. Returns false if other processes held the element
  /// for that long. If the last holder died, repairs its unfinished change. With a `patience` of 0,
  /// tries once and never sleeps.
  bool try_take(base::Nanos patience);
  SharedSpaceError held_for_long() const;
  void let_go();  ///< releases the element; wakes listening processes after a change

  using Numbers = TupleRange::Numbers;
  Numbers numbers() const { return range_.numbers(); }
  TupleRange& range() const { return range_; }
  shared::Element& element() const { return element_; }
  bool is_deleted() const;  ///< may be called without a lock

  // ---- tuples

  /// Whether a move that finds no room waits. If false, such a move fails.
  bool may_wait() const;
  using Room = SharedArena::Room;
  /// Appends a tuple. Copies the tuple, unless it is in the space already (`room` is set). Returns
  /// false if there is no memory for the tuple now. Throws SharedSpaceFull if the tuple can never
  /// fit.
  bool append(std::span<const std::byte> tuple, std::optional<Room>& room);
  /// Returns a tuple. A large tuple stays in memory until the last copy of the payload is
  /// destroyed.
  base::Payload read(std::uint64_t number, const std::shared_ptr<SharedMapping>& mapping) const {
    return tuples_.read(slot_of(number), mapping);
  }
  std::string why_no_room() const;
  TupleStore& tuples() const { return tuples_; }

  // ---- line of waiting moves, and processes

  SharedLine& line() { return *line_; }
  ElementUsers& users() const { return users_; }
  /// Adds a move to the line, and returns its place there. `room` is the memory in which its tuple
  /// is already stored, if any. Throws SharedSpaceFull if the line is full.
  std::uint32_t join_line(std::span<const std::byte> tuple, std::optional<Room>& room);
  /// Appends the tuples of waiting moves while there is room. Returns whether it appended any.
  bool admit();
  /// Tries to find memory for `tuple`, with which a move of this process waits at `place` in the
  /// line. Does nothing unless this move is the first in the line. Returns whether the tuple got
  /// memory in this call.
  bool find_memory(std::uint32_t place, std::span<const std::byte> tuple);

  // ---- reads without a lock, for read-only processes

  /// Returns a copy of a tuple. Returns nullopt if the tuple does not exist any more, or if it was
  /// dropped during the copy.
  std::optional<base::Payload> glance(std::uint64_t number) const;
  SharedSpaceError overwritten(std::uint64_t number, const std::string& mismatch) const;

  // ---- death of other processes

  /// Removes from the element the waiting moves and the bits of a process that has detached or
  /// died. If the process has died, `who` describes it; otherwise `who` is empty.
  void forget(std::uint32_t process, const std::string& who);

 private:
  shared::Slot& slot_of(std::uint64_t number) const { return slots_[number % sizes_.slots]; }
  void mend_present();
  void mend();
  bool store_in_line(std::uint32_t at, std::span<const std::byte> tuple, std::optional<Room>& room);

  const SharedMapping& mapping_;
  const std::uint32_t index_;
  shared::Element& element_;
  const SharedSizes sizes_;
  const std::uint64_t generation_;
  shared::Slot* slots_ = nullptr;
  mutable ElementUsers users_;
  mutable TupleRange range_;
  mutable TupleStore tuples_;
  std::optional<SharedLine> line_;
};

}  // namespace pastset
