// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element_moves.cpp — moves into shared memory, and moves that wait there for room
#include <fmt/format.h>

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
  Incoming incoming = bring_in(to_store(*this, x_function_, payload));
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  refuse_orphan();
  log_.users().note_mover();
  if (!append(incoming)) return move_when_admitted(std::move(incoming), hold, deadline);
  const std::uint64_t number = log_.numbers().last - 1;
  settle(wakes);
  return number;
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

/// Does the slow work of a move while the element is not held, because a held element makes other
/// processes wait.
SharedElement::Incoming SharedElement::bring_in(base::Payload stored) const {
  Incoming incoming{std::move(stored), std::nullopt};
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
    std::memcpy(at, tuple.data(), tuple.size());
  else
    incoming.room.reset();
  return incoming;
}

bool SharedElement::append(Incoming& incoming) {
  return log_.line().is_empty() && log_.range().has_room() &&
         log_.append(incoming.tuple.bytes(), incoming.room);
}

std::uint64_t SharedElement::move_when_admitted(Incoming incoming, Hold& hold,
                                                runtime::Deadline deadline) {
  if (!log_.may_wait()) throw SharedSpaceFull(log_.why_no_room());
  if (const auto error = log_.users().why_no_room_comes()) std::rethrow_exception(error);
  const std::uint32_t place = log_.join_line(incoming.tuple.bytes(), incoming.room);
  Waiters::Move move(waiters_, std::move(incoming.tuple), place);
  // Only this process can copy the tuple into shared memory. Other processes must therefore wake it
  // after a change.
  if (log_.line().at(move.place).state == Waiting::needs_memory) log_.users().listen();
  try {
    wait_for_admission(move, hold, deadline);
  } catch (...) {
    hold.try_take_quietly(SharedMapping::brief_patience);
    if (!move.number && !move.error) hold.withdraw(move.place);
    throw;
  }
  if (move.error) std::rethrow_exception(move.error);
  return *move.number;
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
      throw DeadlinePassed(no_room());
    } else if (std::exchange(may_look, false) && state == Waiting::ready) {
      look(state, Waiting::ready, hold, deadline, reason);
    } else if (const auto error = log_.users().why_no_room_comes()) {
      std::rethrow_exception(error);  // the wake-up that reports the error may arrive later
    } else {
      is_late = wait(move.waiting, hold, deadline, reason) == runtime::Woken::expired;
    }
  }
}

void SharedElement::begin_move(Access& access, Incoming incoming, runtime::DeferredWakes& wakes) {
  refuse_orphan();
  log_.users().note_mover();
  if (append(incoming)) {
    answer(access, log_.numbers().last - 1, wakes);
    settle(wakes);
    return;
  }
  if (!log_.may_wait()) throw SharedSpaceFull(log_.why_no_room());
  if (const auto error = log_.users().why_no_room_comes()) std::rethrow_exception(error);
  const std::uint32_t place = log_.join_line(incoming.tuple.bytes(), incoming.room);
  waiters_.begin(std::make_unique<Waiters::Move>(waiters_, std::move(incoming.tuple), place),
                 access);
  log_.users().listen();
  settle(wakes);
}

/// Ends the wait of the moves whose tuples were appended or overwritten. Returns whether a move
/// that still waits has just got memory. Such a move then waits only for room in the log.
bool SharedElement::answer_moves(runtime::DeferredWakes& wakes) {
  bool is_one_ready = false;
  for (std::size_t i = 0; i < waiters_.moves().size();) {
    Waiters::Move& move = *waiters_.moves()[i];
    is_one_ready |= log_.find_memory(move.place, move.stored.bytes());
    const shared::Waiting& in_line = log_.line().at(move.place);
    const std::uint32_t state = in_line.state;
    if (state == Waiting::ready || state == Waiting::needs_memory) {
      ++i;
      continue;
    }
    if (state == Waiting::admitted) {
      move.number = in_line.number;
    } else {
      move.error = std::make_exception_ptr(SharedSpaceError(
          fmt::format("element '{}' of shared space '{}': a place in line was overwritten", name(),
                      mapping_->name())));
    }
    log_.line().leave(move.place, log_.users());
    waiters_.end(move, wakes);
  }
  return is_one_ready;
}

/// Ends the waiting moves with the error, because there will be no room for them.
void SharedElement::fail_moves(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  while (!waiters_.moves().empty()) {
    Waiters::Move& move = *waiters_.moves().front();
    log_.line().leave(move.place, log_.users());
    move.error = error;
    waiters_.end(move, wakes);
  }
}

}  // namespace pastset
