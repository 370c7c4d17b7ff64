// SPDX-License-Identifier: Apache-2.0
// paths/host/element_operation.hpp — operations carried out on the element at the end of a path.
#pragma once
#include "pastset/element.hpp"
#include "paths/operation.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Does to `element` what `operation` says; any of its kinds; those that do not concern it do
/// nothing. Blocks as the element does. The result's number is the tuple's or the answer, its
/// payload the tuple: of a move the moved one, because a reduced value goes back up the way it
/// came. Throws what the element throws.
Result operate_on(pastset::Element& element, const Operation& operation,
                  runtime::Deadline deadline);

/// Whether operations on it need contexts of their own: it runs code of the application, or another
/// process may hold it.
bool needs_context_on(const pastset::Element& element);

/// What never waits on this element, whatever becomes of it.
OperationSet nonblocking_on(const pastset::Element& element);

}  // namespace paths
