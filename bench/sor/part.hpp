// SPDX-License-Identifier: Apache-2.0
// bench/sor/part.hpp — encoding of a thread's results for another process
#pragma once
#include "base/payload.hpp"
#include "bench/sor/solver.hpp"
#include "pastset/template.hpp"

namespace bench {

/// Returns the template of the element `report`, into which threads move their parts.
const pastset::Template& part_template();
base::Payload encode_part(const SorPart& part);
SorPart decode_part(const base::Payload& tuple);

}  // namespace bench
