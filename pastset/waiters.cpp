// SPDX-License-Identifier: Apache-2.0
// pastset/waiters.cpp — lists of waiting reads and moves, and messages for failed waits
#include "pastset/waiters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.hpp"
#include "pastset/any_change.hpp"

namespace pastset {

Deleted deleted(const Element& element) {
  return Deleted(fmt::format("element '{}' was deleted", element.name()));
}

Expired expired(const Element& element, std::uint64_t number, std::uint64_t oldest) {
  return Expired(fmt::format("element '{}': tuple {} is gone, the oldest kept is {}",
                             element.name(), number, oldest));
}

Waiters::Move::Move(Waiters& all, base::Payload to_store, std::uint32_t at)
    : among(all), stored(std::move(to_store)), place(at) {
  among.moves_.push_back(this);
}

Waiters::Move::~Move() {
  if (is_waiting) among.leave(*this);
}

/// Removes a move from the queue, usually the first move of the queue.
void Waiters::leave(Move& move) {
  moves_.erase(std::find(moves_.begin(), moves_.end(), &move));
  move.is_waiting = false;
}

void Waiters::ensure_none() const {
  ENSURE_EQ(blocked_, 0u);
  ENSURE(watchers_.empty());
}

bool Waiters::has_any() const {
  return blocked_ > 0 || has_started_reads() || !moves_.empty() || !watchers_.empty();
}

runtime::Woken Waiters::wait(runtime::WaitList& list, runtime::Lock& lock,
                             runtime::Deadline deadline, const runtime::Reason& reason) {
  const Blocked blocked(*this);
  return list.wait(lock, deadline, reason);
}

void Waiters::set_watcher(AnyChange& watcher, bool is_watching) {
  if (is_watching)
    watchers_.push_back(&watcher);
  else
    std::erase(watchers_, &watcher);
}

void Waiters::notify_watchers(runtime::DeferredWakes& wakes) {
  for (AnyChange* watcher : watchers_) watcher->tell(element_, wakes);
}

void Waiters::wake_all(runtime::DeferredWakes& wakes) {
  reads_.wake_all(wakes);
  for (Move* move : moves_) move->waiting.wake_all(wakes);
}

void Waiters::fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  started_reads_.fail_all(error, wakes);
  for (Move* move : begun_moves()) {
    move->error = error;
    end(*move, wakes);
  }
}

void Waiters::begin(std::unique_ptr<Move> move, Access& access) {
  move->access = &access;
  access.is_waiting = true;
  move.release();
}

void Waiters::end(Move& move, runtime::DeferredWakes& wakes) {
  leave(move);
  move.waiting.wake_all(wakes);
  if (move.access == nullptr) return;
  const std::unique_ptr<Move> over(&move);
  move.access->is_waiting = false;
  if (move.number)
    answer(*move.access, *move.number, wakes);
  else
    fail(*move.access, move.error, wakes);
}

std::unique_ptr<Waiters::Move> Waiters::give_up(Move& move) {
  std::unique_ptr<Move> given_up(&move);
  leave(move);
  move.access->is_waiting = false;
  return given_up;
}

Waiters::Move& Waiters::move_of(const Access& access) const {
  return **std::find_if(moves_.begin(), moves_.end(),
                        [&](const Move* one) { return one->access == &access; });
}

std::vector<Waiters::Move*> Waiters::begun_moves() const {
  std::vector<Move*> begun;
  std::copy_if(moves_.begin(), moves_.end(), std::back_inserter(begun),
               [](const Move* one) { return one->access != nullptr; });
  return begun;
}

std::string Waiters::no_room(std::uint64_t unobserved) const {
  return fmt::format("element '{}': no room before the deadline, {} unobserved", element_.name(),
                     unobserved);
}

std::string Waiters::no_tuple(std::uint64_t number) const {
  return fmt::format("element '{}': no tuple {} before the deadline", element_.name(), number);
}

}  // namespace pastset
