// SPDX-License-Identifier: Apache-2.0
// pastset/access.hpp — reads and moves that wait in an element without blocking a context
#pragma once
#include <cstdint>
#include <exception>
#include <memory>

#include "base/payload.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class Element;

/// A tuple as an element returns it: its number, and a copy that shares the bytes.
struct Stored {
  std::uint64_t number = 0;
  base::Payload payload;
};

/// A read or a move that waits in an element without blocking a context: see Element::begin().
/// Owns: its memory belongs to the caller of begin(), so waiting allocates nothing.
/// Thread-safe: no. Only the element may use it, from begin() until notify() or until cancel() has
///   returned true.
class Access : public runtime::Waiter {
 public:
  enum class Kind : std::uint8_t { observe, observe_number, newest, move };
  Access(Kind of, std::uint64_t which, base::Payload moved = {})
      : kind(of), number(which), tuple(std::move(moved)) {}
  virtual ~Access() = default;

  const Kind kind;
  /// Before notify(): the number of the wanted tuple, or the lowest acceptable number. After it:
  /// the number of the tuple that was read or moved.
  std::uint64_t number;
  base::Payload tuple;       ///< the tuple to move, or the tuple that was read
  std::exception_ptr error;  ///< exception of a failed operation, set before notify()

  // Links in the element's list of waiting reads. Only the element uses them.
  Access* previous = nullptr;
  Access* next = nullptr;
  bool is_waiting = false;
};

/// Handle of a read or a move that was started without blocking, by Element::start_observe() or
/// another start_ function. Its destructor cancels the operation.
/// Thread-safe: no, one context at a time. Any thread may use its completion.
class StartedAccess {
 public:
  StartedAccess() = default;
  StartedAccess(Element& element, Access::Kind kind, std::uint64_t number, base::Payload moved);
  ~StartedAccess() { cancel(); }
  StartedAccess(StartedAccess&&) noexcept = default;
  StartedAccess& operator=(StartedAccess&& other) noexcept;

  std::shared_ptr<runtime::Completion> completion() const;
  /// Blocks until the operation has ended. Returns the tuple that was read, or the number of the
  /// moved tuple.
  /// Throws: the operation's exception; DeadlinePassed, after which the operation is cancelled;
  ///   UsageError if the handle is empty, or if take() or cancel() was called before.
  Stored take(runtime::Deadline deadline = runtime::Deadline::never());
  /// Cancels the operation. Returns true if it had not happened; it will then never read or move.
  /// Returns false if it has happened, and take() then returns the result. Returns false if the
  /// handle is empty.
  bool cancel();

 private:
  class State;
  std::shared_ptr<State> started(const char* what) const;
  std::shared_ptr<State> state_;
};

}  // namespace pastset
