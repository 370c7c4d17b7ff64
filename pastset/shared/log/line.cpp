// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/line.cpp — order of the waiting moves, and the end of a wait
#include "pastset/shared/log/line.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace pastset {

using shared::Waiting;

SharedLine::~SharedLine() {
  for (auto& [place, held] : held_) held.keep();
}

std::optional<std::uint32_t> SharedLine::free_place() const {
  for (std::uint32_t place = 0; place < count_; ++place)
    if (places_[place].state == Waiting::nobody) return place;
  return std::nullopt;
}

std::optional<std::uint32_t> SharedLine::head() const {
  std::optional<std::uint32_t> head;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint32_t state = places_[i].state.load(std::memory_order_relaxed);
    if (state != Waiting::ready && state != Waiting::needs_memory) continue;
    if (const std::uint64_t ticket = places_[i].slot.ticket; ticket < least) {
      least = ticket;
      head = i;
    }
  }
  return head;
}

bool SharedLine::has_one_without_memory() const {
  return std::any_of(places_, places_ + count_,
                     [](const Waiting& one) { return one.state == Waiting::needs_memory; });
}

void SharedLine::keep_hold(std::uint32_t place, SharedArena::Held held) {
  held_.insert_or_assign(place, std::move(held));
}

void SharedLine::leave(std::uint32_t place, ElementUsers& users) {
  remove(places_[place], users);
  held_.erase(place);
}

void SharedLine::remove(Waiting& one, ElementUsers& users) {
  const std::uint32_t was = one.state.exchange(Waiting::nobody);
  if (was == Waiting::nobody || was == Waiting::admitted || element_.line_count == 0) return;
  --element_.line_count;
  users.note_change();  // another move may wait for a place in the line
}

void SharedLine::remove_all_of(std::uint32_t process, ElementUsers& users) {
  for (std::uint32_t place = 0; place < count_; ++place)
    if (places_[place].state != Waiting::nobody && places_[place].process == process)
      remove(places_[place], users);
}

/// Repairs the line after a process has died while it held the element. At most one move still has
/// the state `ready` although its tuple was already appended: the move of the newest tuple.
void SharedLine::mend(std::uint64_t newest, std::uint64_t last) {
  std::uint32_t count = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    Waiting& one = places_[i];
    if (one.state == Waiting::ready && last > 0 && one.slot.ticket == newest) {
      one.number = last - 1;
      one.state = Waiting::admitted;
    }
    count += one.state == Waiting::ready || one.state == Waiting::needs_memory ? 1 : 0;
  }
  element_.line_count = count;
}

}  // namespace pastset
