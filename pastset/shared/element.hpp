// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element.hpp — element in memory that several processes of a machine map
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/payload.hpp"
#include "pastset/element.hpp"
#include "pastset/shared/doorbell.hpp"
#include "pastset/shared/log/log.hpp"
#include "pastset/shared/moves.hpp"
#include "pastset/shared/tuples.hpp"
#include "pastset/waiters.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// An element in shared memory, as one process uses it. One process moves a tuple and another
/// process observes the tuple, without a message. The tuples and the line (the queue of moves that
/// wait for room) are common to all processes. A change wakes the waiting threads and fibers of
/// other processes like those of this process. Started reads are served in the order in which they
/// began in this process. "The element is held" means that a process holds the lock of the element,
/// which is common to all processes.
///
/// Waiting:      An OS thread that waits first polls the shared memory for a while. Then it blocks
///               as in any element. A process that changes the element signals a thread of this
///               process, which wakes the waiter.
/// Large tuples: A move copies a tuple into the shared memory once. If there is memory, the move
///               copies before it holds the element. A move copies nothing if the tuple is in the
///               shared memory already: written there with buffer(), or read from there. Readers
///               use the tuple in place. The memory of a dropped tuple is free once all readers
///               have released the tuple.
/// Bounded:      If no entry (setting `slots`) or no memory is free, a move waits until an entry or
///               memory is freed. A move can wait only if delta > 0 and keep_newest = 0. With other
///               settings the move throws SharedSpaceFull. A move also throws SharedSpaceFull if
///               the tuple can never fit, or if the line is full.
/// X-functions:  belong to a process. An operation runs the functions of the process that moves or
///               reads, while the element is held.
/// Marks:        Error marks are cut to 255 bytes.
/// Failure:      Operations throw ProcessDied in three cases.
///               - After the death of the process that made the space, every move and every read of
///                 a missing tuple throws ProcessDied.
///               - A read of a missing tuple throws ProcessDied if all processes that moved into
///               the
///                 element have ended, and the last of them has died. This ends when another
///                 process moves.
///               - A move that would block throws ProcessDied if all processes that observed or
///                 axed have ended, and the last of them has died. This ends when another process
///                 observes or axes.
///               Waiters receive the error within milliseconds.
/// Blocks:       while another process holds the element, even beyond the deadline. Normally a
///               process holds it for a few instructions and calls of X-functions. After the lock
///               patience the operation fails. A fiber that waits for the lock lets other fibers of
///               its OS thread run, except in cancel() and withdrawals.
/// Requires:     the steady clock, unless no other process maps the element.
/// Throws:       the exceptions of Element, and SharedSpaceFull; SharedSpaceError from every
///               operation. A blocked move that throws SharedSpaceError may have happened. A
///               blocked move that is cancelled may have happened too, if another process holds the
///               element for too long.
class SharedElement final : public Element, private Doorbell::Listener {
 public:
  /// Requires: the element with this `index` in the directory is live.
  SharedElement(std::shared_ptr<SharedMapping> mapping, std::shared_ptr<Doorbell> listener,
                std::uint32_t index, std::string name, Template tuple_template,
                XFunction x_function = {});
  /// Fails every waiting access with Deleted, as ~LocalElement() does.
  /// Requires: notifications of started accesses do not destroy the element.
  ~SharedElement() override;

  std::uint64_t move(const base::Payload& payload, runtime::Deadline deadline) override;
  base::Buffer buffer(std::size_t bytes) override;
  ElementTraits traits() const override;
  void begin(Access& access) override;
  bool cancel(Access& access, std::string* lateness) override;
  std::optional<Stored> try_observe() override;
  std::optional<Stored> try_newest() const override;
  std::uint64_t first() const override;
  std::uint64_t last() const override;
  std::uint64_t delta() const override;
  void set_delta(std::uint64_t delta) override;
  void axe(std::uint64_t number) override;
  void delete_element() override;
  bool is_deleted() const override;
  void mark_error(const ErrorMark& mark) override;
  std::optional<ErrorMark> error_mark() const override;

 private:
  class Hold;
  Stored read(Access::Kind kind, std::uint64_t number, runtime::Deadline deadline) override;
  bool on_ring(runtime::DeferredWakes& wakes) override;
  void set_watcher(AnyChange& watcher, bool is_watching) override;
  SharedMoves::Incoming bring_in(const base::Payload& payload) const;
  void wait_for_admission(Waiters::Move& move, Hold& hold, runtime::Deadline deadline);
  void settle(runtime::DeferredWakes& wakes);
  void fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes);

  const std::shared_ptr<SharedMapping> mapping_;
  const std::shared_ptr<Doorbell> listener_;
  const XFunction x_function_;
  mutable runtime::Mutex mutex_;  // a thread locks it before it takes the lock of the log
  mutable SharedLog log_;
  std::uint32_t seen_changes_ = 0;
  // Time at which on_ring() first failed to take the lock of the log; nullopt after a success.
  std::optional<base::Nanos> held_since_;
  mutable Waiters waiters_{*this};
  mutable SharedMoves moves_{*this, *mapping_, log_, waiters_};
  SharedTuples tuples_{*this, x_function_, log_, mapping_};
};

}  // namespace pastset
