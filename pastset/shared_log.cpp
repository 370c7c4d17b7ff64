// SPDX-License-Identifier: Apache-2.0
// pastset/shared_log.cpp — tuples in shared memory, whoever dies while he puts them there.
#include "pastset/shared_log.hpp"

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

constexpr std::uint64_t most_places = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t SharedLog::region_bytes(const SharedSizes& sizes) {
  return sizes.slots * sizeof(Slot) + sizes.line * sizeof(Waiting) +
         in_lines(shared::processes_max * sizeof(shared::Pins)) + sizes.arena_bytes;
}

SharedLog::SharedLog(const SharedMapping& mapping, std::uint32_t index)
    : mapping_(mapping), index_(index), element_(mapping.segment().elements.at(index)) {
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
  line_ = reinterpret_cast<Waiting*>(at);
  at += sizes_.line * sizeof(Waiting);
  pins_ = reinterpret_cast<shared::Pins*>(at);
  arena_ = at + in_lines(shared::processes_max * sizeof(shared::Pins));
}

bool SharedLog::is_pinned() const {
  for (std::size_t process = 0; process < shared::processes_max; ++process)
    for (const shared::Pin& one : pins_[process])
      if (one.place != 0) return true;
  return false;
}

void SharedLog::clear() {
  const auto* const begin = reinterpret_cast<const std::byte*>(slots_);
  std::memset(static_cast<void*>(slots_), 0, static_cast<std::size_t>(arena_ - begin));
}

void SharedLog::fail(const std::string& what) const {
  throw SharedSpaceError(fmt::format("element '{}' of shared space '{}': {} cannot be: overwritten",
                                     name(), mapping_.name(), what));
}

void SharedLog::take() {
  if (!try_take(mapping_.lock_patience())) throw held_for_long();
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
  const std::uint32_t rings = std::exchange(to_ring_, 0);
  element_.lock.unlock();
  if (rings != 0) mapping_.ring(rings);
}

void SharedLog::note_change() {
  element_.changes.store(element_.changes.load(relaxed) + 1, std::memory_order_release);
  to_ring_ |= element_.listeners.load() & ~my_bit();
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

/// Nobody else is told that the holder died: it may be another element by now than the one of this
/// view.
void SharedLog::mend_present() {
  if (!is_deleted()) return mend();
  SharedLog present(mapping_, index_);
  present.mend();
  to_ring_ |= present.to_ring_;
}

/// What a process that died with the lock has left half done.
void SharedLog::mend() {
  if (element_.first < element_.oldest) element_.first = element_.oldest.load();
  const Numbers it = numbers();
  drop_beyond_newest();
  // Of the line, at most the one of the last tuple was appended and not yet told.
  const std::uint64_t newest = it.last > 0 ? slot_of(it.last - 1).ticket.load() : 0;
  std::uint32_t count = 0;
  for (std::uint64_t i = 0; i < sizes_.line; ++i) {
    Waiting& one = line_[i];
    if (one.state == Waiting::ready && it.last > 0 && one.slot.ticket == newest) {
      one.number = it.last - 1;
      one.state = Waiting::admitted;
    }
    count += one.state == Waiting::ready || one.state == Waiting::needs_memory ? 1 : 0;
  }
  element_.line_count = count;
  admit();
  note_change();
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
      "ones, besides what is being read; axe some",
      name(), mapping_.name(), it.last - it.oldest, sizes_.slots - 1, arena_bytes_used(),
      sizes_.arena_bytes);
}

std::uint64_t SharedLog::arena_bytes_used() const {
  const std::uint64_t next = element_.arena_next;
  return next - std::min(oldest_place(next), next);
}

bool SharedLog::append(std::span<const std::byte> tuple) {
  const std::uint64_t last = numbers().last;
  Slot& slot = slot_of(last);
  if (!store(slot, tuple)) return false;
  const std::uint64_t ticket = element_.next_ticket.load(relaxed) + 1;
  element_.next_ticket.store(ticket, relaxed);
  slot.ticket.store(ticket, relaxed);
  element_.last.store(last + 1, std::memory_order_release);
  drop_beyond_newest();
  note_change();
  return true;
}

void SharedLog::drop_beyond_newest() {
  const std::uint64_t keep = element_.keep_newest.load(relaxed);
  if (keep == 0) return;
  Numbers it = numbers();
  for (; it.last - it.oldest > keep; ++it.oldest) {
    if (it.first == it.oldest) element_.first.store(++it.first, relaxed);
    element_.oldest.store(it.oldest + 1, std::memory_order_release);
  }
}

void SharedLog::take_first() { element_.first.store(numbers().first + 1, relaxed); }

void SharedLog::free_to(std::uint64_t number) {
  const Numbers it = numbers();
  const std::uint64_t beyond = number < it.first ? number + 1 : it.first;
  if (beyond > it.oldest) element_.oldest.store(beyond, relaxed);
}

