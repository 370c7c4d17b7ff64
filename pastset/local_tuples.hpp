// SPDX-License-Identifier: Apache-2.0
// pastset/local_tuples.hpp — tuples of an element in the memory of this process
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/payload.hpp"
#include "base/ring.hpp"
#include "pastset/element.hpp"

namespace pastset {

/// The tuples of an element in the memory of this process, and their numbers. Private to elements.
///
/// Thread-safe: no.
/// Requires: the element's mutex is held in every call.
/// Throws: the exceptions of the X-function. Nothing has changed then.
class LocalTuples {
 public:
  /// `options.x_function` is applied to tuples that are read. The caller applies it to tuples that
  /// are moved.
  LocalTuples(const Element& element, const ElementOptions& options)
      : element_(element), options_(options), delta_(options.delta) {}

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return oldest_ + kept_.size(); }
  std::uint64_t delta() const { return delta_; }
  void set_delta(std::uint64_t delta) { delta_ = delta; }
  /// Whether the tuple exists that a read of this kind wants. `number` has the meaning of
  /// Access::number.
  bool has(Access::Kind kind, std::uint64_t number) const;
  /// Reads a tuple. Requires: has(kind, number). Throws Expired if the tuple was freed.
  Stored take(Access::Kind kind, std::uint64_t number);
  Stored read_newest() const { return read(last() - 1); }

  bool has_room() const;
  /// Appends a tuple and returns its number.
  std::uint64_t append(base::Payload stored);
  /// Frees the oldest tuple if there are too many tuples, and returns it.
  base::Payload drop_beyond_newest();
  /// Frees observed tuples up to `number`, and returns them.
  std::vector<base::Payload> free_to(std::uint64_t number);
  /// Frees all tuples, and returns them.
  base::Ring<base::Payload> free_all();

 private:
  Stored read(std::uint64_t number) const;

  const Element& element_;
  const ElementOptions& options_;
  base::Ring<base::Payload> kept_;  // tuples with the numbers oldest_ .. last() - 1
  std::uint64_t oldest_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t delta_;
};

}  // namespace pastset
