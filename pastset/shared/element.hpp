// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element.hpp — an element in memory that several processes of a machine map.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "pastset/element.hpp"
#include "pastset/shared/doorbell.hpp"
#include "pastset/shared/log.hpp"
#include "pastset/waiters.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// One process's handle of it; its tuples and its line of movers are all processes'. Contexts of
/// other processes are woken as those of this one; reads without a context are served in the order
/// in which they began in this process.
///
/// How it waits: an OS thread looks at the shared memory for a while; then all wait as in any
///               element, and a thread of this process that sleeps in the kernel is rung.
/// Large tuples: are copied into the shared memory once, before the element is held where there is
///               memory, and not at all when they were written there (buffer()) or read from there.
///               Whoever reads them does so in place; the memory is free once all have let go.
/// Bounded:      a move for which there is no slot or memory blocks when delta > 0, until some is
///               freed; else it is a SharedSpaceFull, as is one that never fits and a line that is
///               too long.
/// X-functions:  this process's own, run while the element is held. An element runs those of the
///               process that moves or reads.
/// Marks:        longer than 255 bytes are cut.
/// Death:        when the process that made the space dies, every move is a ProcessDied from then
///               on, and every read whose tuple is not there. When the last process dies that moved
///               into the element, reads whose tuple is not there are, until another one moves;
///               when the last dies that observed or axed, moves for which there is no room are,
///               until another one does. Those that wait are told within milliseconds.
/// Throws:       also SharedSpaceFull, and SharedSpaceError from every operation; a blocked move
///               that throws that, or is cancelled while the element is stuck, may have moved.
/// Blocks:       besides, whatever the deadline, while another process holds the element: for a few
///               instructions and X-functions, or until the space's patience ends. A fiber then
///               lets others of its OS thread go on, but for begin(), cancel() and what it
///               withdraws.
/// Steady clock, but for an element that no other process maps.
class SharedElement final : public Element, private Doorbell::Listener {
 public:
  /// Of the directory's element `index`, which is live.
  SharedElement(std::shared_ptr<SharedMapping> mapping, std::shared_ptr<Doorbell> listener,
                std::uint32_t index, std::string name, Template tuple_template,
                XFunction x_function = {});
  /// As of LocalElement; what waits without a context is told Deleted. Not by who is told of one.
  ~SharedElement() override;

  using Element::move;
  using Element::newest;
  using Element::observe;
  std::uint64_t move(const base::Payload& payload, runtime::Deadline deadline) override;
  base::Buffer buffer(std::size_t bytes) override;
  bool never_keeps_movers() const override;
  bool runs_x_functions() const override { return x_function_.in || x_function_.out; }
  bool may_be_held() const override { return true; }
  Stored observe(runtime::Deadline deadline) override;
  Stored observe(std::uint64_t number, runtime::Deadline deadline) override;
  Stored newest(std::uint64_t from, runtime::Deadline deadline) override;
  void begin(Access& access) override;
  bool cancel(Access& access) override;
  std::string lateness(const Access& access) const override;
  std::optional<Stored> try_observe() override;
  std::optional<Stored> try_newest() const override;
  std::uint64_t first() const override;
  std::uint64_t last() const override;
  std::uint64_t delta() const override;
  void set_delta(std::uint64_t delta) override;
  void axe(std::uint64_t number) override;
  void delete_element() override;
  bool is_deleted() const override;
  void mark_error(const std::string& error) override;
  std::optional<std::string> error_mark() const override;

 private:
  friend class Waiters;
  class Hold;
  bool on_ring(runtime::DeferredWakes& wakes) override;
  void look_again(runtime::DeferredWakes& wakes);
  // Moves.
  /// A tuple on its way, and its place in the space if it has one already.
  struct Incoming {
    base::Payload tuple;
    std::optional<SharedLog::Room> room;
  };
  Incoming bring_in(base::Payload stored) const;
  std::uint64_t move_when_admitted(Incoming incoming, Hold& hold, runtime::Deadline deadline);
  void wait_for_admission(Waiters::Move& move, Hold& hold, runtime::Deadline deadline);
  void begin_move(Access& access, Incoming incoming, runtime::DeferredWakes& wakes);
  bool append(Incoming& incoming);
  bool answer_moves(runtime::DeferredWakes& wakes);
  void fail_moves(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  void try_take(Hold& hold, base::Nanos patience) const;
  void withdraw(std::uint32_t place, const Hold& hold);
  void drop_orphans() const;
  void come_back() const;
  // Reads.
  bool has_unobserved() const;
  bool has(std::uint64_t number) const;
  bool has_newest(std::uint64_t from) const;
  Stored read(std::uint64_t number) const;
  Stored read_kept(std::uint64_t number) const;
  Stored read_newest() const;
  Stored take_oldest();
  // Both.
  void settle(runtime::DeferredWakes& wakes);
  void settle_readable(runtime::DeferredWakes& wakes);
  void fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  void watch(AnyChange& watcher) override;
  void unwatch(AnyChange& watcher) override;
  template <class There>
  void wait_until(There there, Hold& hold, runtime::Deadline deadline, std::uint64_t number);
  runtime::Woken wait(runtime::WaitList& list, Hold& hold, runtime::Deadline deadline,
                      const runtime::Reason& reason);
  bool look(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Hold& hold,
            runtime::Deadline deadline, const runtime::Reason& reason);
  void refuse_orphan() const;
  std::string no_room() const;

  const std::shared_ptr<SharedMapping> mapping_;
  const std::shared_ptr<Doorbell> listener_;
  const XFunction x_function_;
  mutable runtime::Mutex mutex_;  // taken before the lock of the log
  mutable SharedLog log_;
  std::uint32_t seen_changes_ = 0;
  mutable std::vector<std::uint32_t> orphans_;  // places in line of those that are gone from there
  std::optional<base::Nanos> held_since_;       // by others, when the bell rang and rings again
  Waiters waiters_{*this};
};

}  // namespace pastset