bool SharedLog::store(Slot& slot, std::span<const std::byte> tuple) {
  std::uint64_t inside[base::Payload::inline_bytes / sizeof(std::uint64_t)] = {};
  if (tuple.size() <= sizeof inside) {
    if (!tuple.empty()) std::memcpy(inside, tuple.data(), tuple.size());
  } else {
    const std::optional<std::uint64_t> place = take_arena(tuple.size());
    if (!place) return false;
    inside[0] = *place;
    std::memcpy(arena_ + *place % sizes_.arena_bytes, tuple.data(), tuple.size());
  }
  for (std::size_t i = 0; i < std::size(inside); ++i) slot.inside[i].store(inside[i], relaxed);
  slot.bytes.store(tuple.size(), relaxed);
  return true;
}

/// A place is taken before it is written to: one that dies leaves a gap, which is free again with
/// what was before it.
std::optional<std::uint64_t> SharedLog::take_arena(std::size_t bytes) {
  const std::uint64_t size = sizes_.arena_bytes, wanted = in_lines(bytes);
  if (wanted > size)
    throw SharedSpaceFull(
        fmt::format("element '{}' of shared space '{}' has {} bytes for larger tuples; one has {}",
                    name(), mapping_.name(), size, bytes));
  std::uint64_t place = element_.arena_next.load(relaxed);
  if (place % line_bytes != 0 || place >= most_places)
    fail(fmt::format("place {} in its arena", place));
  const auto fits = [&](std::uint64_t tail) {
    if (place % size + wanted > size) place += size - place % size;
    return tail <= place && place - tail <= size - wanted;
  };
  if (!fits(element_.arena_tail.load(relaxed))) {
    const std::uint64_t tail = oldest_place(place);
    element_.arena_tail.store(std::min(tail, oldest_pinned(place)), relaxed);
    do {
      if (!fits(tail)) return std::nullopt;
    } while (step_over_pinned(place, wanted));
  }
  element_.arena_next.store(place + wanted, relaxed);
  return place;
}

/// Of those in slots and in line; `next` when there is none.
std::uint64_t SharedLog::oldest_place(std::uint64_t next) const {
  std::uint64_t oldest = next;
  const auto look = [&](const Slot& slot) {
    if (slot.bytes <= base::Payload::inline_bytes) return false;
    oldest = std::min(oldest, slot.inside[0].load());
    return true;
  };
  const Numbers it = numbers();
  for (std::uint64_t number = it.oldest; number < it.last; ++number)
    if (look(slot_of(number))) break;
  for (std::uint64_t i = 0; element_.line_count > 0 && i < sizes_.line; ++i)
    if (line_[i].state == Waiting::ready) look(line_[i].slot);
  return oldest;
}

std::uint64_t SharedLog::oldest_pinned(std::uint64_t next) const {
  std::uint64_t oldest = next;
  for (std::size_t process = 0; process < shared::processes_max; ++process)
    for (const shared::Pin& one : pins_[process])
      if (const std::uint64_t place = one.place; place != 0) oldest = std::min(oldest, place - 1);
  return oldest;
}

/// A tuple may be read for long after it is gone from the log: what comes later goes around it.
bool SharedLog::step_over_pinned(std::uint64_t& place, std::uint64_t wanted) const {
  const std::uint64_t size = sizes_.arena_bytes, at = place % size;
  for (std::size_t process = 0; process < shared::processes_max; ++process)
    for (const shared::Pin& one : pins_[process]) {
      const std::uint64_t pinned = one.place.load();
      if (pinned == 0) continue;
      const std::uint64_t from = (pinned - 1) % size;
      const std::uint64_t to = from + in_lines(std::min<std::uint64_t>(one.bytes, size));
      if (from >= at + wanted || to <= at) continue;
      place += to - at;
      return true;
    }
  return false;
}

std::span<const std::byte> SharedLog::large(const Slot& slot) const {
  const std::uint64_t bytes = slot.bytes.load(relaxed), place = slot.inside[0].load(relaxed);
  const std::uint64_t at = place % std::max<std::uint64_t>(sizes_.arena_bytes, 1);
  if (bytes > sizes_.arena_bytes || at + bytes > sizes_.arena_bytes)
    fail(fmt::format("a tuple of {} bytes at place {} of an arena of {}", bytes, place,
                     sizes_.arena_bytes));
  return {arena_ + at, bytes};
}

std::atomic<std::uint64_t>* SharedLog::pin(const Slot& slot) const {
  for (shared::Pin& one : pins_[mapping_.me()]) {
    if (one.place.load(relaxed) != 0) continue;
    one.bytes.store(slot.bytes.load(relaxed), relaxed);
    one.place.store(slot.inside[0].load(relaxed) + 1);
    return &one.place;
  }
  return nullptr;
}

