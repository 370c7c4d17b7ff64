// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log.hpp — the log of one element in shared memory, and the line of its movers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/shared/element_arena.hpp"
#include "pastset/shared/mapping.hpp"
#include "pastset/shared/sizes.hpp"

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
///          tuples are in the element's share of the space's arena.
/// Sharing: a view, one thread's at a time; a Held first, unless said otherwise.
/// Throws:  SharedSpaceError when something in the memory cannot be.
class SharedLog {
 public:
  SharedLog(const SharedMapping& mapping, std::uint32_t index);
  SharedLog(SharedLog&&) = default;
  ~SharedLog();
  static std::uint64_t region_bytes(const SharedSizes& sizes);

  void clear();  ///< whatever another element has left in its slots and its line

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
  using Room = SharedArena::Room;
  /// Copied from where it is, unless it is in the space already; false when there is no memory for
  /// it now. Throws SharedSpaceFull when there never is.
  bool append(std::span<const std::byte> tuple, std::optional<Room>& room);
  /// Held until its last copy goes, when it is not small.
  base::Payload read(std::uint64_t number, const std::shared_ptr<SharedMapping>& mapping) const;
  void take_first();  ///< it was observed
  void free_to(std::uint64_t number);
  std::string why_no_room() const;
  ElementArena& share() const { return *share_; }
  std::uint64_t tuples_to_keep() const;  ///< besides the next one

  // ---- the line

  /// Answers the place in line, which keeps the room. Throws SharedSpaceFull when that is too long.
  std::uint32_t join_line(std::span<const std::byte> tuple, std::optional<Room>& room);
  void leave_line(std::uint32_t place);  ///< of this process's own
  /// The same once it is deleted.
  void forget_line(std::uint32_t place) { held_in_line_.erase(place); }
  shared::Waiting& in_line(std::uint32_t place) const { return line_[place]; }
  bool is_line_empty() const { return element_.line_count == 0; }
  /// Appends those for whom there is room; says whether there were any.
  bool admit();
  /// Tries again for one without memory whose turn it is; says whether it has some now.
  bool find_memory(std::uint32_t place, std::span<const std::byte> tuple);

  // ---- without holding it, for who may not

  Numbers numbers_now() const;
  /// A copy; none when it is not there any more, or was going while it was copied.
  std::optional<base::Payload> glance(std::uint64_t number) const;
  SharedSpaceError overwritten(std::uint64_t number, const std::string& mismatch) const;

  // ---- what does not come; null when it may

  std::exception_ptr why_none_comes() const;     ///< of a tuple that is not there
  std::exception_ptr why_no_room_comes() const;  ///< of room that is not there
  std::exception_ptr why_orphaned() const;       ///< no more is moved once the owner has died
  bool is_marked() const { return element_.is_marked.load() != 0; }
  Marked marked() const { return Marked(read_text(element_.mark)); }

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
  std::optional<ElementArena::Place> place(std::span<const std::byte> tuple,
                                           std::optional<Room>& room);
  void refuse_what_never_fits(std::size_t bytes) const;
  static void fill(shared::Slot& slot, std::span<const std::byte> tuple,
                   const ElementArena::Place& place);
  void note_tuple(const shared::Slot& slot, std::uint64_t number);
  void store_oldest(std::uint64_t number);
  bool store_in_line(shared::Waiting& mine, std::span<const std::byte> tuple,
                     std::optional<Room>& room);
  void remove_from_line(shared::Waiting& one);
  struct Bytes {
    std::span<const std::byte> large;  ///< in place, in the extent
    std::uint32_t extent = 0;
    base::Payload small;
  };
  Bytes bytes_of(const shared::Slot& slot) const;
  bool has_one_without_memory() const;
  std::optional<std::uint32_t> head_of_line() const;
  SharedArena& arena() const { return mapping_.arena(); }
  std::exception_ptr died(const std::string& who, const char* what) const;
  [[noreturn]] void fail(const std::string& what) const;
  std::string name() const { return read_text(element_.name); }

  const SharedMapping& mapping_;
  const std::uint32_t index_;
  shared::Element& element_;
  SharedSizes sizes_;
  shared::Slot* slots_ = nullptr;
  shared::Waiting* line_ = nullptr;
  mutable std::optional<ElementArena> share_;
  std::uint64_t generation_ = 0;
  std::uint32_t to_ring_ = 0;
  std::map<std::uint32_t, SharedArena::Held> held_in_line_;  // by place, of this process
};

}  // namespace pastset
