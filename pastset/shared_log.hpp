// SPDX-License-Identifier: Apache-2.0
// pastset/shared_log.hpp — the log of one element in shared memory, and the line of its movers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/shared_mapping.hpp"
#include "pastset/shared_sizes.hpp"

namespace pastset {

/// A shared element has no room for a tuple, and delta does not say to wait for some.
class SharedSpaceFull : public ElementError {
 public:
  using ElementError::ElementError;
};

/// What of an element is in shared memory: everything but who waits for it in which process.
///
/// Why:     every change becomes true by one store, so that a process may die between any two, and
///          the next one finds the state before or after it (mend()).
/// Shapes:  slots hold tuples oldest .. last - 1 and those that wait in line their own; larger
///          tuples are in the arena, one behind the other in the order of moves, and around those
///          that are being read.
/// Sharing: a view, one thread's at a time; a Held first, unless said otherwise.
/// Throws:  SharedSpaceError when something in the memory cannot be.
class SharedLog {
 public:
  SharedLog(const SharedMapping& mapping, std::uint32_t index);
  static std::uint64_t region_bytes(const SharedSizes& sizes);

  bool is_pinned() const;
  void clear();  ///< all but the arena, which is read only where something was written

  struct Taken {};
  static constexpr Taken taken{};
  /// Locks it. Blocks for as long as others hold it; mends what one that died has left.
  class Held {
   public:
    explicit Held(SharedLog& log) : log_(log) { log_.take(); }
    Held(SharedLog& log, Taken) : log_(log) {}
    ~Held() { log_.let_go(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    SharedLog& log_;
  };
  void take();
  /// False when it was held by others for so long; with 0 it only looks.
  bool try_take(base::Nanos patience);
  SharedSpaceError held_for_long() const;
  void let_go();  ///< and rings whoever listens, after a change

  struct Numbers {
    std::uint64_t oldest = 0, first = 0, last = 0;
  };
  Numbers numbers() const;
  shared::Element& element() const { return element_; }
  const SharedSizes& sizes() const { return sizes_; }
  bool is_deleted() const;  ///< without a lock, too

  // ---- tuples

  bool has_room() const;
  /// May one wait for room? Else there is none for ever, or it is to be refused.
  bool may_wait() const;
  /// False when there is no memory for it now. Throws SharedSpaceFull when there never is.
  bool append(std::span<const std::byte> tuple);
  /// Pinned until its last copy goes, when it is not small.
  base::Payload read(std::uint64_t number, const std::shared_ptr<SharedMapping>& mapping) const;
  void take_first();  ///< it was observed
  void free_to(std::uint64_t number);
  std::string why_no_room() const;
  std::uint64_t arena_bytes_used() const;

  // ---- the line

  /// Answers the place in line. Throws SharedSpaceFull when that is too long.
  std::uint32_t join_line(std::span<const std::byte> tuple);
  void leave_line(std::uint32_t place);
  shared::Waiting& in_line(std::uint32_t place) const { return line_[place]; }
  bool is_line_empty() const { return element_.line_count == 0; }
  /// Appends those for whom there is room; says whether there were any.
  bool admit();
  /// Tries again for one without memory whose turn it is; says whether it has some now.
  bool find_memory(std::uint32_t place, std::span<const std::byte> tuple);

  // ---- others

  bool listens() const { return (element_.listeners & my_bit()) != 0; }
  void listen() { element_.listeners |= my_bit(); }
  void no_longer_listen() { element_.listeners &= ~my_bit(); }
  void note_change();  ///< for those who look, and those who listen
  /// The process is no more; of one that died `who` says how it is called.
  void forget(std::uint32_t process, const std::string& who);
  /// This process moves into it; observes or axes.
  void note_mover() { note(element_.movers, element_.lost_mover); }
  void note_taker() { note(element_.takers, element_.lost_taker); }

 private:
  void note(shared::Word& all, shared::Who& lost) {
    if ((all.load(std::memory_order_relaxed) & my_bit()) == 0) note_first(all, lost);
  }
  void note_first(shared::Word& all, shared::Who& lost);
  /// None of one that has no place among the processes yet.
  std::uint32_t my_bit() const {
    return mapping_.me() < shared::processes_max ? std::uint32_t{1} << mapping_.me() : 0;
  }
  shared::Slot& slot_of(std::uint64_t number) const { return slots_[number % sizes_.slots]; }
  void mend_present();
  void mend();
  void drop_beyond_newest();
  bool store(shared::Slot& slot, std::span<const std::byte> tuple);
  std::optional<std::uint64_t> take_arena(std::size_t bytes);
  std::uint64_t oldest_place(std::uint64_t next) const;
  std::uint64_t oldest_pinned(std::uint64_t next) const;
  bool step_over_pinned(std::uint64_t& place, std::uint64_t wanted) const;
  std::optional<std::uint32_t> head_of_line() const;
  std::span<const std::byte> large(const shared::Slot& slot) const;
  std::atomic<std::uint64_t>* pin(const shared::Slot& slot) const;
  [[noreturn]] void fail(const std::string& what) const;
  std::string name() const { return read_text(element_.name); }

  const SharedMapping& mapping_;
  const std::uint32_t index_;
  shared::Element& element_;
  SharedSizes sizes_;
  shared::Slot* slots_ = nullptr;
  shared::Waiting* line_ = nullptr;
  shared::Pins* pins_ = nullptr;
  std::byte* arena_ = nullptr;
  std::uint64_t generation_ = 0;
  std::uint32_t to_ring_ = 0;
};

}  // namespace pastset
