// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/tuple_range.hpp — numbers of the tuples that a shared element keeps
#pragma once
#include <cstdint>

#include "pastset/shared/layout.hpp"
#include "pastset/shared/mapping.hpp"

namespace pastset {

/// The numbers of the tuples in an element, in shared memory: oldest <= first <= last. Each number
/// only grows.
///
/// Thread-safe: no; one thread at a time.
/// Requires:    the caller holds the element (SharedLog::Held), except in numbers_now().
/// Throws:      SharedSpaceError if a number is invalid.
class TupleRange {
 public:
  struct Numbers {
    std::uint64_t oldest = 0, first = 0, last = 0;
  };
  TupleRange(const SharedMapping& mapping, shared::Element& element, std::uint64_t slots)
      : mapping_(mapping), element_(element), slots_(slots) {}

  Numbers numbers() const;
  Numbers numbers_now() const;  ///< may be called without a lock
  bool has_room() const;        ///< whether the element may keep a further tuple
  /// Returns how many further tuples the element can keep before keep_newest drops the oldest one;
  /// 0 without keep_newest.
  std::uint64_t tuples_to_keep() const;
  void take_first();  ///< increments `first` after a tuple was observed
  void free_to(std::uint64_t number);
  void drop_beyond_newest();

 private:
  void store_oldest(std::uint64_t number);

  const SharedMapping& mapping_;
  shared::Element& element_;
  const std::uint64_t slots_;
};

}  // namespace pastset
