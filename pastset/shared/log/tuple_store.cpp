// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/tuple_store.cpp — tuples in entries and in the arena
#include "pastset/shared/log/tuple_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace pastset {

using shared::relaxed;
using shared::Slot;

namespace {

/// Indices in Slot::inside, for a tuple in the arena. `its_place`: offset of the tuple in the
/// space. `its_extent`: index of the extent that contains the tuple.
enum Inside : std::size_t { its_place, its_extent };

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

}  // namespace

std::uint32_t extent_of(const Slot& slot) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(slot.inside[its_extent].load(relaxed), shared::extents_max));
}

void copy_slot(const Slot& from, Slot& to) {
  for (std::size_t i = 0; i < from.inside.size(); ++i)
    to.inside[i].store(from.inside[i].load(relaxed), relaxed);
  to.bytes.store(from.bytes.load(relaxed), relaxed);
  to.ticket.store(from.ticket.load(relaxed), relaxed);
}

bool TupleStore::store(Slot& slot, std::span<const std::byte> tuple, std::optional<Room>& room) {
  const std::optional<ElementArena::Place> placed = place(tuple, room);
  if (placed) fill(slot, tuple, *placed);
  return placed.has_value();
}

void TupleStore::note_tuple(const Slot& slot, std::uint64_t number) {
  if (is_large(slot) && !memory_.note_tuple(extent_of(slot), number))
    throw invalid_value(mapping_, element_, "the extent of a tuple");
}

/// Returns the place of the tuple in the space. Copies it there if necessary. Sets `room` as
/// ElementArena::place() does.
std::optional<ElementArena::Place> TupleStore::place(std::span<const std::byte> tuple,
                                                     std::optional<Room>& room) {
  if (tuple.size() <= base::Payload::inline_bytes) return ElementArena::Place{};
  if (room) return ElementArena::Place{room->place, room->held.extent()};
  if (memory_.never_fits(tuple.size()))
    throw SharedSpaceFull(fmt::format(
        "element '{}' of shared space '{}' has {} bytes for larger tuples; one has {}",
        read_text(element_.name), mapping_.name(), element_.arena_bytes.load(), tuple.size()));
  const std::optional<ElementArena::Place> place = memory_.place(tuple.size(), room);
  if (!place) return std::nullopt;
  std::byte* const at = mapping_.arena().extents().at(place->at, tuple.size());
  if (at == nullptr) throw invalid_value(mapping_, element_, "an extent");
  std::memcpy(at, tuple.data(), tuple.size());
  return place;
}

/// Returns the bytes of an entry's tuple: a copy of a small tuple, or a view of a larger tuple.
TupleStore::Bytes TupleStore::bytes_of(const Slot& slot) const {
  const std::uint64_t bytes = slot.bytes.load(relaxed);
  if (bytes <= base::Payload::inline_bytes) {
    std::uint64_t inside[base::Payload::inline_bytes / sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < std::size(inside); ++i) inside[i] = slot.inside[i].load(relaxed);
    return {{}, 0, base::Payload::copy_of(std::as_bytes(std::span(inside)).first(bytes))};
  }
  const std::uint64_t place = slot.inside[its_place].load(relaxed);
  const std::uint32_t extent = extent_of(slot);
  const std::byte* const at = mapping_.arena().extents().at(place, bytes);
  if (at == nullptr || extent == shared::extents_max)
    throw invalid_value(mapping_, element_,
                        fmt::format("a tuple of {} bytes at place {}", bytes, place));
  return {{at, bytes}, extent, {}};
}

base::Payload TupleStore::read(const shared::Slot& slot,
                               const std::shared_ptr<SharedMapping>& mapping) const {
  Bytes it = bytes_of(slot);
  if (it.large.empty()) return std::move(it.small);
  mapping_.arena().hold(it.extent).keep();
  return base::Payload::adopt(it.large,
                              [mapping, extent = it.extent] { mapping->arena().let_go(extent); });
}

base::Payload TupleStore::copy(const shared::Slot& slot) const {
  Bytes it = bytes_of(slot);
  return it.large.empty() ? std::move(it.small) : base::Payload::copy_of(it.large);
}

}  // namespace pastset
