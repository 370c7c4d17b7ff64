// SPDX-License-Identifier: Apache-2.0
// collectives/cost/uses.hpp — accesses of a participant's unfinished steps to the cells of its
// buffers.
#pragma once
#include <vector>

#include "collectives/schedule/block.hpp"
#include "collectives/schedule/numbering.hpp"

namespace pricing {

/// Index under which an unfinished step is stored. Later steps reuse the index.
using Slot = std::uint32_t;

/// Accesses of steps to blocks of cells. The accesses are sorted by buffer and offset, so that the
/// accesses which overlap a block are found fast. A write replaces the earlier accesses that lie
/// inside its block. The writing step waits for these accesses, so later steps need to wait only
/// for the write. Reads of the buffer `in` are not recorded, because no step writes to it.
///
/// Accesses of finished steps are removed only when memory is needed. Callers must ignore these
/// accesses.
class Uses {
 public:
  /// A step, identified by two numbers: the index at which it is stored (`slot`), and its index
  /// among all steps of the participant (`number`). Later steps reuse the slot, but never the
  /// number.
  struct User {
    Slot slot;
    std::uint32_t number;
  };

  /// Calls `see` for each recorded access for which a new step must wait. `writes` is true if the
  /// new step writes to the block, false if it reads the block.
  template <class See>
  void earlier(const collectives::Block& block, bool writes, const See& see) {
    if (block.buffer == collectives::in) return;
    const Buffered& uses = of(block.buffer);
    uses.written.overlapping(block.cells, see);
    if (writes) uses.read.overlapping(block.cells, see);
  }
  /// Records an access by the step `user`. `is_done` returns whether a step is done.
  template <class IsDone>
  void add(const collectives::Block& block, bool writes, User user, const IsDone& is_done) {
    if (block.buffer == collectives::in) return;
    Buffered& uses = of(block.buffer);
    if (writes) uses.read.hide(block.cells);
    if (writes) uses.written.hide(block.cells);
    (writes ? uses.written : uses.read).add(block.cells, user, is_done);
  }
  /// Removes all accesses. Keeps the memory for later accesses.
  void clear() {
    for (std::size_t number = 0; number < numbers_.size(); ++number) {
      uses_[number].read.clear();
      uses_[number].written.clear();
    }
    numbers_.clear();
  }

 private:
  /// Accesses sorted by the offset of their ranges.
  class Ranges {
   public:
    template <class See>
    void overlapping(collectives::Range cells, const See& see) const {
      if (uses_.empty()) return;
      const collectives::Count before = std::min(longest_, cells.offset);
      for (auto at = from(cells.offset - before); at != uses_.end(); ++at) {
        if (at->cells.offset >= cells.end()) return;
        if (at->cells.end() > cells.offset) see(at->user);
      }
    }
    template <class IsDone>
    void add(collectives::Range cells, User user, const IsDone& is_done) {
      if (uses_.empty()) uses_.reserve(first_full);
      if (uses_.size() == full_) forget(is_done);
      longest_ = std::max(longest_, cells.count);
      const bool is_last = uses_.empty() || uses_.back().cells.offset < cells.offset;
      uses_.insert(is_last ? uses_.cend() : from(cells.offset), {cells, user});
    }
    void hide(collectives::Range cells) {
      if (uses_.empty()) return;
      const auto first = uses_.begin() + (from(cells.offset) - uses_.cbegin());
      auto last = first;
      while (last != uses_.end() && last->cells.offset < cells.end()) ++last;
      uses_.erase(std::remove_if(first, last,
                                 [&](const Use& use) { return use.cells.end() <= cells.end(); }),
                  last);
    }

    void clear() {
      uses_.clear();
      full_ = first_full;
      longest_ = 0;
    }

   private:
    struct Use {
      collectives::Range cells;
      User user;
    };
    template <class IsDone>
    void forget(const IsDone& is_done) {
      std::erase_if(uses_, [&](const Use& use) { return is_done(use.user); });
      full_ = std::max(first_full, 2 * uses_.size());
    }
    std::vector<Use>::const_iterator from(collectives::Count offset) const {
      return std::partition_point(uses_.begin(), uses_.end(),
                                  [&](const Use& use) { return use.cells.offset < offset; });
    }
    static constexpr std::size_t first_full = 16;
    std::vector<Use> uses_;
    std::size_t full_ = first_full;
    // Length of the longest range that was added since clear(). A range that contains a given
    // offset begins at most this far before the offset.
    collectives::Count longest_ = 0;
  };

  struct Buffered {
    Ranges read, written;
  };
  Buffered& of(collectives::Buffer buffer) {
    const std::uint32_t number = numbers_.number(
        std::uint64_t{static_cast<std::uint32_t>(buffer.storage)} << 32 | buffer.index);
    if (number == uses_.size()) uses_.emplace_back();
    return uses_[number];
  }

  collectives::Numbering numbers_;  // consecutive numbers of the buffers
  std::vector<Buffered> uses_;      // accesses to each buffer, indexed by the buffer's number
};

}  // namespace pricing
