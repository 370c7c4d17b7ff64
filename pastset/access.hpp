// SPDX-License-Identifier: Apache-2.0
// pastset/access.hpp — reads and moves that wait in an element without blocking a thread or fiber
#pragma once
#include <cstdint>
#include <exception>
#include <memory>

#include "base/payload.hpp"
#include "runtime/handle.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class Element;

/// A tuple that an element returns: the number of the tuple, and a payload that shares the stored
/// bytes.
struct Stored {
  std::uint64_t number = 0;
  base::Payload payload;
};

/// A read or a move that waits in an element without blocking a context (an OS thread or fiber).
/// Element::begin() starts it.
/// Owns: nothing. The caller of Element::begin() owns the object, so a wait allocates no memory.
/// Thread-safe: no. From begin() on, only the element uses the object, until the element calls
///   notify() or until cancel() returns true.
class Access : public runtime::Waiter {
 public:
  enum class Kind : std::uint8_t { observe, observe_number, newest, move };
  Access(Kind of, std::uint64_t which, base::Payload moved = {})
      : kind(of), number(which), tuple(std::move(moved)) {}
  virtual ~Access() = default;

  const Kind kind;
  /// Before notify(): the number of the tuple to read, or, for `newest`, the lowest acceptable
  /// number. After notify(): the number of the tuple that was read or moved.
  std::uint64_t number;
  base::Payload tuple;       ///< the tuple to move, or the tuple that was read
  std::exception_ptr error;  ///< exception of a failed operation, set before notify()

  // Links in the element's list of waiting reads. Only the element uses them.
  Access* previous = nullptr;
  Access* next = nullptr;
  bool is_waiting = false;
};

// The following functions start an operation and return its handle. The wait() of the handle
// returns the tuple that was read, or the number of the moved tuple. wait() throws DeadlinePassed
// if its deadline passes. An operation that has not happened yet is cancelled by the passed
// deadline, or by the destructor of the handle. The operations are those of pastset/element.hpp.

/// Starts the operation `kind`. `number` has the meaning of Access::number. `moved` is the tuple to
/// move; a read needs none.
runtime::Handle<Stored> start_access(Element& element, Access::Kind kind, std::uint64_t number = 0,
                                     base::Payload moved = {});
runtime::Handle<Stored> start_move(Element& element, base::Payload payload);
runtime::Handle<Stored> start_observe(Element& element);
runtime::Handle<Stored> start_observe(Element& element, std::uint64_t number);
runtime::Handle<Stored> start_newest(Element& element, std::uint64_t from = 0);

}  // namespace pastset
