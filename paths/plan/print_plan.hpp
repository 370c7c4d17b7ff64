// SPDX-License-Identifier: Apache-2.0
// paths/plan/print_plan.hpp — a plan as the low level of the config.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// The low level as text: read_plan() gives the same plan, with the same digest.
std::string print_plan(const Plan& plan, const WrapperKinds& kinds);
/// The same, piece by piece: it may be larger than the plan.
using TextReader = std::function<void(std::string_view piece)>;
void print_plan(const Plan& plan, const WrapperKinds& kinds, const TextReader& read);

}  // namespace paths
