// SPDX-License-Identifier: Apache-2.0
// paths/host/element_operation.hpp — operations on the element at the end of a path.
#pragma once
#include "pastset/element.hpp"
#include "paths/operation.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Carries out `operation` on `element`. Kinds that do not concern an element do nothing. The
/// result has the number of the tuple, or the value of first, last or delta. Its payload is the
/// tuple. A move returns the moved tuple, because a reduced value travels back up its path.
///
/// Blocks: as the element does.
/// Throws: the errors of the element.
Result operate_on(pastset::Element& element, const Operation& operation,
                  runtime::Deadline deadline);

/// Returns whether operations on the element need contexts of their own. They do if the element
/// runs application code, or if another process may hold its lock.
bool needs_context_on(const pastset::Element& element);

/// Returns the operations that never wait on this element, in any state.
OperationSet nonblocking_on(const pastset::Element& element);

}  // namespace paths
