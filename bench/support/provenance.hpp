// SPDX-License-Identifier: Apache-2.0
// bench/support/provenance.hpp — time, machine, version and cost of a measurement
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace bench {

/// Returns date, machine and version. If `wall_seconds` is given, also returns it, as the duration
/// of the run in real time.
nlohmann::ordered_json provenance(std::optional<double> wall_seconds = std::nullopt);

/// Returns the peak memory of this process.
std::uint64_t peak_memory_bytes();

}  // namespace bench
