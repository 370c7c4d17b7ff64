// SPDX-License-Identifier: Apache-2.0
// groups/tuples.hpp — tuples of elements as inputs and outputs of collective operations.
#pragma once
#include <cstdint>
#include <optional>

#include "groups/calls/call.hpp"
#include "pastset/element.hpp"

namespace groups {

/// Input of an operation: the newest tuple of an element at the time when the operation begins,
/// instead of an array. The tuple's bytes are used without a copy. Members that contribute nothing
/// do not read the tuple.
struct Newest {
  const pastset::Element* element;
  base::Scalar scalar;
};
/// Output of an operation: the element that receives the result as a tuple, instead of an array.
/// After a successful operation, the waiting call or the destructor of the handle moves the tuple.
/// Members that receive no result move no tuple.
struct Into {
  pastset::Element* element;
  base::Scalar scalar;
  std::uint64_t count;
};

/// Describes an element as input. The element must outlive the operation and may be of any kind.
/// Its template must be one array of numbers, such as "f64[1024]", "f64[]" or "f64".
/// Throws: UsageError for a different template. Later, when the operation begins: UsageError if
///         there is no tuple, or if its values differ in type or number from the values of the
///         operation.
Newest newest(const pastset::Element& element);
/// Describes an element as output. `count` is the number of values; required if the template does
/// not contain it.
/// Throws: UsageError if the template is not one array of numbers, or if `count` does not fit the
///         template. Later, the waiting call also throws the exceptions of Element::move(), with
///         the deadline of the config; the operation has then succeeded.
Into into(pastset::Element& element, std::optional<std::uint64_t> count = {});

/// Throws: UsageError if input and output have different types of values.
void check_scalars(collectives::Collective collective, base::Scalar given, base::Scalar taken);
/// Sets the arrays of a call to the memory of its tuples. `rank` is the member's rank. The call
/// object must not be moved afterwards.
/// Throws: UsageError.
void bind_tuples(Call& call, std::uint32_t rank);
/// Moves the result tuple into its element. Requires: the operation has succeeded.
void move_tuple(Call& call, runtime::Deadline deadline);

}  // namespace groups
