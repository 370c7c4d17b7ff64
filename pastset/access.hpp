// SPDX-License-Identifier: Apache-2.0
// pastset/access.hpp — a read or a move that waits in an element without a context.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>

#include "base/payload.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class Element;

/// A tuple as an element hands it out: a copy that shares the bytes.
struct Stored {
  std::uint64_t number = 0;
  base::Payload payload;
};

/// What waits in an element, and who is told what came of it: Element::begin(). Its memory is its
/// maker's own, so that waiting takes none.
///
/// Sharing: it is the element's from begin() until told(), or until cancel() has answered true.
class Access : public runtime::Waiter {
 public:
  enum class Kind : std::uint8_t { observe, observe_number, newest, move };
  Access(Kind of, std::uint64_t which, base::Payload moved = {})
      : kind(of), number(which), tuple(std::move(moved)) {}
  virtual ~Access() = default;

  const Kind kind;
  /// Which tuple, or from which on; when it is told, the number of the tuple.
  std::uint64_t number;
  base::Payload tuple;       ///< what is moved, or was read
  std::exception_ptr error;  ///< when it is told: what the operation would have thrown

  // Of the element.
  Access* previous = nullptr;
  Access* next = nullptr;
  bool is_waiting = false;
};

/// A read or a move that was started: Element::start_observe() and its like. Dropping it cancels
/// it.
///
/// Sharing: one context's at a time; its completion is anybody's.
class StartedAccess {
 public:
  StartedAccess() = default;
  StartedAccess(Element& element, Access::Kind kind, std::uint64_t number, base::Payload moved);
  ~StartedAccess() { cancel(); }
  StartedAccess(StartedAccess&&) noexcept = default;
  StartedAccess& operator=(StartedAccess&& other) noexcept;

  /// For wait sets.
  std::shared_ptr<runtime::Completion> completion() const;
  /// Blocks until it has ended; answers the tuple that was read, or the number that the moved one
  /// got. Throws what the operation throws; DeadlinePassed, and then it is cancelled; UsageError
  /// when it was taken or cancelled before.
  Stored take(runtime::Deadline deadline = runtime::Deadline::never());
  /// Gives it up. True when it had not happened: nothing was read or moved, and never is. False
  /// when it has, which take() tells.
  bool cancel();

 private:
  class State;
  std::shared_ptr<State> started(const char* what) const;
  std::shared_ptr<State> state_;
};

}  // namespace pastset
