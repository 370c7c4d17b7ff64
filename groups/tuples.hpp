// SPDX-License-Identifier: Apache-2.0
// groups/tuples.hpp — tuples of elements as what a member gives and gets.
#pragma once
#include <cstdint>
#include <optional>

#include "groups/call.hpp"
#include "pastset/element.hpp"

namespace groups {

/// The newest tuple of an element when an operation begins, in place of an array: its bytes are
/// lent, not copied. Of who gives nothing it is not looked at.
struct Newest {
  const pastset::Element* element;
  base::Scalar scalar;
};
/// A tuple that is moved into an element when an operation has ended, in place of an array: by
/// whoever waits for it, or drops its handle, and not where it has failed. Who gets nothing moves
/// nothing.
struct Into {
  pastset::Element* element;
  base::Scalar scalar;
  std::uint64_t count;
};

/// Elements outlive the operation; their tuples are one array of numbers, as "f64[1024]", "f64[]"
/// and "f64" say, of any kind of element.
/// Throws: UsageError for another template. When the operation begins: UsageError where there is no
///         tuple, or it has other values than the operation, or not as many.
Newest newest(const pastset::Element& element);
/// `count`: of values, where the template does not say.
/// Throws: UsageError for another template or count. Who waits: what Element::move() throws, with
///         the config's deadline; the operation has ended well then.
Into into(pastset::Element& element, std::optional<std::uint64_t> count = {});

/// Throws UsageError where values that are given and gotten are not alike.
void check_scalars(collectives::Collective collective, base::Scalar given, base::Scalar taken);
/// Puts the memory of tuples in a call of that rank, which stays where it is from here on. Throws
/// UsageError.
void bind_tuples(Call& call, std::uint32_t rank);
/// When it has ended well.
void move_tuple(Call& call, runtime::Deadline deadline);

}  // namespace groups
