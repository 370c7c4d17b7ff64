// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/transfer_json.cpp — what crossed between clusters, for programs.
#include <array>
#include <nlohmann/json.hpp>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {
namespace {

using TransferJson = nlohmann::ordered_json;

TransferJson transfer_json(const TransferReport& one) {
  TransferJson points = TransferJson::array();
  for (const auto& point : one.points)
    points.push_back({point.begin_nanos, point.mean, point.most});
  TransferJson json = TransferJson::object();
  if (!one.from.empty()) {
    json["from"] = one.from;
    json["to"] = one.to;
    json["counted"] = name_of(one.basis);
    if (one.streams > 0) json["streams"] = one.streams;
  }
  json.update({{"messages", one.messages},
               {"bytes", one.bytes},
               {"first_begin_nanos", one.first_nanos},
               {"last_end_nanos", one.last_nanos},
               {"durations_nanos", one.used_nanos},
               {"peak", one.most},
               {"mean", one.mean},
               {"mean_from_first_to_last", one.mean_within},
               {"mean_until_arrived", one.mean_until_arrived},
               {"share_with_none", one.none_share},
               {"share_with_some", one.some_share}});
  if (one.all_share) json["share_with_all"] = *one.all_share;
  json["at_once_nanos_mean_max"] = points;
  return json;
}

}  // namespace

std::string_view name_of(TransferBasis basis) {
  constexpr std::array<std::string_view, transfer_bases> names = {"streams", "messages", "ends"};
  return names.at(static_cast<std::size_t>(basis));
}

nlohmann::ordered_json to_json(const TransfersReport& report) {
  if (!report.has_common_clock) return {{"common_clock", false}};
  TransferJson paths = TransferJson::array();
  for (const TransferReport& one : report.paths) paths.push_back(transfer_json(one));
  return {{"common_clock", true},
          {"run_nanos", report.run_nanos},
          {"late", report.late},
          {"all", transfer_json(report.all)},
          {"paths", paths}};
}

}  // namespace eventspace