base::Payload SharedLog::read(std::uint64_t number,
                              const std::shared_ptr<SharedMapping>& mapping) const {
  const Slot& slot = slot_of(number);
  const std::uint64_t bytes = slot.bytes.load(relaxed);
  if (bytes <= base::Payload::inline_bytes) {
    std::uint64_t inside[base::Payload::inline_bytes / sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < std::size(inside); ++i) inside[i] = slot.inside[i].load(relaxed);
    return base::Payload::copy_of(std::as_bytes(std::span(inside)).first(bytes));
  }
  const std::span<const std::byte> tuple = large(slot);
  std::atomic<std::uint64_t>* const pinned = pin(slot);
  if (pinned == nullptr) return base::Payload::copy_of(tuple);  // too many are pinned
  // Whoever waits for memory says so before he looks at the pins.
  return base::Payload::adopt(tuple, [pinned, mapping, element = &element_] {
    if (!mapping->is_ours()) return;
    pinned->store(0);
    if (element->wants_memory != 0) mapping->ring(element->listeners);
  });
}

// ---- the line --------------------------------------------------------------------------------

/// First come is first served: none is stored while one before it has no memory.
std::optional<std::uint32_t> SharedLog::head_of_line() const {
  std::optional<std::uint32_t> head;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t i = 0; i < sizes_.line; ++i) {
    const std::uint32_t state = line_[i].state.load(relaxed);
    if (state != Waiting::ready && state != Waiting::needs_memory) continue;
    if (const std::uint64_t ticket = line_[i].slot.ticket; ticket < least) {
      least = ticket;
      head = i;
    }
  }
  return head;
}

std::uint32_t SharedLog::join_line(std::span<const std::byte> tuple) {
  std::uint32_t place = 0;
  bool is_one_without = false;
  for (std::uint32_t i = 0; i < sizes_.line; ++i)
    is_one_without |= line_[i].state == Waiting::needs_memory;
  while (place < sizes_.line && line_[place].state != Waiting::nobody) ++place;
  if (place == sizes_.line)
    throw SharedSpaceFull(
        fmt::format("element '{}' of shared space '{}': {} movers wait, as many "
                    "as can",
                    name(), mapping_.name(), place));
  Waiting& mine = line_[place];
  const bool is_stored = !is_one_without && store(mine.slot, tuple);
  const std::uint64_t ticket = element_.next_ticket + 1;
  element_.next_ticket = ticket;
  mine.slot.ticket = ticket;
  mine.process = mapping_.me();
  mine.state = is_stored ? Waiting::ready : Waiting::needs_memory;
  if (!is_stored) element_.wants_memory = 1;
  ++element_.line_count;
  return place;
}

void SharedLog::leave_line(std::uint32_t place) {
  Waiting& mine = line_[place];
  const std::uint32_t was = mine.state.exchange(Waiting::nobody);
  if (was == Waiting::nobody || was == Waiting::admitted || element_.line_count == 0) return;
  --element_.line_count;
  note_change();  // who is next may have been kept by it
}

bool SharedLog::find_memory(std::uint32_t place, std::span<const std::byte> tuple) {
  Waiting& mine = line_[place];
  if (mine.state != Waiting::needs_memory || head_of_line() != place) return false;
  element_.wants_memory = 1;
  if (!store(mine.slot, tuple)) return false;
  mine.state = Waiting::ready;
  return true;
}

bool SharedLog::admit() {
  bool has_admitted = false;
  for (std::uint64_t i = 0; i < sizes_.line && element_.line_count > 0 && has_room(); ++i) {
    const std::optional<std::uint32_t> head = head_of_line();
    if (!head) {
      element_.line_count = 0;
      break;
    }
    Waiting& one = line_[*head];
    if (one.state != Waiting::ready) break;
    const std::uint64_t last = numbers().last;
    Slot& slot = slot_of(last);
    for (std::size_t word = 0; word < one.slot.inside.size(); ++word)
      slot.inside[word].store(one.slot.inside[word].load(relaxed), relaxed);
    slot.bytes.store(one.slot.bytes.load(relaxed), relaxed);
    slot.ticket.store(one.slot.ticket.load(relaxed), relaxed);
    one.number = last;
    element_.last.store(last + 1, std::memory_order_release);
    one.state = Waiting::admitted;
    --element_.line_count;
    drop_beyond_newest();
    note_change();
    has_admitted = true;
  }
  if (element_.line_count.load(relaxed) == 0 && element_.wants_memory.load(relaxed) != 0)
    element_.wants_memory = 0;
  return has_admitted;
}

void SharedLog::note_first(shared::Word& all, shared::Who& lost) {
  all |= my_bit();
  write_text(lost, "");
}

void SharedLog::forget(std::uint32_t process, const std::string& who) {
  if (element_.generation != generation_) return;  // another one, which it has never seen
  for (shared::Pin& one : pins_[process]) one.place = 0;
  if (is_deleted()) return;  // its memory may be used again
  const auto leave = [&](shared::Word& all, shared::Who& lost) {
    const std::uint32_t bit = std::uint32_t{1} << process;
    if (all == bit) write_text(lost, who);
    all &= ~bit;
  };
  leave(element_.movers, element_.lost_mover);
  leave(element_.takers, element_.lost_taker);
  for (std::uint32_t i = 0; i < sizes_.line; ++i)
    if (line_[i].state != Waiting::nobody && line_[i].process == process) leave_line(i);
  element_.listeners &= ~(std::uint32_t{1} << process);
  admit();
  note_change();
}

}  // namespace pastset
