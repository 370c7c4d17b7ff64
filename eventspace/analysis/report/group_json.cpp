// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/group_json.cpp — operations of groups, for programs.
#include <nlohmann/json.hpp>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {
namespace {

using GroupJson = nlohmann::ordered_json;

GroupJson lasts_json(const std::vector<GroupReport::Last>& lasts) {
  GroupJson json = GroupJson::array();
  for (const auto& last : lasts)
    json.push_back(
        {{"name", last.name}, {"operations", last.operations}, {"late_nanos", last.late_nanos}});
  return json;
}

GroupJson operations_json(const GroupReport& report) {
  GroupJson by_cause = GroupJson::object();
  for (std::size_t cause = 0; cause < group_causes; ++cause)
    by_cause[std::string(group_cause_name(static_cast<GroupCause>(cause)))] =
        report.by_cause[cause];
  GroupJson parts = GroupJson::array();
  for (const auto& part : report.parts)
    parts.push_back({{"cause", group_cause_name(part.cause)},
                     {"what", part.what},
                     {"nanos", part.nanos},
                     {"operations", part.operations}});
  GroupJson json = {{"group", report.group},
                    {"collective", report.collective},
                    {"algorithm", report.algorithm},
                    {"operations", report.operations},
                    {"incomplete", report.incomplete},
                    {"failed", report.failed},
                    {"bytes", to_json(report.bytes)},
                    {"time_nanos", to_json(report.time)},
                    {"after_last_came_nanos", to_json(report.after_last)},
                    {"wait_for_last_nanos", to_json(report.wait)},
                    {"nanos_by_cause", by_cause},
                    {"parts", parts},
                    {"last_threads", lasts_json(report.last_threads)},
                    {"last_hosts", lasts_json(report.last_hosts)}};
  if (report.first)
    json["first_begin_end_nanos"] = {report.first->begin_nanos, report.first->end_nanos};
  return json;
}

GroupJson link_json(const GroupLinkReport& link, bool is_of_clusters) {
  GroupJson json = {{"from", link.from},
                    {"to", link.to},
                    {"wan", link.is_wan},
                    {"messages", link.messages},
                    {"bytes", link.bytes}};
  if (!is_of_clusters) return json;
  json["latency_nanos"] = to_json(link.latency);
  json["nanos_per_mebibyte_of_quickest"] = link.nanos_per_mebibyte;
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const GroupsReport& report) {
  GroupJson operations = GroupJson::array(), members = GroupJson::array();
  GroupJson clusters = GroupJson::array(), hosts = GroupJson::array();
  for (const auto& one : report.operations) operations.push_back(operations_json(one));
  for (const auto& one : report.members)
    members.push_back({{"name", one.name},
                       {"group", one.group},
                       {"host", one.host},
                       {"cluster", one.cluster},
                       {"between_operations_nanos", to_json(one.computation)},
                       {"last", one.last},
                       {"late_nanos", one.late_nanos}});
  for (const auto& one : report.clusters) clusters.push_back(link_json(one, true));
  for (const auto& one : report.hosts) hosts.push_back(link_json(one, false));
  return {{"common_clock", report.has_common_clock},
          {"records", report.records},
          {"operations", operations},
          {"members", members},
          {"between_clusters", clusters},
          {"between_hosts", hosts},
          {"messages_between_other_hosts", report.other_messages}};
}

}  // namespace eventspace
