// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/tuple_range.cpp — growth of the numbers, and room for further tuples
#include "pastset/shared/log/tuple_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace pastset {

using shared::relaxed;

TupleRange::Numbers TupleRange::numbers() const {
  const Numbers it{element_.oldest.load(relaxed), element_.first.load(relaxed),
                   element_.last.load(relaxed)};
  if (it.oldest > it.first || it.first > it.last || it.last - it.oldest > slots_)
    throw invalid_value(mapping_, element_,
                        fmt::format("oldest {}, first {}, last {} of {} slots", it.oldest, it.first,
                                    it.last, slots_));
  return it;
}

/// Reads the three numbers without a lock, even while other processes change them. Each number only
/// grows, and oldest <= first <= last. The result is consistent, because the numbers are loaded in
/// this order.
TupleRange::Numbers TupleRange::numbers_now() const {
  for (int tried = 0; tried < 1000; ++tried) {
    const Numbers it{element_.oldest, element_.first, element_.last};
    if (element_.oldest == it.oldest) return it;
  }
  return numbers();
}

bool TupleRange::has_room() const {
  if (element_.keep_newest.load(relaxed) > 0) return true;
  const Numbers it = numbers();
  const std::uint64_t delta = element_.delta.load(relaxed);
  return (delta == 0 || it.last - it.first < delta) && it.last - it.oldest + 1 < slots_;
}

std::uint64_t TupleRange::tuples_to_keep() const {
  const Numbers it = numbers();
  const std::uint64_t keeps = std::min(element_.keep_newest.load(relaxed), slots_);
  return keeps - std::min(keeps, it.last - it.oldest);
}

void TupleRange::drop_beyond_newest() {
  const std::uint64_t keep = element_.keep_newest.load(relaxed);
  if (keep == 0) return;
  Numbers it = numbers();
  for (; it.last - it.oldest > keep; ++it.oldest) {
    if (it.first == it.oldest) element_.first.store(++it.first, relaxed);
    store_oldest(it.oldest + 1);
  }
}

void TupleRange::take_first() { element_.first.store(numbers().first + 1, relaxed); }

void TupleRange::free_to(std::uint64_t number) {
  const Numbers it = numbers();
  const std::uint64_t beyond = number < it.first ? number + 1 : it.first;
  if (beyond > it.oldest) store_oldest(beyond);
}

/// Raises `oldest`. If tuples may have been in extents that count towards the limits of other
/// elements, wakes the processes whose moves into those elements wait for memory. Moves into this
/// element look for memory again anyway.
void TupleRange::store_oldest(std::uint64_t number) {
  element_.oldest.store(number, std::memory_order_release);
  if (element_.is_guest.load(relaxed) == 0) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  mapping_.arena().notify_waiting_writers();
}

}  // namespace pastset
