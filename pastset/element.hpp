// SPDX-License-Identifier: Apache-2.0
// pastset/element.hpp — a named, sequentially ordered log of tuples of one template.
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

/// A pair of functions applied to each tuple as it is moved in and as it is observed (PastSet's
/// X-functions; Vinter 1999). Either may be empty. What is moved in and what is observed are tuples
/// of the template, or it is a TemplateMismatch; what is stored in between may be anything.
/// They must not block, or call an element or a path, which throws UsageError; what they throw
/// ends that operation and changes nothing.
struct XFunction {
  std::function<base::Payload(const base::Payload&)> in;
  std::function<base::Payload(const base::Payload&)> out;
};

struct ElementOptions {
  std::uint64_t delta = 0;        ///< how many unobserved tuples may wait; 0 is unlimited
  std::uint64_t keep_newest = 0;  ///< keep only that many, never block a move; 0 keeps all
  XFunction x_function = {};
};

/// Is the caller inside an X-function, where it must not block?
bool is_inside_an_x_function();

class AnyChange;

/// PastSet's element (Vinter 1999; Bongo et al. 2004, §III-A), with the words of its manual and
/// without its known defects. What it means is said here; where the tuples are is a matter of who
/// derives from it (pastset/local_element.hpp).
///
/// Tuples are numbered from 0 and not removed by reading. `first` is the number of the oldest
/// unobserved tuple, `last` the number that the next moved tuple gets: first == last says that
/// nothing is unobserved.
///
/// Sharing: any context may call anything at any time; every operation is atomic.
/// Throws:  Deleted from every operation, blocked ones included, once the element is deleted;
///          DeadlinePassed; Cancelled; UsageError inside an X-function; others as said below.
class Element {
 public:
  Element(std::string name, Template tuple_template)
      : name_(std::move(name)), template_(std::move(tuple_template)) {}
  virtual ~Element() = default;
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  const std::string& name() const { return name_; }
  const Template& tuple_template() const { return template_; }

  // ---- that may block

  /// Appends; answers the tuple's number. Blocks while delta > 0 and last - first >= delta;
  /// blocked movers are released first come, first served, by observe(), by a raised delta, and
  /// by delete_element(). With keep_newest it never blocks and frees the oldest instead, raising
  /// first to the oldest kept. Throws TemplateMismatch. A cancelled one may or may not have moved.
  virtual std::uint64_t move(const base::Payload& payload, runtime::Deadline deadline) = 0;
  std::uint64_t move(const base::Payload& payload) {
    return move(payload, runtime::Deadline::never());
  }
  /// Memory for a tuple that is to be moved into this element, to be written, frozen and moved:
  /// where elements have memory of their own, as shared ones do, that copies nothing. When there is
  /// none to spare, and for small tuples, it is the process's. Never blocks but as `first()` does.
  virtual base::Buffer buffer(std::size_t bytes) { return base::Buffer(bytes); }
  /// Whether move() never blocks, whatever set_delta() may say, nor runs an X-function.
  virtual bool never_keeps_movers() const = 0;
  /// Whether operations run code of the program's own.
  virtual bool runs_x_functions() const = 0;
  /// Whether others may hold it so that every operation of it has to wait.
  virtual bool may_be_held() const { return false; }
  /// The oldest unobserved tuple; first advances by one. Blocks until there is one or the element
  /// carries an error mark (throws Marked then if there is none).
  virtual Stored observe(runtime::Deadline deadline) = 0;
  Stored observe() { return observe(runtime::Deadline::never()); }
  /// Tuple `number`; first does not change. Blocks alike; Expired if it is gone.
  virtual Stored observe(std::uint64_t number, runtime::Deadline deadline) = 0;
  Stored observe(std::uint64_t number) { return observe(number, runtime::Deadline::never()); }
  /// The newest tuple whose number is at least `from`. Blocks until there is one or the element
  /// carries an error mark (throws Marked then if there is none). Never changes first.
  virtual Stored newest(std::uint64_t from, runtime::Deadline deadline) = 0;
  Stored newest(std::uint64_t from = 0) { return newest(from, runtime::Deadline::never()); }

  // ---- the same, begun and answered later, without a context

  /// Gives `access` its turn, now or later: it is told, once, when it has happened or never will.
  /// Of those that wait, moves stand in one line with blocked ones; reads are served as a tuple
  /// comes, in the order in which they began, before contexts that it wakes. Throws UsageError
  /// inside an X-function; everything else is the access's error.
  virtual void begin(Access& access) = 0;
  /// Takes it back. True when it had not happened: it never will, and it is not told.
  virtual bool cancel(Access& access) = 0;
  /// What there is to say of one whose deadline has passed.
  virtual std::string lateness(const Access& access) const = 0;

  StartedAccess start_move(base::Payload payload) {
    return {*this, Access::Kind::move, 0, std::move(payload)};
  }
  StartedAccess start_observe() { return {*this, Access::Kind::observe, 0, {}}; }
  StartedAccess start_observe(std::uint64_t number) {
    return {*this, Access::Kind::observe_number, number, {}};
  }
  StartedAccess start_newest(std::uint64_t from = 0) {
    return {*this, Access::Kind::newest, from, {}};
  }

  // ---- that never block

  virtual std::optional<Stored> try_observe() = 0;
  virtual std::optional<Stored> try_newest() const = 0;
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t last() const = 0;
  virtual std::uint64_t delta() const = 0;
  /// Lowering it below the backlog is allowed: only later moves notice.
  virtual void set_delta(std::uint64_t delta) = 0;
  /// Frees tuple `number` and all older, but never an unobserved one: beyond first - 1 it is
  /// clamped. Freeing what is already free does nothing.
  virtual void axe(std::uint64_t number) = 0;
  /// Ends the element: every blocked operation and every later one throws Deleted, but for a
  /// second delete, which does nothing.
  virtual void delete_element() = 0;
  virtual bool is_deleted() const = 0;  ///< never throws Deleted

  /// Leaves a mark that stays: it wakes blocked readers and tells every later one whose tuple is
  /// not there that it will never come. What is there stays readable. The first mark is kept.
  virtual void mark_error(const std::string& error) = 0;
  virtual std::optional<std::string> error_mark() const = 0;

 private:
  friend class AnyChange;
  /// From now on AnyChange::tell() is called for every change.
  virtual void watch(AnyChange& watcher) = 0;
  virtual void unwatch(AnyChange& watcher) = 0;

  const std::string name_;
  const Template template_;
};

}  // namespace pastset
