// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/extent_table.cpp — notes about the users of extents, in the shared memory
#include "pastset/shared/arena/extent_table.hpp"

#include <algorithm>
#include <limits>

#include "pastset/shared/arena/arena.hpp"
#include "pastset/shared/mapping.hpp"

namespace pastset {

using shared::Extent;

Extent& ExtentTable::entry(std::uint32_t index) const { return mapping_.segment().extents[index]; }

std::uint32_t ExtentTable::known() const {
  return std::min<std::uint32_t>(mapping_.segment().extents_known, shared::extents_max);
}

std::byte* ExtentTable::at(std::uint64_t place, std::uint64_t bytes) const {
  const std::uint64_t begin = mapping_.bytes(), end = SharedArena::mapped_bytes(mapping_.bytes());
  return place >= begin && bytes <= end - begin && place <= end - bytes ? mapping_.at(place)
                                                                        : nullptr;
}

ExtentTable::Range ExtentTable::range_of(std::uint32_t index) const {
  if (index >= shared::extents_max) return {};
  const Range range{entry(index).place, entry(index).bytes};
  return range.place % line_bytes == 0 && at(range.place, range.bytes) != nullptr ? range : Range{};
}

// ---- users of an extent ----------------------------------------------------------------------

/// Whether the extent has no user: no process holds it, and no element keeps a tuple in it. When
/// one user replaces another, the new user registers before the old user unregisters. For example,
/// a process that reads takes its hold before the element drops the tuple, and an element notes a
/// tuple before the moving process drops its hold. One of the two loads below therefore sees a
/// user, unless users were replaced between the loads. In that case `turns` has changed, and the
/// result is false.
bool ExtentTable::is_free(std::uint32_t index) const {
  const Extent& it = entry(index);
  const std::uint32_t turns = it.turns;
  return !has_tuples(index) && it.processes == 0 && it.turns == turns;
}

bool ExtentTable::has_tuples(std::uint32_t index) const {
  const shared::Segment& segment = mapping_.segment();
  std::uint64_t elements = entry(index).elements;
  for (std::uint32_t i = 0; elements != 0; ++i, elements >>= 1) {
    const shared::Element& one = segment.elements[i];
    if ((elements & 1) != 0 && one.state == shared::Element::live &&
        segment.newest[i][index] > one.oldest)
      return true;
  }
  return false;
}

bool ExtentTable::holds(std::uint32_t process, std::uint32_t index) const {
  return process < shared::processes_max && index < shared::extents_max &&
         (entry(index).processes >> process & 1) != 0;
}

bool ExtentTable::is_held(std::uint32_t index) const { return entry(index).processes != 0; }

void ExtentTable::drop_holds_of(std::uint32_t process) const {
  for (std::uint32_t i = 0; i < known(); ++i)
    if (holds(process, i)) entry(i).processes &= ~(std::uint32_t{1} << process);
}

// ---- notes of elements -----------------------------------------------------------------------

void ExtentTable::note_tuple(std::uint32_t element, std::uint32_t index,
                             std::uint64_t number) const {
  mapping_.segment().newest[element][index] = number + 1;
  entry(index).elements |= std::uint64_t{1} << element;
  ++entry(index).turns;
}

void ExtentTable::open(std::uint32_t element, std::uint32_t index) const {
  note_tuple(element, index, std::numeric_limits<std::uint64_t>::max() - 1);
}

void ExtentTable::close(std::uint32_t element, std::uint32_t index, std::uint64_t beyond) const {
  mapping_.segment().newest[element][index] = beyond;
}

void ExtentTable::forget_beyond(std::uint32_t element, std::uint64_t last,
                                std::uint32_t open) const {
  for (std::uint32_t i = 0; i < known(); ++i)
    if (auto& newest = mapping_.segment().newest[element][i]; i != open && newest > last)
      newest = last;
}

}  // namespace pastset
