// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/element_users.cpp — users of a shared element, and errors after a user's death
#include "pastset/shared/log/element_users.hpp"

#include <fmt/format.h>

#include <utility>

#include "pastset/errors.hpp"

namespace pastset {

void ElementUsers::note_change() {
  element_.changes.store(element_.changes.load(shared::relaxed) + 1, std::memory_order_release);
  to_ring_ |= element_.listeners.load() & ~my_bit();
}

std::uint32_t ElementUsers::take_rings() { return std::exchange(to_ring_, 0); }

void ElementUsers::note_first(shared::Word& all, shared::Who& lost) {
  all |= my_bit();
  write_text(lost, "");
}

void ElementUsers::forget(std::uint32_t process, const std::string& who) {
  const std::uint32_t bit = std::uint32_t{1} << process;
  const auto leave = [&](shared::Word& all, shared::Who& lost) {
    if (all == bit) write_text(lost, who);
    all &= ~bit;
  };
  leave(element_.movers, element_.lost_mover);
  leave(element_.takers, element_.lost_taker);
  element_.listeners &= ~bit;
}

std::exception_ptr ElementUsers::died(const std::string& who, const char* what) const {
  return std::make_exception_ptr(
      ProcessDied(fmt::format("element '{}' of shared space '{}': {}, {}, has died",
                              read_text(element_.name), mapping_.name(), who, what)));
}

std::exception_ptr ElementUsers::why_orphaned() const {
  const auto owner = mapping_.processes().dead_owner();
  return owner ? died(*owner, "which owned the space") : nullptr;
}

std::optional<ErrorMark> ElementUsers::mark() const {
  if (element_.mark_state == shared::Element::unmarked) return std::nullopt;
  const bool is_loss = element_.mark_state == shared::Element::marked_loss;
  return ErrorMark(read_text(element_.mark), is_loss ? MarkCause::loss : MarkCause::error);
}

std::exception_ptr ElementUsers::why_none_comes() const {
  if (const auto set = mark()) return std::make_exception_ptr(Marked(*set));
  if (const auto error = why_orphaned()) return error;
  const std::string who = read_text(element_.lost_mover);
  return who.empty() ? nullptr : died(who, "the last that moved tuples into it");
}

std::exception_ptr ElementUsers::why_no_room_comes() const {
  if (const auto error = why_orphaned()) return error;
  const std::string who = read_text(element_.lost_taker);
  return who.empty() ? nullptr : died(who, "the last that observed or axed its tuples");
}

}  // namespace pastset
