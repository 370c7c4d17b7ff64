// SPDX-License-Identifier: Apache-2.0
// bench/support/provenance.hpp — where figures come from, and what it cost to get them.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace bench {

/// When, on which machine and with which version; how long it took, where that is worth telling.
nlohmann::ordered_json provenance(std::optional<double> wall_seconds = std::nullopt);

/// The most memory that this process has had.
std::uint64_t peak_memory_bytes();

}  // namespace bench
