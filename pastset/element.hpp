// SPDX-License-Identifier: Apache-2.0
// pastset/element.hpp — a named, sequentially ordered log of tuples of one template.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/payload.hpp"
#include "base/ring.hpp"
#include "base/units.hpp"
#include "pastset/errors.hpp"
#include "pastset/template.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// A tuple as an element hands it out: a copy that shares the bytes.
struct Stored {
  std::uint64_t number = 0;
  base::Payload payload;
};

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
/// without its known defects.
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
  Element(std::string name, Template tuple_template, ElementOptions options = {});
  ~Element();  ///< nobody may be blocked in it or watch it any more

  const std::string& name() const { return name_; }
  const Template& tuple_template() const { return template_; }

  /// Appends; answers the tuple's number. Blocks while delta > 0 and last - first >= delta;
  /// blocked movers are released first come, first served, by observe(), by a raised delta, and
  /// by delete_element(). With keep_newest it never blocks and frees the oldest instead, raising
  /// first to the oldest kept. Throws TemplateMismatch. A cancelled one may or may not have moved.
  std::uint64_t move(const base::Payload& payload,
                     runtime::Deadline deadline = runtime::Deadline::never());
  /// Whether move() never blocks, whatever set_delta() may say, nor runs an X-function.
  bool never_keeps_movers() const { return keep_newest_ > 0 && !x_function_.in; }
  /// The oldest unobserved tuple; first advances by one. Blocks until there is one or the element
  /// carries an error mark (throws Marked then if there is none).
  Stored observe(runtime::Deadline deadline = runtime::Deadline::never());
  std::optional<Stored> try_observe();
  /// Tuple `number`; first does not change. Blocks alike; Expired if it is gone.
  Stored observe(std::uint64_t number, runtime::Deadline deadline = runtime::Deadline::never());
  /// The newest tuple whose number is at least `from`. Blocks until there is one or the element
  /// carries an error mark (throws Marked then if there is none). Never changes first.
  Stored newest(std::uint64_t from = 0, runtime::Deadline deadline = runtime::Deadline::never());
  std::optional<Stored> try_newest() const;

  std::uint64_t first() const;
  std::uint64_t last() const;
  std::uint64_t delta() const;
  /// Lowering it below the backlog is allowed: only later moves notice.
  void set_delta(std::uint64_t delta);
  /// Frees tuple `number` and all older, but never an unobserved one: beyond first - 1 it is
  /// clamped. Freeing what is already free does nothing.
  void axe(std::uint64_t number);
  /// Ends the element: every blocked operation and every later one throws Deleted, but for a
  /// second delete, which does nothing.
  void delete_element();
  bool is_deleted() const;  ///< never throws Deleted

  /// Leaves a mark that stays: it wakes blocked readers and tells every later one whose tuple is
  /// not there that it will never come. What is there stays readable. The first mark is kept.
  void mark_error(const std::string& error);
  std::optional<std::string> error_mark() const;

 private:
  friend class AnyChange;
  struct Mover;  // one that is blocked
  std::uint64_t next_number() const { return oldest_ + kept_.size(); }
  bool has_room() const;
  bool has_newest(std::uint64_t from) const;
  Stored read(std::uint64_t number) const;
  Stored take_oldest(runtime::Wakes& wakes);
  std::uint64_t append(base::Payload stored, runtime::Wakes& wakes);
  base::Payload drop_beyond_newest();
  std::uint64_t move_when_admitted(base::Payload stored, runtime::Lock& lock,
                                   runtime::Deadline deadline);
  void admit_movers(runtime::Wakes& wakes);
  template <class There>
  void wait_until(There there, runtime::Lock& lock, runtime::Deadline deadline,
                  std::uint64_t number);
  runtime::Woken wait(runtime::WaitList& list, runtime::Lock& lock, runtime::Deadline deadline,
                      const runtime::Reason& reason);
  void tell_changed(runtime::Wakes& wakes);
  void ensure_alive() const;
  void refuse_x_function() const;
  runtime::Lock lock_alive() const;
  void ensure_matches(const base::Payload& payload, std::string_view whose) const;

  const std::string name_;
  const Template template_;
  const XFunction x_function_;
  mutable runtime::Mutex mutex_;
  base::Ring<base::Payload> kept_;  // tuples oldest_ .. last - 1
  std::uint64_t oldest_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t delta_;
  const std::uint64_t keep_newest_;
  bool deleted_ = false;
  std::optional<std::string> error_mark_;
  std::deque<Mover*> movers_;  // not empty only while there is no room
  runtime::WaitList readers_;
  std::size_t blocked_ = 0;  // calls inside wait(), woken ones that did not run yet included
  std::vector<AnyChange*> watchers_;
};

/// Waits until any of several elements changes: a tuple moved in, an error mark, deletion.
///
/// Usage: read `seen = changes.count()` first, then look at the elements, then wait(seen): a
/// change between the look and the wait is never missed.
/// Owns:  nothing; the elements must outlive it.
class AnyChange {
 public:
  /// With a `clock`, it also knows when each element last changed.
  explicit AnyChange(std::vector<Element*> elements, const runtime::Runtime* clock = nullptr);
  ~AnyChange();
  AnyChange(const AnyChange&) = delete;
  AnyChange& operator=(const AnyChange&) = delete;
  std::uint64_t count() const;
  /// False when the deadline passed first.
  bool wait(std::uint64_t seen, runtime::Deadline deadline = runtime::Deadline::never());
  /// When one of them last changed, by its place in the list; the clock's 0 if it never did.
  base::Nanos changed_at(std::size_t place) const;

 private:
  friend class Element;
  // Called with the element's mutex held, never the reverse.
  void tell(const Element& changed, runtime::Wakes& wakes);
  const std::vector<Element*> elements_;
  const runtime::Runtime* clock_;
  mutable runtime::Mutex mutex_;
  runtime::WaitList waiting_;
  std::uint64_t count_ = 0;
  std::vector<base::Nanos> changed_at_;
};

}  // namespace pastset
