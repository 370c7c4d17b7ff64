// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/extent_table.hpp — entries of the extents in the shared memory, with their
// users
#pragma once
#include <cstddef>
#include <cstdint>

#include "pastset/shared/layout.hpp"

namespace pastset {

class SharedMapping;

/// The extents (ranges of memory) of the arena of a space, and the notes about their users in the
/// shared memory. The users are processes that hold an extent, and elements that keep tuples in it.
///
/// Thread-safe: yes, from any thread.
class ExtentTable {
 public:
  struct Range {
    std::uint64_t place = 0, bytes = 0;
  };

  explicit ExtentTable(const SharedMapping& mapping) : mapping_(mapping) {}
  shared::Extent& entry(std::uint32_t extent) const;
  std::uint32_t known() const;  ///< number of entries that were ever used
  /// Returns the range of memory of an extent. The range is empty if the extent has no memory, or
  /// if the fields of the extent are invalid.
  Range range_of(std::uint32_t extent) const;
  /// Returns the address of the range; nullptr if the range is not inside the arena.
  std::byte* at(std::uint64_t place, std::uint64_t bytes) const;

  bool holds(std::uint32_t process, std::uint32_t extent) const;
  bool is_held(std::uint32_t extent) const;
  bool is_free(std::uint32_t extent) const;
  /// Drops all holds of a process that has died or detaches.
  void drop_holds_of(std::uint32_t process) const;

  /// Notes that the element keeps tuple `number` in the extent.
  /// Requires: the caller holds both the element and the extent.
  void note_tuple(std::uint32_t element, std::uint32_t extent, std::uint64_t number) const;
  /// Notes that the element may store further tuples in the extent.
  void open(std::uint32_t element, std::uint32_t extent) const;
  /// Notes that the element stores no further tuple in the extent, and that `beyond - 1` is the
  /// number of its newest tuple there.
  void close(std::uint32_t element, std::uint32_t extent, std::uint64_t beyond) const;
  /// Repairs the notes about an element after a process has died while it held the element. That
  /// process may have called note_tuple() for tuples that it did not append. Drops the notes for
  /// these tuples: those with the number `last` or above. Keeps the note in the extent with the
  /// index `open`. For a deleted element, the caller passes 0 as `last`.
  void forget_beyond(std::uint32_t element, std::uint64_t last,
                     std::uint32_t open = shared::extents_max) const;

 private:
  bool has_tuples(std::uint32_t extent) const;

  const SharedMapping& mapping_;
};

}  // namespace pastset
