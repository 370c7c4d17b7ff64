// SPDX-License-Identifier: Apache-2.0
// bench/support/provenance.hpp — where figures come from.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

namespace bench {

/// When, on which machine and with which version; how long it took, where that is worth telling.
nlohmann::ordered_json provenance(std::optional<double> wall_seconds = std::nullopt);

}  // namespace bench
