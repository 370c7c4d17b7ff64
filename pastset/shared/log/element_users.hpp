// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/element_users.hpp — processes that use one shared element, and waits for them
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "pastset/shared/layout.hpp"
#include "pastset/shared/mapping.hpp"

namespace pastset {

/// The processes that use an element, in three sets: movers move tuples into the element, takers
/// observe or axe tuples, and listeners are woken after a change. Tells which waits can never end
/// because a process has died.
///
/// Thread-safe: no; one thread at a time.
/// Requires:    the caller holds the element (SharedLog::Held), except in the functions that return
///              an exception or the error mark.
class ElementUsers {
 public:
  ElementUsers(const SharedMapping& mapping, shared::Element& element)
      : mapping_(mapping), element_(element) {}

  // ---- notification

  bool listens() const { return (element_.listeners & my_bit()) != 0; }
  void listen() { element_.listeners |= my_bit(); }
  /// Makes this process listen, and its Doorbell thread call on_ring() soon.
  void ring_this_process() {
    listen();
    mapping_.processes().ring(my_bit());
  }
  void no_longer_listen() { element_.listeners &= ~my_bit(); }
  /// Counts a change. The listening processes must then be woken (take_rings()).
  void note_change();
  /// Returns the processes that must be woken because of changes since the last call. Bit i stands
  /// for the process with index i.
  std::uint32_t take_rings();
  void add_rings(std::uint32_t processes) { to_ring_ |= processes; }

  // ---- begin and end of processes

  /// Records that this process is a mover: it has moved a tuple.
  void note_mover() { note(element_.movers, element_.lost_mover); }
  /// Records that this process is a taker: it has observed or axed a tuple.
  void note_taker() { note(element_.takers, element_.lost_taker); }
  /// Removes a process that has detached or died. If it has died, `who` describes it; otherwise
  /// `who` is empty.
  void forget(std::uint32_t process, const std::string& who);

  // ---- reasons why a wait can never end

  // Each function returns nullptr if the wait may still end.
  std::exception_ptr why_none_comes() const;     ///< why a missing tuple will never arrive
  std::exception_ptr why_no_room_comes() const;  ///< why no room for a move will become free
  std::exception_ptr why_orphaned() const;  ///< why every move fails: the owner of the space died
  std::optional<ErrorMark> mark() const;    ///< error mark; nullopt if there is none

 private:
  void note(shared::Word& all, shared::Who& lost) {
    if ((all.load(std::memory_order_relaxed) & my_bit()) == 0) note_first(all, lost);
  }
  void note_first(shared::Word& all, shared::Who& lost);
  /// Returns the bit of this process; 0 while it has no entry in Segment::processes.
  std::uint32_t my_bit() const {
    return mapping_.me() < shared::processes_max ? std::uint32_t{1} << mapping_.me() : 0;
  }
  std::exception_ptr died(const std::string& who, const char* what) const;

  const SharedMapping& mapping_;
  shared::Element& element_;
  std::uint32_t to_ring_ = 0;
};

}  // namespace pastset
