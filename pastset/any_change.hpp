// SPDX-License-Identifier: Apache-2.0
// pastset/any_change.hpp — waits for whatever happens to any of several elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "pastset/element.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Waits until any of several elements changes: a tuple moved in, an error mark, deletion.
///
/// Usage: read `seen = changes.count()` first, then look at the elements, then wait(seen): a
/// change between the look and the wait is never missed. Who only reads a space of other processes
/// is told a little later, perhaps of what he has seen: look again whenever it returns.
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
  /// By an element, which may hold its own mutex.
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
