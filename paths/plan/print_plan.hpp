// SPDX-License-Identifier: Apache-2.0
// paths/plan/print_plan.hpp — printer of a plan as a low-level config.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Returns the plan as a low-level config. From this config read_plan() makes an equal plan, with
/// the same digest.
std::string print_plan(const Plan& plan, const WrapperKinds& kinds);
/// Function that receives the printed text piece by piece, because the whole text may need more
/// memory than the plan.
using TextReader = std::function<void(std::string_view piece)>;
void print_plan(const Plan& plan, const WrapperKinds& kinds, const TextReader& read);

}  // namespace paths
