// SPDX-License-Identifier: Apache-2.0
// bench/sor/part.hpp — what a thread has done, on its way to another process.
#pragma once
#include "base/payload.hpp"
#include "bench/sor/solver.hpp"
#include "pastset/template.hpp"

namespace bench {

/// The template of the element that parts are moved into.
const pastset::Template& part_template();
base::Payload encode_part(const SorPart& part);
SorPart decode_part(const base::Payload& tuple);

}  // namespace bench
