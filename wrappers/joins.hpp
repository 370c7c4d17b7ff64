// SPDX-License-Identifier: Apache-2.0
// wrappers/joins.hpp — kinds of wrapper in which paths meet.
#pragma once
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Combines the values of all contributors and gives each of them the result. The contributor that
/// arrives last leads the round.
/// Paper: Bongo et al. 2004, §III-A.
paths::WrapperKind allreduce_kind();

/// Combines the values of all contributors and gives the result to the contributor at slot 0, which
/// waits for the result. The other contributors get an empty result as soon as their contribution
/// is accepted. They can therefore be any number of rounds ahead of slot 0.
paths::WrapperKind reduce_kind();

/// Gives every contributor the tuple of the root. Tuples of other contributors are ignored. If the
/// root is one of the contributors, the root continues immediately, and the other contributors wait
/// until the root has arrived. If the root is not a contributor, the first contributor to arrive
/// goes down the path to get the value. If the root fails, all contributors get the root's failure.
/// A failure of any other contributor affects only that contributor.
paths::WrapperKind broadcast_kind();

/// Holds each contributor until all contributors have arrived. The leader carries an empty tuple
/// down the path.
paths::WrapperKind barrier_kind();

}  // namespace wrappers
