// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/log.cpp — tuples of a shared element, and repairs after the death of a process
#include "pastset/shared/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pastset {

using shared::relaxed;
using shared::Slot;
using shared::Waiting;

SharedLog::SharedLog(const SharedMapping& mapping, std::uint32_t index)
    : mapping_(mapping),
      index_(index),
      element_(mapping.segment().elements.at(index)),
      sizes_{element_.slots, element_.arena_bytes, element_.line},
      generation_(element_.generation),
      users_(mapping, element_),
      range_(mapping, element_, sizes_.slots),
      tuples_(mapping, element_, index, generation_, sizes_.arena_bytes) {
  const std::uint64_t region = element_.region;
  const bool is_right =
      sizes_.slots >= 3 && sizes_.line >= 1 &&
      std::max({sizes_.slots, sizes_.line, sizes_.arena_bytes, region}) <= shared_bytes_max &&
      sizes_.arena_bytes % line_bytes == 0 && region % line_bytes == 0 &&
      region >= shared::segment_head_bytes && region <= mapping.bytes() &&
      element_.region_bytes <= mapping.bytes() - region &&
      shared::region_bytes(sizes_) <= element_.region_bytes;
  if (!is_right) throw invalid_value(mapping, element_, "its place in the space");
  std::byte* at = mapping.at(region);
  slots_ = reinterpret_cast<Slot*>(at);
  at += sizes_.slots * sizeof(Slot);
  line_.emplace(element_, reinterpret_cast<Waiting*>(at), sizes_.line);
}

bool SharedLog::try_take(base::Nanos patience) {
  const std::optional<bool> is_to_mend = mapping_.try_take(element_.lock, patience);
  if (!is_to_mend) return false;
  try {
    if (*is_to_mend && element_.state == shared::Element::live) mend_present();
  } catch (...) {
    element_.lock.unlock();
    throw;
  }
  return true;
}

SharedSpaceError SharedLog::held_for_long() const {
  return mapping_.held_for_long(element_.lock, "an element");
}

void SharedLog::let_go() {
  const std::uint32_t rings = users_.take_rings();
  element_.lock.unlock();
  if (rings != 0) mapping_.processes().ring(rings);
}

bool SharedLog::is_deleted() const {
  return element_.state.load(std::memory_order_acquire) != shared::Element::live ||
         element_.generation.load(relaxed) != generation_;
}

/// Repairs the element that has this index now, after the death of a process that held its lock.
/// This SharedLog may belong to an older, deleted element with the same index. This call must
/// repair the present element even then, because only the call that got the lock learns of the
/// death.
void SharedLog::mend_present() {
  if (!is_deleted()) return mend();
  SharedLog present(mapping_, index_);
  present.mend();
  users_.add_rings(present.users_.take_rings());
}

/// Completes or undoes the change of the element that a dead process has left unfinished.
void SharedLog::mend() {
  if (element_.first < element_.oldest) element_.first = element_.oldest.load();
  const Numbers it = numbers();
  tuples_.memory().mend(it.last);
  range_.drop_beyond_newest();
  const std::uint64_t newest = it.last > 0 ? slot_of(it.last - 1).ticket.load() : 0;
  line_->mend(newest, it.last);
  admit();
  users_.note_change();
}

// ---- tuples ----------------------------------------------------------------------------------

bool SharedLog::may_wait() const { return element_.keep_newest == 0 && element_.delta > 0; }

std::string SharedLog::why_no_room() const {
  const Numbers it = numbers();
  return fmt::format(
      "element '{}' of shared space '{}' is full: {} tuples in {} slots, {} of {} bytes for larger "
      "ones, besides what is being read{}; axe some",
      read_text(element_.name), mapping_.name(), it.last - it.oldest, sizes_.slots - 1,
      tuples_.memory().bytes_used(), sizes_.arena_bytes,
      mapping_.arena().has_extents()
          ? ""
          : fmt::format("; all {} extents of the space are taken", shared::extents_max));
}

bool SharedLog::append(std::span<const std::byte> tuple, std::optional<Room>& room) {
  const std::uint64_t last = numbers().last;
  Slot& slot = slot_of(last);
  if (!tuples_.store(slot, tuple, room)) return false;
  tuples_.note_tuple(slot, last);
  const std::uint64_t ticket = element_.next_ticket.load(relaxed) + 1;
  element_.next_ticket.store(ticket, relaxed);
  slot.ticket.store(ticket, relaxed);
  element_.last.store(last + 1, std::memory_order_release);
  room.reset();  // drops the hold before other processes look for memory
  range_.drop_beyond_newest();
  users_.note_change();
  return true;
}

