// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/exchange.hpp — expansion of exchanges into elements and paths.
#pragma once
#include "paths/config/expand/machines.hpp"
#include "paths/config/expand/routes.hpp"
#include "paths/config/expand/writer.hpp"

namespace paths::expansion {

/// Writes the elements and paths of one exchange, for all threads of the config. Reports a mistake
/// if there are too many threads.
void write_exchange(const MultiCluster& all, const MultiCluster::Exchange& exchange,
                    const Machines& machines, Writer& writer, Routes& routes,
                    base::Mistakes& mistakes);

}  // namespace paths::expansion
