// SPDX-License-Identifier: Apache-2.0
// wrappers/all.hpp — list of all kinds of wrapper, for config readers.
#pragma once
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Returns the list of all kinds, made at the first call. Thread-safe.
const paths::WrapperKinds& all_kinds();

}  // namespace wrappers
