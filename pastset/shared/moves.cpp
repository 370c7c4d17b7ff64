// SPDX-License-Identifier: Apache-2.0
// pastset/shared/moves.cpp — moves that are appended at once, wait in the line, or are withdrawn
#include "pastset/shared/moves.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace pastset {

using shared::Waiting;

std::optional<std::uint64_t> SharedMoves::append(Incoming& incoming) {
  if (const auto error = log_.users().why_orphaned()) std::rethrow_exception(error);
  log_.users().note_mover();
  if (!log_.line().is_empty() || !log_.range().has_room() ||
      !log_.append(incoming.tuple.bytes(), incoming.room))
    return std::nullopt;
  return log_.numbers().last - 1;
}

std::uint32_t SharedMoves::join_line(Incoming& incoming) {
  if (!log_.may_wait()) throw SharedSpaceFull(log_.why_no_room());
  if (const auto error = log_.users().why_no_room_comes()) std::rethrow_exception(error);
  return log_.join_line(incoming.tuple.bytes(), incoming.room);
}

bool SharedMoves::answer(runtime::DeferredWakes& wakes) {
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
          fmt::format("element '{}' of shared space '{}': a place in line was overwritten",
                      element_.name(), mapping_.name())));
    }
    log_.line().leave(move.place, log_.users());
    waiters_.end(move, wakes);
  }
  return is_one_ready;
}

void SharedMoves::fail(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  while (!waiters_.moves().empty()) {
    Waiters::Move& move = *waiters_.moves().front();
    log_.line().leave(move.place, log_.users());
    move.error = error;
    waiters_.end(move, wakes);
  }
}

std::string SharedMoves::no_room() const {
  const SharedLog::Numbers it = log_.numbers();
  std::string text = waiters_.no_room(it.last - it.first);
  if (it.last - it.first < log_.element().delta) text += "; " + log_.why_no_room();
  return text;
}

// ---- withdrawn moves -------------------------------------------------------------------------

void SharedMoves::withdraw(std::uint32_t place, bool is_log_held) {
  withdrawn_.push_back(place);
  if (is_log_held)
    free_withdrawn();
  else
    log_.users().ring_this_process();
}

void SharedMoves::withdraw_begun() {
  for (const Waiters::Move* move : waiters_.begun_moves()) withdrawn_.push_back(move->place);
}

void SharedMoves::free_withdrawn() {
  const std::vector<std::uint32_t> places = std::exchange(withdrawn_, {});
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

}  // namespace pastset
