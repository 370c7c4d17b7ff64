// SPDX-License-Identifier: Apache-2.0
// pastset/shared/tuples.cpp — reads that hold the element
#include "pastset/shared/tuples.hpp"

#include <string>
#include <utility>

#include "pastset/waiters.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

bool SharedTuples::has(Access::Kind kind, std::uint64_t number) const {
  const SharedLog::Numbers it = log_.numbers();
  switch (kind) {
    case Access::Kind::observe: return it.first < it.last;
    case Access::Kind::observe_number: return number < it.last;
    default: return it.oldest < it.last && number < it.last;
  }
}

Stored SharedTuples::take(Access::Kind kind, std::uint64_t number) {
  if (kind == Access::Kind::newest) return read_newest();
  const SharedLog::Numbers it = log_.numbers();
  if (kind == Access::Kind::observe_number) {
    if (number < it.oldest) throw expired(element_, number, it.oldest);
    return read(number);
  }
  Stored oldest = read(it.first);
  log_.users().note_taker();
  log_.range().take_first();
  log_.admit();
  return oldest;
}

/// Reads a tuple and runs the X-functions, before the caller advances `first`. If they throw,
/// nothing has changed.
Stored SharedTuples::read(std::uint64_t number) const {
  base::Payload stored = log_.read(number, mapping_);
  if (!x_function_.in && !x_function_.out)
    if (const std::string mismatch = element_.tuple_template().mismatch(stored); !mismatch.empty())
      throw log_.overwritten(number, mismatch);
  return {number, from_stored(element_, x_function_, std::move(stored))};
}

}  // namespace pastset
