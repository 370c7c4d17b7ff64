// SPDX-License-Identifier: Apache-2.0
// paths/plan/path_tuples.hpp — templates of the tuples on a path, followed from stage to stage.
#pragma once
#include <cstdint>

#include "paths/path_values.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Returns the templates of tuples that move into stage `from` of a path and return from there, and
/// of tuples of the element at the end.
PathValues::Templates templates_at(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path,
                                   StageId from);

/// Returns the types that a thread of the path may move and read.
const PathValues& values_of(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path);

}  // namespace paths
