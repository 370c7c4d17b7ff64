// SPDX-License-Identifier: Apache-2.0
// paths/lanes/agenda.hpp — what is to be done when.
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace paths {

/// Work by time; what is due at one moment is done in the order in which it was put down.
///
/// Sharing: guarded by its owner's mutex.
class Agenda {
 public:
  using Work = std::function<void()>;
  void put(base::Nanos at, Work work) { entries_.push({at, next_++, std::move(work)}); }
  bool empty() const { return entries_.empty(); }
  base::Nanos next() const { return entries_.top().at; }
  Work take() {
    // The order of the rest does not depend on the work.
    Work work = std::move(const_cast<Entry&>(entries_.top()).work);
    entries_.pop();
    return work;
  }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    base::Nanos at;
    std::uint64_t number;
    Work work;
    bool operator<(const Entry& other) const {  // the largest comes first
      return std::pair(other.at, other.number) < std::pair(at, number);
    }
  };
  std::priority_queue<Entry> entries_;
  std::uint64_t next_ = 0;
};

}  // namespace paths
