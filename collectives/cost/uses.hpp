// SPDX-License-Identifier: Apache-2.0
// collectives/cost/uses.hpp — which cells the unfinished steps of a participant read and write.
#pragma once
#include <vector>

#include "collectives/schedule/block.hpp"
#include "collectives/schedule/numbering.hpp"

namespace pricing {

using Slot = std::uint32_t;  ///< of a step that is admitted and not done

/// Blocks of steps by buffer and place, so that whoever asks what overlaps looks at few others. A
/// block that is written hides those that lie in it: its step waits for theirs, and whoever would
/// wait for them waits for it. `in` is never written, so nobody waits for who reads it.
///
/// A step that is done stays until it is in the way: who asks is shown only those that are not.
class Uses {
 public:
  /// Of the steps admitted so far: slots are used again, numbers are not.
  struct User {
    Slot slot;
    std::uint32_t number;
  };

  /// Every use of cells of the block that a step which reads or `writes` them is to wait for.
  template <class See>
  void earlier(const collectives::Block& block, bool writes, const See& see) {
    if (block.buffer == collectives::in) return;
    const Buffered& uses = of(block.buffer);
    uses.written.overlapping(block.cells, see);
    if (writes) uses.read.overlapping(block.cells, see);
  }
  /// `is_done` says of a user whether its step is.
  template <class IsDone>
  void add(const collectives::Block& block, bool writes, User user, const IsDone& is_done) {
    if (block.buffer == collectives::in) return;
    Buffered& uses = of(block.buffer);
    if (writes) uses.read.hide(block.cells);
    if (writes) uses.written.hide(block.cells);
    (writes ? uses.written : uses.read).add(block.cells, user, is_done);
  }
  /// Forgets them all, and keeps the memory.
  void clear() {
    for (std::size_t number = 0; number < numbers_.size(); ++number) {
      uses_[number].read.clear();
      uses_[number].written.clear();
    }
    numbers_.clear();
  }

 private:
  /// Ranges in the order of where they begin.
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
    collectives::Count longest_ = 0;  // of all that ever were: an overlap begins so near
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

  collectives::Numbering numbers_;  // of buffers
  std::vector<Buffered> uses_;      // by number
};

}  // namespace pricing
