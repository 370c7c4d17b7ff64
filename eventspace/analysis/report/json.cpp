// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/json.cpp — JSON of reports and comparisons.
#include "eventspace/analysis/report/json.hpp"

#include "eventspace/analysis/report/compare.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

nlohmann::ordered_json to_json(const Report& report) { return JsonWriter::json_of(report); }

nlohmann::ordered_json to_json(const Comparison& comparison) {
  return JsonWriter::json_of(comparison);
}

std::string print_json(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace eventspace
