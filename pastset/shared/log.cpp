// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log.cpp — tuples of a shared element, and repairs after the death of a process
#include "pastset/shared/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace pastset {
namespace {

using shared::Slot;
using shared::Waiting;

constexpr auto relaxed = std::memory_order_relaxed;

/// Indices in Slot::inside, for a tuple in the arena. `its_place`: offset of the tuple in the
/// space. `its_extent`: index of the extent that contains the tuple.
enum Inside : std::size_t { its_place, its_extent };

bool is_large(const Slot& slot) { return slot.bytes.load(relaxed) > base::Payload::inline_bytes; }

/// Returns the index of the extent that contains the tuple of an entry. If a faulty process
/// overwrote the entry, the index is wrong, but at most extents_max.
std::uint32_t extent_of(const Slot& slot) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(slot.inside[its_extent].load(relaxed), shared::extents_max));
}

void fill(Slot& slot, std::span<const std::byte> tuple, const ElementArena::Place& place) {
  std::uint64_t inside[base::Payload::inline_bytes / sizeof(std::uint64_t)] = {};
  if (tuple.size() > sizeof inside) {
    inside[its_place] = place.at;
    inside[its_extent] = place.extent;
  } else if (!tuple.empty()) {
    std::memcpy(inside, tuple.data(), tuple.size());
  }
  for (std::size_t i = 0; i < std::size(inside); ++i) slot.inside[i].store(inside[i], relaxed);
  slot.bytes.store(tuple.size(), relaxed);
}

void copy_words(const Slot& from, Slot& to) {
  for (std::size_t i = 0; i < from.inside.size(); ++i)
    to.inside[i].store(from.inside[i].load(relaxed), relaxed);
  to.bytes.store(from.bytes.load(relaxed), relaxed);
  to.ticket.store(from.ticket.load(relaxed), relaxed);
}

}  // namespace

std::uint64_t SharedLog::region_bytes(const SharedSizes& sizes) {
  return sizes.slots * sizeof(Slot) + sizes.line * sizeof(Waiting);
}

SharedLog::SharedLog(const SharedMapping& mapping, std::uint32_t index)
    : mapping_(mapping),
      index_(index),
      element_(mapping.segment().elements.at(index)),
      users_(mapping, element_) {
  sizes_ = {element_.slots, element_.arena_bytes, element_.line};
  generation_ = element_.generation;
  const std::uint64_t region = element_.region;
  const bool is_right =
      sizes_.slots >= 3 && sizes_.line >= 1 &&
      std::max({sizes_.slots, sizes_.line, sizes_.arena_bytes, region}) <= shared_bytes_max &&
      sizes_.arena_bytes % line_bytes == 0 && region % line_bytes == 0 &&
      region >= shared::segment_head_bytes && region <= mapping.bytes() &&
      element_.region_bytes <= mapping.bytes() - region &&
      region_bytes(sizes_) <= element_.region_bytes;
  if (!is_right) fail("its place in the space");
  std::byte* at = mapping.at(region);
  slots_ = reinterpret_cast<Slot*>(at);
  at += sizes_.slots * sizeof(Slot);
  line_.emplace(element_, reinterpret_cast<Waiting*>(at), sizes_.line);
  share_.emplace(mapping.arena(), element_, index_, generation_, sizes_.arena_bytes);
}

void SharedLog::clear() { std::memset(static_cast<void*>(slots_), 0, region_bytes(sizes_)); }

void SharedLog::fail(const std::string& what) const {
  throw SharedSpaceError(fmt::format("element '{}' of shared space '{}': {} cannot be: overwritten",
                                     name(), mapping_.name(), what));
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
  if (rings != 0) mapping_.ring(rings);
}

bool SharedLog::is_deleted() const {
  return element_.state.load(std::memory_order_acquire) != shared::Element::live ||
         element_.generation.load(relaxed) != generation_;
}

SharedLog::Numbers SharedLog::numbers() const {
  const Numbers it{element_.oldest.load(relaxed), element_.first.load(relaxed),
                   element_.last.load(relaxed)};
  if (it.oldest > it.first || it.first > it.last || it.last - it.oldest > sizes_.slots)
    fail(fmt::format("oldest {}, first {}, last {} of {} slots", it.oldest, it.first, it.last,
                     sizes_.slots));
  return it;
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
  share_->mend(it.last);
  drop_beyond_newest();
  const std::uint64_t newest = it.last > 0 ? slot_of(it.last - 1).ticket.load() : 0;
  line_->mend(newest, it.last);
  admit();
  users_.note_change();
}

// ---- tuples ----------------------------------------------------------------------------------

bool SharedLog::has_room() const {
  if (element_.keep_newest.load(relaxed) > 0) return true;
  const Numbers it = numbers();
  const std::uint64_t delta = element_.delta.load(relaxed);
  return (delta == 0 || it.last - it.first < delta) && it.last - it.oldest + 1 < sizes_.slots;
}

