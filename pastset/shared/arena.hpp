// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena.hpp — the memory of a shared space for tuples above 48 bytes.
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

/// Hands out extents: ranges of pages that lie behind all else of a space, far more of them than it
/// may have memory for, so that one is found whatever sizes come.
///
/// Why:     nobody gives an extent back. It is free while no process holds it and no element keeps
///          a tuple in it, which every taker sees for himself, so that whoever dies at any moment
///          leaves nothing. Memory of free ones is used again before other memory, which would have
///          to be filled with zeros first, and goes back to the kernel once nobody wanted it for a
///          while.
/// Holds:   one process's, counted here: of what it writes before it is moved, of what it reads,
///          and of what waits in line. They end with the process.
/// Sharing: any thread may call anything.
/// Blocks:  for the arena's lock, no longer than the space's patience (SharedSpaceError).
class SharedArena {
 public:
  explicit SharedArena(const SharedMapping& mapping);
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  /// How large the memory is of a space that may take so much.
  static std::size_t mapped_bytes(std::size_t bytes);
  static std::size_t bytes_of_mapped(std::size_t mapped_bytes);

  /// An extent that nobody else gets as long as this is.
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
    void keep() { arena_ = nullptr; }  ///< until somebody lets it go by its number

   private:
    SharedArena* arena_;
    std::uint32_t extent_;
  };
  /// Where a tuple is to be, or is.
  struct Room {
    Held held;
    std::uint64_t place = 0;
  };
  struct Range {
    std::uint64_t place = 0, bytes = 0;
  };

  /// For an element (charge_of()) that may have `most` in all; none when that has no room for it
  /// and `spare`, or the space has none now.
  std::optional<Room> take(std::uint64_t bytes, std::uint64_t charge, std::uint64_t most,
                           std::uint64_t spare = 0);
  Held hold(std::uint32_t extent);
  void let_go(std::uint32_t extent);  ///< and tells who waits for memory
  bool holds(std::uint32_t process, std::uint32_t extent) const;
  bool is_held(std::uint32_t extent) const;
  /// Of bytes that this process holds and that fill most of their extent.
  std::optional<Room> find(std::span<const std::byte> bytes);
  Range range_of(std::uint32_t extent) const;  ///< empty when it has none that can be
  /// Null when they cannot be there.
  std::byte* at(std::uint64_t place, std::uint64_t bytes) const;

  /// The element keeps a tuple there, of that number; called while both it and the extent are held.
  void note_tuple(std::uint32_t element, std::uint32_t extent, std::uint64_t number);
  /// As if it kept all that are to come; and from then on as `beyond` says, a number + 1.
  void open(std::uint32_t element, std::uint32_t extent);
  void close(std::uint32_t element, std::uint32_t extent, std::uint64_t beyond);
  /// What a holder of the element that died has noted without moving, but for one that is open.
  void forget_beyond(std::uint32_t element, std::uint64_t last, std::uint32_t open);
  void forget_all(std::uint32_t element);  ///< which is no more

  static std::uint64_t charge_of(std::uint32_t element, std::uint64_t generation) {
    return generation * shared::elements_max + element;
  }
  std::uint64_t charged_to(std::uint32_t extent) const;
  bool has_extents() const;                            ///< one to be had, if there is memory for it
  std::uint64_t bytes_of(std::uint64_t charge) const;  ///< that nobody else can have now

  void want_memory(std::uint32_t element, bool wants);
  bool wants_memory(std::uint32_t element) const;
  void tell_who_wants() const;  ///< something may be free

  void forget(std::uint32_t process);  ///< which is no more
  /// Called often, by one thread: what nobody has wanted for a second goes back to the kernel.
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
  class Locked;
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
  std::vector<std::uint32_t> holds_;  // of this process
  // Of who gives back.
  std::vector<std::uint32_t> turns_seen_;
  base::Nanos looked_at_{0};
};

}  // namespace pastset
