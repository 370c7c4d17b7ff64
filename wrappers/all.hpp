// SPDX-License-Identifier: Apache-2.0
// wrappers/all.hpp — every kind of wrapper there is, for those who read configs.
#pragma once
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// The one list of kinds; made at the first call, any thread may call.
const paths::WrapperKinds& all_kinds();

}  // namespace wrappers
