// SPDX-License-Identifier: Apache-2.0
// wrappers/joins.hpp — kinds of wrapper in which paths meet.
#pragma once
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Combines the values of all contributors and gives each of them the result. The last arriver
/// leads the round.
/// Paper: Bongo et al. 2004, §III-A.
paths::WrapperKind allreduce_kind();

/// Combines the values of all contributors and gives slot 0 the result, which waits for them. The
/// others return an empty result as soon as their contribution is accepted, and may run ahead
/// without limit.
paths::WrapperKind reduce_kind();

/// Gives every contributor the tuple that one of them, the root, moved; the tuples of the others
/// are ignored. If the root is a contributor, it goes on at once and the others wait until it
/// arrives. Otherwise the first arriver goes down to get the value. If the root fails, all get its
/// failure; the failure of another contributor concerns only itself.
paths::WrapperKind broadcast_kind();

/// Returns when all contributors have arrived. An empty tuple goes down.
paths::WrapperKind barrier_kind();

}  // namespace wrappers
