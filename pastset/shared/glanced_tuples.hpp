// SPDX-License-Identifier: Apache-2.0
// pastset/shared/glanced_tuples.hpp — tuples of a shared element, read without a lock
#pragma once
#include <cstdint>
#include <optional>

#include "pastset/element.hpp"
#include "pastset/shared/log/log.hpp"

namespace pastset {

/// Copies tuples of a shared element in a process that may only read. Private to elements.
///
/// Thread-safe: yes.
/// Throws: Deleted if the element was deleted; SharedSpaceError if a tuple was overwritten.
class GlancedTuples {
 public:
  GlancedTuples(const Element& element, const SharedLog& log) : element_(element), log_(log) {}

  void refuse_deleted() const;
  /// Whether the tuple exists that a read of this kind wants. `number` has the meaning of
  /// Access::number. No tuple exists for observe() without a number, which would change `first`.
  bool has(Access::Kind kind, std::uint64_t number) const;
  /// Copies a tuple. Throws Expired if the tuple was dropped before the end of the copy.
  Stored take(Access::Kind kind, std::uint64_t number) const;
  /// Copies the newest tuple. If that tuple is dropped during the copy, there is a newer tuple, and
  /// this function tries to copy the newer tuple. Returns nullopt if there is no tuple with at
  /// least the number `from`, or after 1000 attempts.
  std::optional<Stored> newest_now(std::uint64_t from) const;

 private:
  std::optional<Stored> glance(std::uint64_t number) const;

  const Element& element_;
  const SharedLog& log_;
};

}  // namespace pastset
