// SPDX-License-Identifier: Apache-2.0
// pricing/uses.hpp — which cells the unfinished steps of a participant read and write.
#pragma once
#include <unordered_map>
#include <vector>

#include "collectives/block.hpp"
#include "pricing/pool.hpp"

namespace pricing {

using Slot = std::uint32_t;  ///< of a step that is admitted and not done

/// Blocks of steps by buffer and place, so that whoever asks what overlaps looks at few others. A
/// block that is written hides those that lie in it: its step waits for theirs, and whoever would
/// wait for them waits for it.
class Uses {
 public:
  /// What a step uses, for the one who ends it.
  struct Place {
    collectives::Count offset;
    std::uint32_t ranges;
  };
  using Places = Pool<Place>::List;

  /// Every use of cells of the block that a step which reads or `writes` them is to wait for.
  template <class See>
  void earlier(const collectives::Block& block, bool writes, const See& see) const {
    const auto found = first_ranges_.find(key(block.buffer));
    if (found == first_ranges_.end()) return;
    ranges_[found->second + written].overlapping(block.cells, see);
    if (writes) ranges_[found->second].overlapping(block.cells, see);
  }
  void add(const collectives::Block& block, bool writes, Slot slot, Places& places) {
    const std::uint32_t reads = ranges_of(block.buffer);
    const std::uint32_t ranges = writes ? reads + written : reads;
    if (writes) ranges_[reads].hide(block.cells);
    if (writes) ranges_[ranges].hide(block.cells);
    ranges_[ranges].add(block.cells, slot);
    places_.add(places, {block.cells.offset, ranges});
  }
  void remove(Slot slot, Places& places) {
    places_.clear(places,
                  [&](const Place& place) { ranges_[place.ranges].remove(place.offset, slot); });
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
        if (at->cells.end() > cells.offset) see(at->slot);
      }
    }
    void add(collectives::Range cells, Slot slot) {
      longest_ = std::max(longest_, cells.count);
      const bool is_last = uses_.empty() || uses_.back().cells.offset < cells.offset;
      uses_.insert(is_last ? uses_.cend() : from(cells.offset), {cells, slot});
    }
    /// Unless it is hidden.
    void remove(collectives::Count offset, Slot slot) {
      for (auto at = from(offset); at != uses_.end() && at->cells.offset == offset; ++at)
        if (at->slot == slot) {
          uses_.erase(at);
          return;
        }
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

   private:
    struct Use {
      collectives::Range cells;
      Slot slot;
    };
    std::vector<Use>::const_iterator from(collectives::Count offset) const {
      return std::partition_point(uses_.begin(), uses_.end(),
                                  [&](const Use& use) { return use.cells.offset < offset; });
    }
    std::vector<Use> uses_;
    collectives::Count longest_ = 0;  // of all that ever were: an overlap begins so near
  };

  static constexpr std::uint32_t written = 1;  // those that are written stand behind those read
  static std::uint64_t key(collectives::Buffer buffer) {
    return std::uint64_t{static_cast<std::uint32_t>(buffer.storage)} << 32 | buffer.index;
  }
  std::uint32_t ranges_of(collectives::Buffer buffer) {
    const auto [found, is_new] =
        first_ranges_.try_emplace(key(buffer), static_cast<std::uint32_t>(ranges_.size()));
    if (is_new) ranges_.resize(ranges_.size() + 2);
    return found->second;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> first_ranges_;  // by buffer
  std::vector<Ranges> ranges_;
  Pool<Place> places_;
};

}  // namespace pricing
