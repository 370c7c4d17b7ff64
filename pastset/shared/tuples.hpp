// SPDX-License-Identifier: Apache-2.0
// pastset/shared/tuples.hpp — tuples of a shared element, as the operations of one process read
// them
#pragma once
#include <cstdint>
#include <memory>

#include "pastset/element.hpp"
#include "pastset/shared/log/log.hpp"

namespace pastset {

/// Reads the tuples of a shared element, and applies the X-function of this process to them.
/// Private to elements.
///
/// Thread-safe: no.
/// Requires: the caller holds the element (SharedLog::Held).
/// Throws: the exceptions of the X-function. Nothing has changed then. SharedSpaceError if a tuple
///   was overwritten.
class SharedTuples {
 public:
  SharedTuples(const Element& element, const XFunction& x_function, SharedLog& log,
               std::shared_ptr<SharedMapping> mapping)
      : element_(element), x_function_(x_function), log_(log), mapping_(std::move(mapping)) {}

  /// Whether the tuple exists that a read of this kind wants. `number` has the meaning of
  /// Access::number.
  bool has(Access::Kind kind, std::uint64_t number) const;
  /// Reads a tuple. Requires: has(kind, number). Throws Expired if the tuple was freed.
  Stored take(Access::Kind kind, std::uint64_t number);
  Stored read_newest() const { return read(log_.numbers().last - 1); }

 private:
  Stored read(std::uint64_t number) const;

  const Element& element_;
  const XFunction& x_function_;
  SharedLog& log_;
  const std::shared_ptr<SharedMapping> mapping_;
};

}  // namespace pastset
