// SPDX-License-Identifier: Apache-2.0
// pastset/local_tuples.cpp — reads of kept tuples, and their end
#include "pastset/local_tuples.hpp"

#include <algorithm>
#include <utility>

#include "pastset/waiters.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

bool LocalTuples::has(Access::Kind kind, std::uint64_t number) const {
  switch (kind) {
    case Access::Kind::observe: return first_ < last();
    case Access::Kind::observe_number: return number < last();
    // axe() may have freed even the newest tuple, if it was observed.
    default: return !kept_.empty() && number < last();
  }
}

Stored LocalTuples::take(Access::Kind kind, std::uint64_t number) {
  if (kind == Access::Kind::newest) return read_newest();
  if (kind == Access::Kind::observe_number) {
    if (number < oldest_) throw expired(element_, number, oldest_);
    return read(number);
  }
  Stored oldest = read(first_);
  ++first_;
  return oldest;
}

/// Runs the X-function under the mutex, before the caller advances `first_`. If it throws, nothing
/// has changed.
Stored LocalTuples::read(std::uint64_t number) const {
  return {number, from_stored(element_, options_.x_function, kept_[number - oldest_])};
}

bool LocalTuples::has_room() const {
  return options_.keep_newest > 0 || delta_ == 0 || last() - first_ < delta_;
}

std::uint64_t LocalTuples::append(base::Payload stored) {
  const std::uint64_t number = last();
  kept_.push_back(std::move(stored));
  return number;
}

base::Payload LocalTuples::drop_beyond_newest() {
  if (options_.keep_newest == 0 || kept_.size() <= options_.keep_newest) return {};
  base::Payload dropped = kept_.take_front();
  ++oldest_;
  first_ = std::max(first_, oldest_);
  return dropped;
}

std::vector<base::Payload> LocalTuples::free_to(std::uint64_t number) {
  std::vector<base::Payload> freed;
  for (; oldest_ < first_ && oldest_ <= number; ++oldest_) freed.push_back(kept_.take_front());
  return freed;
}

base::Ring<base::Payload> LocalTuples::free_all() { return std::exchange(kept_, {}); }

}  // namespace pastset
