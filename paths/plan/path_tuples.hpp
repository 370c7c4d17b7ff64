// SPDX-License-Identifier: Apache-2.0
// paths/plan/path_tuples.hpp — templates of the tuples on a path, followed from stage to stage.
#pragma once
#include <cstdint>
#include <optional>

#include "paths/path_values.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Returns the templates of the tuples that a path carries at its stage `from`. The member `moved`
/// of the result is the template of tuples that a move carries down into this stage and back up.
/// `read` is the template of the tuples in the element at the end of the path.
PathValues::Templates templates_at(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path,
                                   StageId from);

/// Returns the maximum size in bytes of one tuple on the path; nullopt if the plan declares no
/// templates for its tuples.
std::optional<std::uint64_t> tuple_bytes_max(const Plan& plan, const WrapperKinds& kinds,
                                             std::uint32_t path);

/// Returns the types of the tuples that a thread may move and read on the path.
const PathValues& values_of(const Plan& plan, const WrapperKinds& kinds, std::uint32_t path);

}  // namespace paths
