// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/cells.hpp — map from the elements of a buffer to values, stored by range.
#pragma once
#include <iterator>
#include <map>

#include "collectives/schedule/block.hpp"

namespace collectives {

/// A value for each element of a buffer. Adjacent elements share one stored value if they were
/// always accessed together. Memory therefore grows with the number of accessed blocks, not with
/// the number of elements.
template <class Value>
class Cells {
 public:
  /// Calls `use` once for each stored value of the elements in a range. Elements that were never
  /// accessed before have Value().
  template <class Use>
  void for_each(Range range, Use&& use) {
    if (range.count == 0) return;
    cut_at(range.offset);
    cut_at(range.end());
    for (Count at = range.offset; at < range.end();) {
      auto next = known_.lower_bound(at);
      if (next == known_.end() || next->first > at) {
        const Count gap_end =
            next == known_.end() ? range.end() : std::min(next->first, range.end());
        next = known_.emplace_hint(next, at, Known{gap_end, Value()});
      }
      use(next->second.value);
      at = next->second.end;
    }
  }
  void assign(Range range, const Value& value) {
    if (range.count == 0) return;
    cut_at(range.offset);
    cut_at(range.end());
    known_.erase(known_.lower_bound(range.offset), known_.lower_bound(range.end()));
    known_.emplace(range.offset, Known{range.end(), value});
  }

 private:
  struct Known {
    Count end;
    Value value;
  };
  /// If a stored range begins before `at` and ends after it, splits this range at `at`.
  void cut_at(Count at) {
    auto next = known_.lower_bound(at);
    if (next == known_.begin()) return;
    const auto before = std::prev(next);
    if (before->second.end <= at) return;
    known_.emplace_hint(next, at, before->second);
    before->second.end = at;
  }

  std::map<Count, Known> known_;  // ranges with a stored value, by offset; they do not overlap
};

}  // namespace collectives
