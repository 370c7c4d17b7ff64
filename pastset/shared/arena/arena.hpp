// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/arena.hpp — the arena: memory of a shared space for tuples above 48 bytes
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "pastset/shared/arena/extent_table.hpp"
#include "pastset/shared/layout.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class SharedMapping;

/// Allocates extents: ranges of memory for tuples above 48 bytes. The arena stays consistent if a
/// process of the space dies at any instruction. The extents follow the rest of the space in the
/// mapping. The address range of the extents is several times larger than the memory limit. For any
/// mix of sizes, some gap is therefore long enough.
///
/// Why:         An extent is free while no process holds it and no element keeps a tuple in it. A
///              process that needs an extent checks these two conditions, so no process has to
///              release an extent. A dead process therefore leaves no extent occupied. Free extents
///              are reused before memory that was never used, which the kernel must fill with zeros
///              first. Memory that was not used for a while returns to the kernel.
/// Owns:        the holds of this process on extents, counted for each extent. The process holds an
///              extent while it writes a tuple there before a move, and while it reads a tuple
///              there. It also holds the extents of its tuples that wait in an element's line
///              (queue of waiting moves). The holds end with the process.
/// Thread-safe: yes, from any thread.
/// Blocks:      for the arena's lock, at most for the lock patience of the space.
/// Throws:      SharedSpaceError if another process holds that lock for longer.
class SharedArena {
 public:
  explicit SharedArena(const SharedMapping& mapping);
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  /// Returns the length of the mapping of a space that may use `bytes` of memory.
  static std::size_t mapped_bytes(std::size_t bytes);
  static std::size_t bytes_of_mapped(std::size_t mapped_bytes);

  /// A hold of this process on an extent. While this object exists, the extent is not given to a
  /// different tuple.
  class Held {
   public:
    Held(SharedArena& arena, std::uint32_t extent) : arena_(&arena), extent_(extent) {}
    Held(Held&& other) noexcept
        : arena_(std::exchange(other.arena_, nullptr)), extent_(other.extent_) {}
    Held& operator=(Held&& other) noexcept {
      std::swap(arena_, other.arena_);
      std::swap(extent_, other.extent_);
      return *this;
    }
    ~Held() {
      if (arena_ != nullptr) arena_->let_go(extent_);
    }
    std::uint32_t extent() const { return extent_; }
    void keep() { arena_ = nullptr; }  ///< from now on the hold lasts until let_go(extent)

   private:
    SharedArena* arena_;
    std::uint32_t extent_;
  };
  /// Memory for one tuple: its offset in the space (`place`), and a hold on its extent.
  struct Room {
    Held held;
    std::uint64_t place = 0;
  };

  const ExtentTable& extents() const { return extents_; }
  /// Takes an extent for a tuple of `bytes` bytes. These bytes count towards the memory limit
  /// `most` of the element that `charge` identifies (charge_of()). Returns nullopt if fewer than
  /// `bytes + spare` bytes of that limit are unused, or if the space has no memory now.
  std::optional<Room> take(std::uint64_t bytes, std::uint64_t charge, std::uint64_t most,
                           std::uint64_t spare = 0);
  Held hold(std::uint32_t extent);
  void let_go(std::uint32_t extent);  ///< drops a hold; the last drop wakes waiting moves
  /// Finds the extent that contains `bytes`. Returns nullopt unless this process holds that extent
  /// and `bytes` fill more than half of it.
  std::optional<Room> find(std::span<const std::byte> bytes);
  static std::uint64_t charge_of(std::uint32_t element, std::uint64_t generation) {
    return generation * shared_elements_max + element;
  }
  bool has_extents() const;  ///< whether an extent is free or can be added
  /// Returns how many bytes in use count towards the limit of the element that `charge` identifies.
  std::uint64_t bytes_of(std::uint64_t charge) const;

  void want_memory(std::uint32_t element, bool wants);
  bool wants_memory(std::uint32_t element) const;
  void notify_waiting_writers() const;  ///< wakes processes whose moves wait for memory

  void forget(std::uint32_t process);  ///< drops all holds of a process that has died or detaches
  /// Returns to the kernel the memory of extents that are free and were not used for a second.
  /// Requires: one thread makes all calls, and makes them often.
  void give_back();

 private:
  using Range = ExtentTable::Range;
  struct Seen {
    std::uint32_t extent = 0;
    Range range;
    bool is_free = false;
  };
  struct Survey {
    std::vector<Seen> all;
    std::uint64_t charged = 0, bytes = 0;
    std::uint32_t unused = shared::extents_max;
  };
  Survey survey(std::uint64_t charge) const;
  std::optional<std::uint32_t> take_fresh(const Survey& survey, std::uint64_t bytes);
  bool give_back_one(const Survey& survey) const;
  std::vector<Held> hold_unwanted();
  void release_pages(const Range& range) const;
  std::uint64_t bytes_max() const;

  const SharedMapping& mapping_;
  const ExtentTable extents_;
  runtime::Mutex mutex_;
  std::vector<std::uint32_t> holds_;  // number of holds of this process on each extent
  // The two members below are used only by give_back(), which always runs in the same thread.
  std::vector<std::uint32_t> turns_seen_;
  base::Nanos looked_at_{0};
};

}  // namespace pastset