bool SharedLog::may_wait() const { return element_.keep_newest == 0 && element_.delta > 0; }

std::string SharedLog::why_no_room() const {
  const Numbers it = numbers();
  return fmt::format(
      "element '{}' of shared space '{}' is full: {} tuples in {} slots, {} of {} bytes for larger "
      "ones, besides what is being read{}; axe some",
      name(), mapping_.name(), it.last - it.oldest, sizes_.slots - 1, share_->bytes_used(),
      sizes_.arena_bytes,
      arena().has_extents()
          ? ""
          : fmt::format("; all {} extents of the space are taken", shared::extents_max));
}

bool SharedLog::append(std::span<const std::byte> tuple, std::optional<Room>& room) {
  const std::uint64_t last = numbers().last;
  const std::optional<ElementArena::Place> placed = place(tuple, room);
  if (!placed) return false;
  Slot& slot = slot_of(last);
  fill(slot, tuple, *placed);
  note_tuple(slot, last);
  const std::uint64_t ticket = element_.next_ticket.load(relaxed) + 1;
  element_.next_ticket.store(ticket, relaxed);
  slot.ticket.store(ticket, relaxed);
  element_.last.store(last + 1, std::memory_order_release);
  room.reset();  // drops the hold before other processes look for memory
  drop_beyond_newest();
  users_.note_change();
  return true;
}

void SharedLog::drop_beyond_newest() {
  const std::uint64_t keep = element_.keep_newest.load(relaxed);
  if (keep == 0) return;
  Numbers it = numbers();
  for (; it.last - it.oldest > keep; ++it.oldest) {
    if (it.first == it.oldest) element_.first.store(++it.first, relaxed);
    store_oldest(it.oldest + 1);
  }
}

void SharedLog::take_first() { element_.first.store(numbers().first + 1, relaxed); }

void SharedLog::free_to(std::uint64_t number) {
  const Numbers it = numbers();
  const std::uint64_t beyond = number < it.first ? number + 1 : it.first;
  if (beyond > it.oldest) store_oldest(beyond);
}

void SharedLog::store_oldest(std::uint64_t number) {
  element_.oldest.store(number, std::memory_order_release);
  share_->note_gone();
}

/// Notes in the arena which extent contains the tuple. Must be called before the tuple is appended.
/// If the process dies between the note and the append, mend() drops the note.
void SharedLog::note_tuple(const Slot& slot, std::uint64_t number) {
  if (is_large(slot) && !share_->note_tuple(extent_of(slot), number)) fail("the extent of a tuple");
}

// ---- memory of larger tuples -----------------------------------------------------------------

void SharedLog::refuse_what_never_fits(std::size_t bytes) const {
  if (share_->never_fits(bytes))
    throw SharedSpaceFull(
        fmt::format("element '{}' of shared space '{}' has {} bytes for larger tuples; one has {}",
                    name(), mapping_.name(), sizes_.arena_bytes, bytes));
}

/// Returns the place of the tuple in the space. Copies it there if necessary. Sets `room` as
/// ElementArena::place() does.
std::optional<ElementArena::Place> SharedLog::place(std::span<const std::byte> tuple,
                                                    std::optional<Room>& room) {
  if (tuple.size() <= base::Payload::inline_bytes) return ElementArena::Place{};
  if (room) return ElementArena::Place{room->place, room->held.extent()};
  refuse_what_never_fits(tuple.size());
  const std::optional<ElementArena::Place> place = share_->place(tuple.size(), room);
  if (!place) return std::nullopt;
  std::byte* const at = arena().at(place->at, tuple.size());
  if (at == nullptr) fail("an extent");
  std::memcpy(at, tuple.data(), tuple.size());
  return place;
}

std::uint64_t SharedLog::tuples_to_keep() const {
  const Numbers it = numbers();
  const std::uint64_t keeps = std::min(element_.keep_newest.load(relaxed), sizes_.slots);
  return keeps - std::min(keeps, it.last - it.oldest);
}

/// Returns the bytes of an entry's tuple: a copy of a small tuple, or a view of a larger tuple.
SharedLog::Bytes SharedLog::bytes_of(const Slot& slot) const {
  const std::uint64_t bytes = slot.bytes.load(relaxed);
  if (bytes <= base::Payload::inline_bytes) {
    std::uint64_t inside[base::Payload::inline_bytes / sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < std::size(inside); ++i) inside[i] = slot.inside[i].load(relaxed);
    return {{}, 0, base::Payload::copy_of(std::as_bytes(std::span(inside)).first(bytes))};
  }
  const std::uint64_t place = slot.inside[its_place].load(relaxed);
  const std::uint32_t extent = extent_of(slot);
  const std::byte* const at = arena().at(place, bytes);
  if (at == nullptr || extent == shared::extents_max)
    fail(fmt::format("a tuple of {} bytes at place {}", bytes, place));
  return {{at, bytes}, extent, {}};
}

