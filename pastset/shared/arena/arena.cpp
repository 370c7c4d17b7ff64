// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/arena.cpp — search for free extents (ranges of memory), and their creation
#include "pastset/shared/arena/arena.hpp"

#include <fcntl.h>

#include <algorithm>

#include "pastset/shared/mapping.hpp"
#include "runtime/polling/moment.hpp"

namespace pastset {
namespace {

using shared::Extent;

// Bytes of address range for each byte of memory. With a smaller factor, a change of the tuple
// sizes could leave only gaps that are too short for the new size.
constexpr std::uint64_t addresses_for_a_byte = 4;

}  // namespace

SharedArena::SharedArena(const SharedMapping& mapping)
    : mapping_(mapping),
      extents_(mapping),
      holds_(shared::extents_max),
      turns_seen_(shared::extents_max) {}

std::size_t SharedArena::mapped_bytes(std::size_t bytes) {
  return in_pages(bytes) * (1 + addresses_for_a_byte);
}

std::size_t SharedArena::bytes_of_mapped(std::size_t mapped_bytes) {
  return mapped_bytes / (1 + addresses_for_a_byte) / page_bytes * page_bytes;
}

/// Returns the memory limit of the arena. The limit is the size of the space without the regions of
/// the elements, plus 1/8, because the arena counts lengths that are rounded up.
std::uint64_t SharedArena::bytes_max() const {
  const std::uint64_t bytes = mapping_.bytes();
  const std::uint64_t left = bytes - std::min<std::uint64_t>(mapping_.segment().regions_end, bytes);
  return left + left / 8;
}

// ---- users of an extent ----------------------------------------------------------------------

SharedArena::Held SharedArena::hold(std::uint32_t index) {
  const runtime::Lock lock(mutex_);
  if (holds_.at(index)++ == 0) extents_.entry(index).processes |= std::uint32_t{1} << mapping_.me();
  return {*this, index};
}

void SharedArena::let_go(std::uint32_t index) {
  if (!mapping_.is_ours() || index >= shared::extents_max) return;
  {
    const runtime::Lock lock(mutex_);
    if (holds_[index] == 0 || --holds_[index] > 0) return;
    extents_.entry(index).processes &= ~(std::uint32_t{1} << mapping_.me());
  }
  notify_waiting_writers();
}

std::optional<SharedArena::Room> SharedArena::find(std::span<const std::byte> bytes) {
  const std::byte* const base = mapping_.at(0);
  if (bytes.data() < base || bytes.data() >= base + mapped_bytes(mapping_.bytes()))
    return std::nullopt;
  const auto place = static_cast<std::uint64_t>(bytes.data() - base);
  for (std::uint32_t i = 0; i < extents_.known(); ++i) {
    const Range range = extents_.range_of(i);
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

void SharedArena::forget(std::uint32_t process) {
  extents_.drop_holds_of(process);
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
    if ((elements & 1) != 0) mapping_.processes().ring(segment.elements[i].listeners);
}

// ---- allocation of extents -------------------------------------------------------------------

/// Counts the extents and their memory. Afterwards further extents may become free, but no process
/// can take an extent, because the arena is locked.
SharedArena::Survey SharedArena::survey(std::uint64_t charge) const {
  Survey it;
  const std::uint32_t known_now = extents_.known();
  for (std::uint32_t i = 0; i < known_now; ++i) {
    if (extents_.entry(i).bytes == 0) it.unused = std::min(it.unused, i);
    const Range range = extents_.range_of(i);
    if (range.bytes == 0) continue;  // the extent has no memory, or its fields are invalid
    it.all.push_back({i, range, extents_.is_free(i)});
    it.bytes += range.bytes;
    if (!it.all.back().is_free && extents_.entry(i).charge == charge)
      it.charged += extents_.entry(i).counted;
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
  Extent& it = extents_.entry(*taken);
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
  if (extents_.at(place, bytes) == nullptr) return std::nullopt;
  extents_.entry(now.unused).place = place;
  extents_.entry(now.unused).bytes = bytes;
  if (now.unused >= extents_.known()) mapping_.segment().extents_known = now.unused + 1;
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
  extents_.entry(found->extent).bytes = 0;
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
    release_pages(extents_.range_of(unwanted.extent()));
    extents_.entry(unwanted.extent()).bytes = 0;
  }
}

/// Takes a hold on each extent that is free and was not used for a while. Takes no hold if another
/// process has locked the arena.
std::vector<SharedArena::Held> SharedArena::hold_unwanted() {
  std::vector<Held> unwanted;
  runtime::SharedLock& lock = mapping_.segment().arena_lock;
  if (!mapping_.try_take(lock, base::Nanos{0})) return unwanted;
  for (std::uint32_t i = 0; i < extents_.known(); ++i) {
    const std::uint32_t turns = extents_.entry(i).turns;
    const bool is_wanted = std::exchange(turns_seen_[i], turns) != turns;
    if (is_wanted || extents_.entry(i).bytes == 0 || !extents_.is_free(i)) continue;
    extents_.entry(i).charge = 0;
    unwanted.push_back(hold(i));
  }
  lock.unlock();
  return unwanted;
}

std::uint64_t SharedArena::bytes_of(std::uint64_t charge) const { return survey(charge).charged; }

}  // namespace pastset
