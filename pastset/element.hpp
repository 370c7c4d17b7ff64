// SPDX-License-Identifier: Apache-2.0
// pastset/element.hpp — a named, sequentially ordered log of tuples of one template
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "base/payload.hpp"
#include "pastset/access.hpp"
#include "pastset/errors.hpp"
#include "pastset/template.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// A pair of functions that transform each tuple (PastSet's X-functions). `in` runs when a tuple is
/// moved, `out` when a tuple is observed. Each of the two functions may be empty. The argument of
/// `in` and the result of `out` must match the template; otherwise the operation throws
/// TemplateMismatch. The stored tuple must match the template only if `out` is empty.
///
/// Requires: the functions do not block, and call no element or path (UsageError).
/// Throws: if a function throws, the operation throws the same exception and changes nothing.
/// Paper: Vinter 1999.
struct XFunction {
  std::function<base::Payload(const base::Payload&)> in;
  std::function<base::Payload(const base::Payload&)> out;
};

struct ElementOptions {
  std::uint64_t delta = 0;  ///< maximum number of unobserved tuples; 0 = unlimited
  /// Maximum number of tuples that are kept; 0 = keep all. With a maximum, moves never block: each
  /// move frees the oldest tuple if necessary.
  std::uint64_t keep_newest = 0;
  XFunction x_function = {};
};

/// Whether the caller is inside an X-function, where it must not block.
bool is_inside_an_x_function();

/// Reasons for which operations of an element may block, besides missing tuples and missing room.
struct ElementTraits {
  bool never_keeps_movers = false;  ///< move() never blocks, whatever delta is; no X-function runs
  bool runs_x_functions = false;    ///< operations run X-functions, which are code of the program
  /// Other processes can hold a lock of the element. Any operation may have to wait until they
  /// release it.
  bool may_be_held = false;
};

class AnyChange;

/// A log through which threads and processes exchange tuples: writers append, readers read in
/// order. This class defines the semantics; derived classes choose the memory
/// (pastset/local_element.hpp). The semantics are those of the PastSet manual without its known
/// defects.
///
/// Tuples are numbered from 0, and reading does not remove them. `first` is the number of the
/// oldest unobserved tuple. `last` is the number that the next moved tuple gets. All tuples are
/// observed if first == last.
///
/// Thread-safe: yes; every operation is atomic.
/// Throws: Deleted from every operation, also from blocked ones, once the element is deleted;
///   DeadlinePassed; Cancelled; UsageError inside an X-function; other exceptions as documented
///   below.
/// Paper: Vinter 1999; Bongo et al. 2004, §III-A.
class Element {
 public:
  Element(std::string name, Template tuple_template)
      : name_(std::move(name)), template_(std::move(tuple_template)) {}
  virtual ~Element() = default;

  const std::string& name() const { return name_; }
  const Template& tuple_template() const { return template_; }

  // ---- operations that may block

  /// Appends a tuple and returns its number. Blocks while delta > 0 and last - first >= delta.
  /// Calls of observe() and set_delta() can make room; blocked moves then continue in first-in,
  /// first-out order. delete_element() ends the wait of all blocked moves. With keep_newest a move
  /// never blocks: it frees the oldest tuple and raises `first` to the number of the oldest kept
  /// tuple. A move that was cancelled may have happened or not. Throws TemplateMismatch.
  virtual std::uint64_t move(const base::Payload& payload,
                             runtime::Deadline deadline = runtime::Deadline::never()) = 0;
  /// Returns memory for a tuple that the caller will write, freeze and move into this element. If
  /// the element has memory of its own, such as a shared element, the move then needs no copy.
  /// Small tuples get ordinary process memory; so do all tuples when the element's memory is
  /// exhausted. Blocks at most for the lock of the element, as first() does.
  virtual base::Buffer buffer(std::size_t bytes) { return base::Buffer(bytes); }
  virtual ElementTraits traits() const = 0;
  /// Returns the oldest unobserved tuple and advances `first` by one. Blocks until there is an
  /// unobserved tuple. Throws Marked if there is no unobserved tuple and the element has an error
  /// mark.
  Stored observe(runtime::Deadline deadline = runtime::Deadline::never()) {
    return read(Access::Kind::observe, 0, deadline);
  }
  /// Returns tuple `number`; `first` does not change. Blocks until the tuple exists. Throws Expired
  /// if the tuple was freed. Throws Marked if the tuple does not exist yet and the element has an
  /// error mark.
  Stored observe(std::uint64_t number, runtime::Deadline deadline = runtime::Deadline::never()) {
    return read(Access::Kind::observe_number, number, deadline);
  }
  /// Returns the newest tuple whose number is at least `from`; `first` does not change. Blocks
  /// until there is such a tuple. Throws Marked if there is none and the element has an error mark.
  Stored newest(std::uint64_t from = 0, runtime::Deadline deadline = runtime::Deadline::never()) {
    return read(Access::Kind::newest, from, deadline);
  }

  // ---- the same operations, started without blocking a context (an OS thread or fiber). The
  // functions start_move(), start_observe() and start_newest() of pastset/access.hpp use these.

  /// Starts the read or move `access`. The element notifies `access` exactly once, during this call
  /// or later, when the operation has happened or failed. A started move waits in the same queue as
  /// the moves that block contexts. When a tuple arrives, the element serves waiting reads in the
  /// order in which they began. Only then does it wake the contexts that are blocked in reads.
  /// Throws UsageError inside an X-function; any other exception is stored in `access`.
  virtual void begin(Access& access) = 0;
  /// Cancels a waiting access. If cancel() returns true, the operation will never happen, and the
  /// access is not notified. If cancel() returns false, the operation has already happened.
  /// If its deadline has passed, pass `lateness`: it receives the error message. An element in
  /// shared memory then lets other fibers run while another process holds it.
  virtual bool cancel(Access& access, std::string* lateness = nullptr) = 0;

  // ---- operations that never block

  virtual std::optional<Stored> try_observe() = 0;
  virtual std::optional<Stored> try_newest() const = 0;
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t last() const = 0;
  virtual std::uint64_t delta() const = 0;
  /// Sets delta. If `delta` is below the number of unobserved tuples, these tuples stay, and only
  /// later moves block.
  virtual void set_delta(std::uint64_t delta) = 0;
  /// Frees tuple `number` and all older tuples. Never frees an unobserved tuple: `number` is
  /// clamped to first - 1. Does nothing for tuples that are already freed.
  virtual void axe(std::uint64_t number) = 0;
  /// Deletes the element. Every blocked and every later operation throws Deleted, except a second
  /// delete_element(), which does nothing.
  virtual void delete_element() = 0;
  virtual bool is_deleted() const = 0;  ///< never throws Deleted

  /// Sets a permanent error mark, and wakes blocked readers. From then on, a read of a tuple that
  /// does not exist throws Marked; existing tuples stay readable. Only the first mark is kept.
  virtual void mark_error(const ErrorMark& mark) = 0;
  virtual std::optional<ErrorMark> error_mark() const = 0;

 private:
  friend class AnyChange;
  /// Reads a tuple for observe() and newest(). `number` has the meaning of Access::number.
  virtual Stored read(Access::Kind kind, std::uint64_t number, runtime::Deadline deadline) = 0;
  /// Registers `watcher` if `is_watching`: from now on the element calls AnyChange::tell() after
  /// every change. Otherwise removes it.
  virtual void set_watcher(AnyChange& watcher, bool is_watching) = 0;

  const std::string name_;
  const Template template_;
};

}  // namespace pastset
