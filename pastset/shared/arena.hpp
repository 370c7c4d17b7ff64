// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena.hpp — the arena: memory of a shared space for tuples above 48 bytes
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "pastset/shared/layout.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class SharedMapping;

/// Allocates extents: ranges of memory for tuples above 48 bytes. It stays consistent if a process
/// of the space dies at any instruction. The extents follow the rest of the space in the mapping.
/// Their address range is several times larger than the memory limit, so that some gap is long
/// enough for any mix of sizes.
///
/// Why:         An extent is free while no process holds it and no element keeps a tuple in it. The
///              process that needs an extent checks that, so no process has to release one. A dead
///              process therefore leaves no extent occupied. Free extents are reused before fresh
///              memory, which the kernel must fill with zeros first. Memory that was not used for a
///              while returns to the kernel.
/// Owns:        the number of holds that this process has on each extent. The process holds the
///              extents of tuples that it writes before it moves them, that it reads, or that wait
///              in an element's line (queue of waiting moves). The holds end with the process.
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

  /// A hold of this process on an extent. While it exists, the extent is not given to another
  /// tuple.
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
  struct Range {
    std::uint64_t place = 0, bytes = 0;
  };

  /// Takes an extent for a tuple of `bytes` bytes. They count towards the memory limit `most` of
  /// the element that `charge` identifies (charge_of()). Returns nullopt if fewer than `bytes +
  /// spare` bytes of that limit are unused, or if the space has no memory now.
  std::optional<Room> take(std::uint64_t bytes, std::uint64_t charge, std::uint64_t most,
                           std::uint64_t spare = 0);
  Held hold(std::uint32_t extent);
  void let_go(std::uint32_t extent);  ///< drops a hold; the last one wakes moves that wait
  bool holds(std::uint32_t process, std::uint32_t extent) const;
  bool is_held(std::uint32_t extent) const;
  /// Finds the extent that contains `bytes`. Returns nullopt unless this process holds the extent
  /// and `bytes` fill most of it.
  std::optional<Room> find(std::span<const std::byte> bytes);
  /// Returns the range of memory of an extent. It is empty if the extent has no memory, or if its
  /// fields are invalid.
  Range range_of(std::uint32_t extent) const;
  /// Returns the address of the range; nullptr if the range is not inside the arena.
  std::byte* at(std::uint64_t place, std::uint64_t bytes) const;

  /// Notes in the shared memory that the element keeps tuple `number` in the extent.
  /// Requires: the caller holds both the element and the extent.
  void note_tuple(std::uint32_t element, std::uint32_t extent, std::uint64_t number);
  /// open() notes that the element may store further tuples in the extent. close() ends that, and
  /// notes the newest tuple that the element has there: its number is `beyond - 1`.
  void open(std::uint32_t element, std::uint32_t extent);
  void close(std::uint32_t element, std::uint32_t extent, std::uint64_t beyond);
  /// Repairs the notes about an element after a process died that held it. That process may have
  /// called note_tuple() for tuples that it did not append. Drops the notes for these tuples: their
  /// numbers are `last` and above. The note in the extent `open` stays. For a deleted element,
  /// `last` is 0.
  void forget_beyond(std::uint32_t element, std::uint64_t last,
                     std::uint32_t open = shared::extents_max);

  static std::uint64_t charge_of(std::uint32_t element, std::uint64_t generation) {
    return generation * shared_elements_max + element;
  }
  std::uint64_t charged_to(std::uint32_t extent) const;
  bool has_extents() const;  ///< whether an extent is free, or one can be added
  /// Returns how many bytes in use count towards the limit of the element that `charge` identifies.
  std::uint64_t bytes_of(std::uint64_t charge) const;

  void want_memory(std::uint32_t element, bool wants);
  bool wants_memory(std::uint32_t element) const;
  void notify_waiting_writers() const;  ///< wakes processes whose moves wait for memory

  void forget(std::uint32_t process);  ///< drops all holds of a process that has died or detaches
  /// Returns free memory to the kernel, if it was not used for a second.
  /// Requires: called often, always from the same thread.
  void give_back();

 private:
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
  bool is_free(std::uint32_t extent) const;
  bool has_tuples(std::uint32_t extent) const;
  void release_pages(const Range& range) const;
  std::uint64_t bytes_max() const;
  std::uint32_t known() const;
  shared::Extent& extent(std::uint32_t index) const;

  const SharedMapping& mapping_;
  runtime::Mutex mutex_;
  std::vector<std::uint32_t> holds_;  // number of holds of this process on each extent
  // The two members below are used only by give_back(), which always runs in the same thread.
  std::vector<std::uint32_t> turns_seen_;
  base::Nanos looked_at_{0};
};

}  // namespace pastset