/// Copies a tuple without a lock. Its entry and extent do not change until `oldest` exceeds the
/// number of the tuple.
std::optional<base::Payload> SharedLog::glance(std::uint64_t number) const {
  const auto is_there = [&] { return element_.oldest <= number && !is_deleted(); };
  if (!is_there()) return std::nullopt;
  try {
    base::Payload copy = tuples_.copy(slot_of(number));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (is_there()) return copy;
  } catch (const SharedSpaceError&) {
    if (is_there()) throw;  // otherwise another tuple is in the entry by now
  }
  return std::nullopt;
}

SharedSpaceError SharedLog::overwritten(std::uint64_t number, const std::string& mismatch) const {
  return SharedSpaceError(
      fmt::format("element '{}' of shared space '{}': tuple {} was overwritten: {}",
                  read_text(element_.name), mapping_.name(), number, mismatch));
}

// ---- line of waiting moves -------------------------------------------------------------------

std::uint32_t SharedLog::join_line(std::span<const std::byte> tuple, std::optional<Room>& room) {
  const std::optional<std::uint32_t> place = line_->free_place();
  if (!place)
    throw SharedSpaceFull(
        fmt::format("element '{}' of shared space '{}': {} movers wait, as many "
                    "as can",
                    read_text(element_.name), mapping_.name(), sizes_.line));
  Waiting& mine = line_->at(*place);
  const bool is_stored = !line_->has_one_without_memory() && store_in_line(*place, tuple, room);
  const std::uint64_t ticket = element_.next_ticket + 1;
  element_.next_ticket = ticket;
  mine.slot.ticket = ticket;
  mine.process = mapping_.me();
  mine.state = is_stored ? Waiting::ready : Waiting::needs_memory;
  if (!is_stored) mapping_.arena().want_memory(index_, true);
  ++element_.line_count;
  return *place;
}

bool SharedLog::store_in_line(std::uint32_t at, std::span<const std::byte> tuple,
                              std::optional<Room>& room) {
  Waiting& mine = line_->at(at);
  mine.slot.bytes = 0;
  if (!tuples_.store(mine.slot, tuple, room)) return false;
  if (!is_large(mine.slot)) return true;
  line_->keep_hold(at, room ? std::move(room->held) : mapping_.arena().hold(extent_of(mine.slot)));
  room.reset();
  return true;
}

bool SharedLog::find_memory(std::uint32_t place, std::span<const std::byte> tuple) {
  Waiting& mine = line_->at(place);
  if (mine.state != Waiting::needs_memory || line_->head() != place) return false;
  mapping_.arena().want_memory(index_, true);
  std::optional<Room> room = mapping_.arena().find(tuple);
  if (!store_in_line(place, tuple, room)) return false;
  mine.state = Waiting::ready;
  return true;
}

bool SharedLog::admit() {
  bool has_admitted = false;
  for (std::uint64_t i = 0; i < sizes_.line && element_.line_count > 0 && range_.has_room(); ++i) {
    const std::optional<std::uint32_t> head = line_->head();
    if (!head) {
      element_.line_count = 0;
      break;
    }
    Waiting& one = line_->at(*head);
    if (one.state != Waiting::ready) break;
    if (is_large(one.slot) && !mapping_.arena().extents().holds(one.process, extent_of(one.slot))) {
      // The process of the move has died, and another tuple may use its memory.
      line_->remove(one, users_);
      continue;
    }
    const std::uint64_t last = numbers().last;
    Slot& slot = slot_of(last);
    copy_slot(one.slot, slot);
    tuples_.note_tuple(slot, last);
    one.number = last;
    element_.last.store(last + 1, std::memory_order_release);
    one.state = Waiting::admitted;
    --element_.line_count;
    range_.drop_beyond_newest();
    users_.note_change();
    has_admitted = true;
  }
  if (mapping_.arena().wants_memory(index_))
    mapping_.arena().want_memory(index_, line_->has_one_without_memory());
  return has_admitted;
}

// ---- processes that use the element ----------------------------------------------------------

void SharedLog::forget(std::uint32_t process, const std::string& who) {
  // If the generations differ, the element of this view was deleted, and a new element has the same
  // index. `process` has not used the new element, so the new element does not change.
  if (element_.generation != generation_) return;
  if (is_deleted()) return;
  users_.forget(process, who);
  line_->remove_all_of(process, users_);
  admit();
  users_.note_change();
}

}  // namespace pastset
