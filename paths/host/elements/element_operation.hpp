// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/element_operation.hpp — operations on the element at the end of a path.
#pragma once
#include "pastset/element.hpp"
#include "paths/operation.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Carries out `operation` on `element`. Operations that do not concern an element have no effect.
/// In the result, `payload` is the tuple and `number` the number of the tuple. For operations of
/// the kinds `first`, `last` and `delta`, `number` is the value that was read. A move returns the
/// moved tuple, because joins above pass a reduced value to all of its contributors.
///
/// Blocks: as the element does.
/// Throws: the errors of the element.
Result operate_on(pastset::Element& element, const Operation& operation,
                  runtime::Deadline deadline);

/// Returns whether operations on the element need contexts (threads or fibers) of their own. They
/// need contexts if the element runs application code, or if a different process may hold the
/// element's lock.
bool needs_context_on(const pastset::Element& element);

/// Returns the kinds of operations that never wait on `element`, in any state of the element.
OperationSet nonblocking_on(const pastset::Element& element);

}  // namespace paths