base::Payload SharedLog::read(std::uint64_t number,
                              const std::shared_ptr<SharedMapping>& mapping) const {
  Bytes it = bytes_of(slot_of(number));
  if (it.large.empty()) return std::move(it.small);
  arena().hold(it.extent).keep();
  return base::Payload::adopt(it.large,
                              [mapping, extent = it.extent] { mapping->arena().let_go(extent); });
}

/// Reads the three numbers without a lock, even while other processes change them. Each number only
/// grows, and oldest <= first <= last. The result is consistent, because the numbers are loaded in
/// this order.
SharedLog::Numbers SharedLog::numbers_now() const {
  for (int tried = 0; tried < 1000; ++tried) {
    const Numbers it{element_.oldest, element_.first, element_.last};
    if (element_.oldest == it.oldest) return it;
  }
  return numbers();
}

/// Copies a tuple without a lock. Its entry and extent do not change until `oldest` exceeds the
/// number of the tuple.
std::optional<base::Payload> SharedLog::glance(std::uint64_t number) const {
  const auto is_there = [&] { return element_.oldest <= number && !is_deleted(); };
  if (!is_there()) return std::nullopt;
  try {
    Bytes it = bytes_of(slot_of(number));
    base::Payload copy = it.large.empty() ? std::move(it.small) : base::Payload::copy_of(it.large);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (is_there()) return copy;
  } catch (const SharedSpaceError&) {
    if (is_there()) throw;  // otherwise another tuple is in the entry by now
  }
  return std::nullopt;
}

SharedSpaceError SharedLog::overwritten(std::uint64_t number, const std::string& mismatch) const {
  return SharedSpaceError(
      fmt::format("element '{}' of shared space '{}': tuple {} was overwritten: {}", name(),
                  mapping_.name(), number, mismatch));
}

// ---- line of waiting moves -------------------------------------------------------------------

std::uint32_t SharedLog::join_line(std::span<const std::byte> tuple, std::optional<Room>& room) {
  const std::optional<std::uint32_t> place = line_->free_place();
  if (!place)
    throw SharedSpaceFull(
        fmt::format("element '{}' of shared space '{}': {} movers wait, as many "
                    "as can",
                    name(), mapping_.name(), sizes_.line));
  Waiting& mine = line_->at(*place);
  const bool is_stored = !line_->has_one_without_memory() && store_in_line(*place, tuple, room);
  const std::uint64_t ticket = element_.next_ticket + 1;
  element_.next_ticket = ticket;
  mine.slot.ticket = ticket;
  mine.process = mapping_.me();
  mine.state = is_stored ? Waiting::ready : Waiting::needs_memory;
  if (!is_stored) arena().want_memory(index_, true);
  ++element_.line_count;
  return *place;
}

bool SharedLog::store_in_line(std::uint32_t at, std::span<const std::byte> tuple,
                              std::optional<Room>& room) {
  Waiting& mine = line_->at(at);
  mine.slot.bytes = 0;
  const std::optional<ElementArena::Place> placed = place(tuple, room);
  if (!placed) return false;
  fill(mine.slot, tuple, *placed);
  if (!is_large(mine.slot)) return true;
  if (!room) room = Room{arena().hold(placed->extent), placed->at};
  line_->keep_hold(at, std::move(room->held));
  room.reset();
  return true;
}

bool SharedLog::find_memory(std::uint32_t place, std::span<const std::byte> tuple) {
  Waiting& mine = line_->at(place);
  if (mine.state != Waiting::needs_memory || line_->head() != place) return false;
  arena().want_memory(index_, true);
  std::optional<Room> room = arena().find(tuple);
  if (!store_in_line(place, tuple, room)) return false;
  mine.state = Waiting::ready;
  return true;
}

bool SharedLog::admit() {
  bool has_admitted = false;
  for (std::uint64_t i = 0; i < sizes_.line && element_.line_count > 0 && has_room(); ++i) {
    const std::optional<std::uint32_t> head = line_->head();
    if (!head) {
      element_.line_count = 0;
      break;
    }
    Waiting& one = line_->at(*head);
    if (one.state != Waiting::ready) break;
    if (is_large(one.slot) && !arena().holds(one.process, extent_of(one.slot))) {
      // The process of the move has died, and another tuple may use its memory.
      line_->remove(one, users_);
      continue;
    }
    const std::uint64_t last = numbers().last;
    Slot& slot = slot_of(last);
    copy_words(one.slot, slot);
    note_tuple(slot, last);
    one.number = last;
    element_.last.store(last + 1, std::memory_order_release);
    one.state = Waiting::admitted;
    --element_.line_count;
    drop_beyond_newest();
    users_.note_change();
    has_admitted = true;
  }
  if (arena().wants_memory(index_)) arena().want_memory(index_, line_->has_one_without_memory());
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
