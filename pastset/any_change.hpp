// SPDX-License-Identifier: Apache-2.0
// pastset/any_change.hpp — a wait for a change in any of several elements
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "pastset/element.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Waits until any of several elements changes: a tuple was moved in, an error mark was set, or the
/// element was deleted.
///
/// Usage: first read `seen = changes.count()`, then read the elements, then call wait(seen). A
///   change between the reads and the wait is never missed. wait() sometimes returns although the
///   elements contain nothing new. An element of a read-only shared space reports a change late,
///   possibly after the caller has already read the changed element.
/// Owns: nothing; the elements must outlive this object.
class AnyChange {
 public:
  /// With a `clock`, the object also records when each element last changed (changed_at()).
  explicit AnyChange(std::vector<Element*> elements, const runtime::Runtime* clock = nullptr);
  ~AnyChange();
  AnyChange(const AnyChange&) = delete;
  AnyChange& operator=(const AnyChange&) = delete;
  std::uint64_t count() const;
  /// Blocks while count() equals `seen`. Returns false if the deadline passed first.
  bool wait(std::uint64_t seen, runtime::Deadline deadline = runtime::Deadline::never());
  /// Returns the time on `clock` of the last change of the element with index `place` in the
  /// constructor's list; 0 if the element never changed, or without a `clock`.
  base::Nanos changed_at(std::size_t place) const;
  /// Reports a change. Only elements call it; the calling element may hold its own mutex.
  void tell(const Element& changed, runtime::DeferredWakes& wakes);

 private:
  const std::vector<Element*> elements_;
  const runtime::Runtime* clock_;
  mutable runtime::Mutex mutex_;
  runtime::WaitList waiting_;
  std::uint64_t count_ = 0;
  std::vector<base::Nanos> changed_at_;
};

}  // namespace pastset
