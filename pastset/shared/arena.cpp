// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena.cpp — search for free extents (ranges of memory), and their creation
#include "pastset/shared/arena.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>

#include "pastset/shared/mapping.hpp"
#include "runtime/polling/moment.hpp"

namespace pastset {
namespace {

using shared::Extent;

// Bytes of address range for each byte of memory. With a smaller factor, a change of the tuple
// sizes could leave only gaps that are too short for the new size.
constexpr std::uint64_t addresses_for_a_byte = 4;

constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();

}  // namespace

SharedArena::SharedArena(const SharedMapping& mapping)
    : mapping_(mapping), holds_(shared::extents_max), turns_seen_(shared::extents_max) {}

std::size_t SharedArena::mapped_bytes(std::size_t bytes) {
  return in_pages(bytes) * (1 + addresses_for_a_byte);
}

std::size_t SharedArena::bytes_of_mapped(std::size_t mapped_bytes) {
  return mapped_bytes / (1 + addresses_for_a_byte) / page_bytes * page_bytes;
}

Extent& SharedArena::extent(std::uint32_t index) const { return mapping_.segment().extents[index]; }

std::uint32_t SharedArena::known() const {
  return std::min<std::uint32_t>(mapping_.segment().extents_known, shared::extents_max);
}

/// Returns the memory limit of the arena. The limit is the size of the space without the regions of
/// the elements, plus 1/8, because the arena counts lengths that are rounded up.
std::uint64_t SharedArena::bytes_max() const {
  const std::uint64_t bytes = mapping_.bytes();
  const std::uint64_t left = bytes - std::min<std::uint64_t>(mapping_.segment().regions_end, bytes);
  return left + left / 8;
}

std::byte* SharedArena::at(std::uint64_t place, std::uint64_t bytes) const {
  const std::uint64_t begin = mapping_.bytes(), end = mapped_bytes(mapping_.bytes());
  return place >= begin && bytes <= end - begin && place <= end - bytes ? mapping_.at(place)
                                                                        : nullptr;
}

SharedArena::Range SharedArena::range_of(std::uint32_t index) const {
  if (index >= shared::extents_max) return {};
  const Range range{extent(index).place, extent(index).bytes};
  return range.place % line_bytes == 0 && at(range.place, range.bytes) != nullptr ? range : Range{};
}

// ---- users of an extent ----------------------------------------------------------------------

/// Whether the extent has no user: no process holds it, and no element keeps a tuple in it. When
/// one user replaces another, the new user registers before the old user unregisters. For example,
/// a process that reads takes its hold before the element drops the tuple, and an element notes a
/// tuple before the moving process drops its hold. One of the two loads below therefore sees a
/// user, unless users were replaced between the loads. In that case `turns` has changed, and the
/// result is false.
bool SharedArena::is_free(std::uint32_t index) const {
  const Extent& it = extent(index);
  const std::uint32_t turns = it.turns;
  return !has_tuples(index) && it.processes == 0 && it.turns == turns;
}

bool SharedArena::has_tuples(std::uint32_t index) const {
  const shared::Segment& segment = mapping_.segment();
  std::uint64_t elements = extent(index).elements;
  for (std::uint32_t i = 0; elements != 0; ++i, elements >>= 1) {
    const shared::Element& one = segment.elements[i];
    if ((elements & 1) != 0 && one.state == shared::Element::live &&
        segment.newest[i][index] > one.oldest)
      return true;
  }
  return false;
}

SharedArena::Held SharedArena::hold(std::uint32_t index) {
  const runtime::Lock lock(mutex_);
  if (holds_.at(index)++ == 0) extent(index).processes |= std::uint32_t{1} << mapping_.me();
  return {*this, index};
}

void SharedArena::let_go(std::uint32_t index) {
  if (!mapping_.is_ours() || index >= shared::extents_max) return;
  {
    const runtime::Lock lock(mutex_);
    if (holds_[index] == 0 || --holds_[index] > 0) return;
    extent(index).processes &= ~(std::uint32_t{1} << mapping_.me());
  }
  notify_waiting_writers();
}

bool SharedArena::holds(std::uint32_t process, std::uint32_t index) const {
  return process < shared::processes_max && index < shared::extents_max &&
         (extent(index).processes >> process & 1) != 0;
}

bool SharedArena::is_held(std::uint32_t index) const { return extent(index).processes != 0; }

std::optional<SharedArena::Room> SharedArena::find(std::span<const std::byte> bytes) {
  const std::byte* const base = mapping_.at(0);
  if (bytes.data() < base || bytes.data() >= base + mapped_bytes(mapping_.bytes()))
    return std::nullopt;
  const auto place = static_cast<std::uint64_t>(bytes.data() - base);
  for (std::uint32_t i = 0; i < known(); ++i) {
    const Range range = range_of(i);
    if (place < range.place || place - range.place >= range.bytes) continue;
    const bool is_most = bytes.size() > range.bytes / 2;
    if (!is_most || bytes.size() > range.bytes - (place - range.place)) return std::nullopt;
    Room room{hold(i), place};
    const runtime::Lock lock(mutex_);
    // This process held the extent before this call, so no other tuple can have got the memory.
    if (holds_[i] > 1) return room;
  }
  return std::nullopt;
}

void SharedArena::note_tuple(std::uint32_t element, std::uint32_t index, std::uint64_t number) {
  mapping_.segment().newest[element][index] = number + 1;
  extent(index).elements |= std::uint64_t{1} << element;
  ++extent(index).turns;
}

void SharedArena::open(std::uint32_t element, std::uint32_t index) {
  note_tuple(element, index, for_ever - 1);
}

void SharedArena::close(std::uint32_t element, std::uint32_t index, std::uint64_t beyond) {
  mapping_.segment().newest[element][index] = beyond;
}

void SharedArena::forget_beyond(std::uint32_t element, std::uint64_t last, std::uint32_t open) {
  for (std::uint32_t i = 0; i < known(); ++i)
    if (auto& newest = mapping_.segment().newest[element][i]; i != open && newest > last)
      newest = last;
}

void SharedArena::forget(std::uint32_t process) {
  for (std::uint32_t i = 0; i < known(); ++i)
    if (holds(process, i)) extent(i).processes &= ~(std::uint32_t{1} << process);
  notify_waiting_writers();
}

// ---- waiting for memory ----------------------------------------------------------------------

void SharedArena::want_memory(std::uint32_t element, bool wants) {
  const std::uint64_t bit = std::uint64_t{1} << element;
  if (wants)
    mapping_.segment().wants_memory |= bit;
  else if (wants_memory(element))
    mapping_.segment().wants_memory &= ~bit;
}

bool SharedArena::wants_memory(std::uint32_t element) const {
  return (mapping_.segment().wants_memory.load(std::memory_order_relaxed) >> element & 1) != 0;
}

/// Wakes the processes that wait for memory. A process sets the bit of its element in
/// `wants_memory` before it looks for free memory. The process therefore either finds memory or is
/// woken.
void SharedArena::notify_waiting_writers() const {
  const shared::Segment& segment = mapping_.segment();
  std::uint64_t elements = segment.wants_memory;
  for (std::uint32_t i = 0; elements != 0; ++i, elements >>= 1)
    if ((elements & 1) != 0) mapping_.ring(segment.elements[i].listeners);
}

// ---- allocation of extents -------------------------------------------------------------------

/// Counts the extents and their memory. Afterwards further extents may become free, but no process
/// can take an extent, because the arena is locked.
SharedArena::Survey SharedArena::survey(std::uint64_t charge) const {
  Survey it;
  const std::uint32_t known_now = known();
  for (std::uint32_t i = 0; i < known_now; ++i) {
    if (extent(i).bytes == 0) it.unused = std::min(it.unused, i);
    const Range range = range_of(i);
    if (range.bytes == 0) continue;  // the extent has no memory, or its fields are invalid
    it.all.push_back({i, range, is_free(i)});
    it.bytes += range.bytes;
    if (!it.all.back().is_free && extent(i).charge == charge) it.charged += extent(i).counted;
  }
  if (it.unused == shared::extents_max && known_now < shared::extents_max) it.unused = known_now;
  return it;
}

std::optional<SharedArena::Room> SharedArena::take(std::uint64_t bytes, std::uint64_t charge,
                                                   std::uint64_t most, std::uint64_t spare) {
  const std::uint64_t length = extent_length(bytes);
  const SharedMapping::Locked lock(mapping_, mapping_.segment().arena_lock, "its arena");
  Survey now = survey(charge);
  if (now.charged > most || most - now.charged < bytes + spare) return std::nullopt;
  const auto fits = [&](const Seen& one) { return one.is_free && one.range.bytes == length; };
  const auto found = std::find_if(now.all.begin(), now.all.end(), fits);
  std::optional<std::uint32_t> taken;
  if (found != now.all.end()) taken = found->extent;
  while (!taken && !(taken = take_fresh(now, length)) && give_back_one(now)) now = survey(charge);
  if (!taken) return std::nullopt;
  Extent& it = extent(*taken);
  it.elements = 0;
  it.counted = bytes;
  it.charge = charge;
  ++it.turns;
  return Room{hold(*taken), it.place};
}

bool SharedArena::has_extents() const {
  const Survey now = survey(0);
  return now.unused != shared::extents_max ||
         std::any_of(now.all.begin(), now.all.end(), [](const Seen& one) { return one.is_free; });
}

/// Makes a new extent for `bytes` bytes in the first gap that is long enough. Returns its index, or
/// nullopt if there is no unused index, memory or gap.
std::optional<std::uint32_t> SharedArena::take_fresh(const Survey& now, std::uint64_t bytes) {
  if (now.unused == shared::extents_max || now.bytes + bytes > bytes_max()) return std::nullopt;
  const std::uint64_t step = bytes < 16 * page_bytes ? line_bytes : page_bytes;
  std::vector<Range> taken;
  for (const Seen& one : now.all) taken.push_back(one.range);
  std::sort(taken.begin(), taken.end(),
            [](const Range& a, const Range& b) { return a.place < b.place; });
  std::uint64_t place = mapping_.bytes();
  for (const Range& one : taken) {
    if (one.place >= place && one.place - place >= bytes) break;
    place = std::max(place, (one.place + one.bytes + step - 1) / step * step);
  }
  if (at(place, bytes) == nullptr) return std::nullopt;
  extent(now.unused).place = place;
  extent(now.unused).bytes = bytes;
  if (now.unused >= known()) mapping_.segment().extents_known = now.unused + 1;
  return now.unused;
}

// ---- return of memory to the kernel ----------------------------------------------------------

/// Returns the memory of a free extent to the kernel, but only whole pages. Other extents may use a
/// part of the pages at both ends.
void SharedArena::release_pages(const Range& range) const {
  const std::uint64_t from = in_pages(range.place);
  const std::uint64_t to = (range.place + range.bytes) / page_bytes * page_bytes;
  if (to > from)
    fallocate(mapping_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(from), static_cast<off_t>(to - from));
}

/// Returns the memory of one free extent to the kernel, because another request needs the memory or
/// the addresses of that extent. Returns false if no extent is free.
/// Requires: the arena is locked.
bool SharedArena::give_back_one(const Survey& now) const {
  const auto found =
      std::find_if(now.all.begin(), now.all.end(), [](const Seen& one) { return one.is_free; });
  if (found == now.all.end()) return false;
  release_pages(found->range);
  extent(found->extent).bytes = 0;
  return true;
}

void SharedArena::give_back() {
  constexpr base::Nanos a_while{1'000'000'000};
  const base::Nanos now = runtime::steady_now();
  if (now - looked_at_ < a_while) return;
  looked_at_ = now;
  // The arena is not locked during these slow system calls. During the calls, other processes may
  // take extents, but not those that this process holds.
  for (const Held& unwanted : hold_unwanted()) {
    release_pages(range_of(unwanted.extent()));
    extent(unwanted.extent()).bytes = 0;
  }
}

/// Takes a hold on each extent that is free and was not used for a while. Takes no hold if another
/// process has locked the arena.
std::vector<SharedArena::Held> SharedArena::hold_unwanted() {
  std::vector<Held> unwanted;
  runtime::SharedLock& lock = mapping_.segment().arena_lock;
  if (!mapping_.try_take(lock, base::Nanos{0})) return unwanted;
  for (std::uint32_t i = 0; i < known(); ++i) {
    const std::uint32_t turns = extent(i).turns;
    const bool is_wanted = std::exchange(turns_seen_[i], turns) != turns;
    if (is_wanted || extent(i).bytes == 0 || !is_free(i)) continue;
    extent(i).charge = 0;
    unwanted.push_back(hold(i));
  }
  lock.unlock();
  return unwanted;
}

std::uint64_t SharedArena::charged_to(std::uint32_t index) const { return extent(index).charge; }

std::uint64_t SharedArena::bytes_of(std::uint64_t charge) const { return survey(charge).charged; }

}  // namespace pastset
