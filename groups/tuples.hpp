// SPDX-License-Identifier: Apache-2.0
// groups/tuples.hpp — tuples of elements as inputs and outputs of collective operations.
#pragma once
#include <cstdint>
#include <optional>

#include "groups/call.hpp"
#include "pastset/element.hpp"

namespace groups {

/// Newest tuple of an element when an operation begins, as input instead of an array. Its bytes are
/// lent, not copied. Members that contribute nothing do not read it.
struct Newest {
  const pastset::Element* element;
  base::Scalar scalar;
};
/// Element that receives the result as a tuple, instead of an array. The tuple is moved after an
/// operation that succeeded, by the call that waits for it or by the destructor of its handle.
/// Members that receive nothing move nothing.
struct Into {
  pastset::Element* element;
  base::Scalar scalar;
  std::uint64_t count;
};

/// Describes an element as input. The element outlives the operation and may be of any kind. Its
/// tuples must be one array of numbers, with a template such as "f64[1024]", "f64[]" or "f64".
/// Throws: UsageError for another template. When the operation begins: UsageError if there is no
///         tuple, or its values have another type or number than the operation's.
Newest newest(const pastset::Element& element);
/// Describes an element as output. `count` is the number of values if the template does not give
/// it.
/// Throws: UsageError for another template or count. The waiting call also throws the exceptions of
///         Element::move(), with the config's deadline; the operation has succeeded then.
Into into(pastset::Element& element, std::optional<std::uint64_t> count = {});

/// Throws: UsageError if input and output have different types of values.
void check_scalars(collectives::Collective collective, base::Scalar given, base::Scalar taken);
/// Puts the memory of tuples into a call of that rank. The call must not move in memory afterwards.
/// Throws: UsageError.
void bind_tuples(Call& call, std::uint32_t rank);
/// Moves the result tuple into its element, after the operation has succeeded.
void move_tuple(Call& call, runtime::Deadline deadline);

}  // namespace groups
