// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element_moves.cpp — moves into shared memory, and moves that wait there for room
#include <cstring>
#include <span>
#include <utility>

#include "pastset/shared/element.hpp"
#include "pastset/shared/hold.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

using shared::Waiting;

std::uint64_t SharedElement::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function(name());
  SharedMoves::Incoming incoming = bring_in(payload);
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  if (const auto number = moves_.append(incoming)) {
    settle(wakes);
    return *number;
  }
  const std::uint32_t place = moves_.join_line(incoming);
  Waiters::Move move(waiters_, std::move(incoming.tuple), place);
  // Only this process can copy the tuple into shared memory. Other processes must therefore wake it
  // after a change.
  if (log_.line().at(place).state == Waiting::needs_memory) log_.users().listen();
  try {
    wait_for_admission(move, hold, deadline);
  } catch (...) {
    hold.try_take_quietly(SharedMapping::brief_patience);
    if (!move.number && !move.error) moves_.withdraw(place, hold.has_log());
    throw;
  }
  if (move.error) std::rethrow_exception(move.error);
  return *move.number;
}

base::Buffer SharedElement::buffer(std::size_t bytes) {
  refuse_x_function(name());
  std::optional<SharedLog::Room> room;
  {
    const Hold hold(*this);
    room = log_.tuples().memory().spare_room(bytes, log_.range().tuples_to_keep());
  }
  if (!room) return base::Buffer(bytes);
  std::byte* const at = mapping_->arena().extents().at(room->place, bytes);
  if (at == nullptr) return base::Buffer(bytes);
  const std::uint32_t extent = room->held.extent();
  base::Buffer buffer = base::Buffer::adopt_shared(
      {at, bytes}, [mapping = mapping_, extent] { mapping->arena().let_go(extent); });
  room->held.keep();
  return buffer;
}

/// Runs the X-function, and does the slow work of a move while the element is not held, because a
/// held element makes other processes wait.
SharedMoves::Incoming SharedElement::bring_in(const base::Payload& payload) const {
  SharedMoves::Incoming incoming{to_store(*this, x_function_, payload), std::nullopt};
  const std::span<const std::byte> tuple = incoming.tuple.bytes();
  if (tuple.size() <= base::Payload::inline_bytes) return incoming;
  incoming.room = mapping_->arena().find(tuple);
  if (incoming.room || tuple.size() <= ElementArena::copied_while_held_max) return incoming;
  {
    const Hold hold(*this);
    incoming.room = log_.tuples().memory().room_ahead(tuple.size(), log_.range().tuples_to_keep());
  }
  if (!incoming.room) return incoming;
  std::byte* const at = mapping_->arena().extents().at(incoming.room->place, tuple.size());
  if (at != nullptr)
    std::memmove(at, tuple.data(), tuple.size());  // in a damaged space the two may overlap
  else
    incoming.room.reset();
  return incoming;
}

/// Waits until a move is admitted, which means that its tuple is appended. The caller holds the
/// mutex and the lock of the log, and holds both again on return. After an exception the mutex is
/// held, and possibly also the lock of the log.
void SharedElement::wait_for_admission(Waiters::Move& move, Hold& hold,
                                       runtime::Deadline deadline) {
  const runtime::Reason reason{"room in element", name(), log_.numbers().last};
  const std::atomic<std::uint32_t>& state = log_.line().at(move.place).state;
  const auto is_waiting = [&] { return state == Waiting::ready || state == Waiting::needs_memory; };
  const auto take = [&] {
    hold.take();
    if (!move.number && log_.is_deleted()) throw waiters_.deleted();
    log_.numbers();  // throws if the memory was overwritten
  };
  bool may_look = true, is_settled = false, is_late = false;
  for (; !move.number && !move.error; take()) {
    if (!std::exchange(is_settled, true) || !is_waiting()) {
      runtime::DeferredWakes wakes;
      settle(wakes);
      hold.let_go();  // unlocks before the destructor of `wakes` wakes other contexts
    } else if (is_late) {
      // The element is held, so no process can append the tuple now.
      throw DeadlinePassed(moves_.no_room());
    } else if (std::exchange(may_look, false) && state == Waiting::ready) {
      hold.look(state, Waiting::ready, deadline, reason);
    } else if (const auto error = log_.users().why_no_room_comes()) {
      std::rethrow_exception(error);  // the wake-up that reports the error may arrive later
    } else {
      is_late = hold.wait(move.waiting, deadline, reason) == runtime::Woken::expired;
    }
  }
}

}  // namespace pastset
