// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/units.hpp — units of times in printed reports.
#pragma once

#include <cstdint>

namespace eventspace {

inline double ms(double nanos) { return nanos / 1e6; }
inline double ms(std::int64_t nanos) { return ms(static_cast<double>(nanos)); }
inline double seconds(std::int64_t nanos) { return static_cast<double>(nanos) / 1e9; }

}  // namespace eventspace
