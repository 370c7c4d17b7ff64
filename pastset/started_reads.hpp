// SPDX-License-Identifier: Apache-2.0
// pastset/started_reads.hpp — reads that wait in one element without a context
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "pastset/access.hpp"
#include "pastset/element.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Stores the number of the tuple in `access`, and notifies `access`.
void answer(Access& access, std::uint64_t number, runtime::DeferredWakes& wakes);
/// Stores the error in `access`, and notifies `access`.
void fail(Access& access, std::exception_ptr error, runtime::DeferredWakes& wakes);

/// Returns the number of the tuple for which a read waits. `number` has the meaning of
/// Access::number. `last` is the number that the next moved tuple gets.
inline std::uint64_t awaited_number(Access::Kind kind, std::uint64_t number, std::uint64_t last) {
  return kind == Access::Kind::observe_number ? number : std::max(number, last);
}

/// The reads of one element that were started (Element::begin()) and wait for their tuples, in the
/// order in which they began. Private to elements.
///
/// Thread-safe: no.
/// Requires: the element's mutex is held in every call.
class StartedReads {
 public:
  bool empty() const { return first_ == nullptr; }
  void begin(Access& read);
  void leave(Access& read);  ///< ends the wait of `read`, if it waits, without notify()
  void fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  /// Serves a read if its tuple exists; returns false if the read must wait. `tuples` are the
  /// tuples of the element: LocalTuples, SharedTuples or GlancedTuples.
  template <class Tuples>
  bool serve(Access& read, Tuples& tuples, runtime::DeferredWakes& wakes);
  /// Serves every waiting read whose tuple exists. Returns whether it served at least one.
  template <class Tuples>
  bool serve_all(Tuples& tuples, runtime::DeferredWakes& wakes);

 private:
  Access* first_ = nullptr;
  Access* last_ = nullptr;
};

template <class Tuples>
bool StartedReads::serve(Access& read, Tuples& tuples, runtime::DeferredWakes& wakes) {
  Stored there;
  try {
    if (!tuples.has(read.kind, read.number)) return false;
    there = tuples.take(read.kind, read.number);
  } catch (...) {
    leave(read);
    fail(read, std::current_exception(), wakes);
    return true;
  }
  read.tuple = std::move(there.payload);
  leave(read);
  answer(read, there.number, wakes);
  return true;
}

template <class Tuples>
bool StartedReads::serve_all(Tuples& tuples, runtime::DeferredWakes& wakes) {
  bool has_served = false;
  for (Access* read = first_; read != nullptr;) {
    Access* const next = read->next;
    has_served |= serve(*read, tuples, wakes);
    read = next;
  }
  return has_served;
}

}  // namespace pastset
