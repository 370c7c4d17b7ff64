// SPDX-License-Identifier: Apache-2.0
// commands/draw_json.cpp — JSON form of a plan for other programs.
#include <nlohmann/json.hpp>

#include "commands/drawing.hpp"

namespace commands {
namespace {

using Json = nlohmann::ordered_json;
using base::Settings;

Json json_of(const Settings& settings) {
  if (settings.is_null()) return nullptr;
  if (settings.is_scalar()) return settings.text();
  if (settings.is_list()) {
    Json list = Json::array();
    for (const Settings& item : settings.items()) list.push_back(json_of(item));
    return list;
  }
  Json map = Json::object();
  for (const auto& [key, value] : settings.entries()) map[key.text()] = json_of(value);
  return map;
}

Json hosts_of(const paths::Plan& plan) {
  Json hosts = Json::array();
  for (const auto& host : plan.hosts)
    hosts.push_back({{"name", host.name},
                     {"cluster", plan.clusters[host.cluster]},
                     {"threads", host.threads},
                     {"speed", host.speed},
                     {"address", host.address}});
  return hosts;
}

Json elements_of(const paths::Plan& plan) {
  Json elements = Json::array();
  for (const auto& element : plan.elements)
    elements.push_back({{"name", element.name},
                        {"host", plan.hosts[element.host].name},
                        {"template", element.tuple_template.text()},
                        {"delta", element.delta},
                        {"keep_newest", element.keep_newest},
                        {"shared", element.shared.has_value()}});
  return elements;
}

Json wrappers_of(const paths::Plan& plan) {
  Json wrappers = Json::array();
  for (const auto& wrapper : plan.wrappers)
    wrappers.push_back({{"name", wrapper.name},
                        {"kind", wrapper.kind},
                        {"host", plan.hosts[wrapper.host].name},
                        {"contributors", wrapper.slots},
                        {"settings", json_of(wrapper.settings)}});
  return wrappers;
}

Json stages_of(const paths::Plan& plan, const paths::WrapperKinds& kinds) {
  Json stages = Json::array();
  for (const auto& stage : plan.stages) {
    const paths::WrapperKind& kind = kinds.at(plan.wrappers[stage.wrapper].kind);
    Json json = {{"wrapper", stage.wrapper}, {"below", nullptr}, {"slot", stage.slot}};
    if (stage.below != paths::no_stage) json["below"] = stage.below;
    if (!kind.roles.empty()) json["role"] = kind.roles.at(stage.role);
    stages.push_back(std::move(json));
  }
  return stages;
}

}  // namespace

std::string draw_json(const paths::Plan& plan, const paths::WrapperKinds& kinds) {
  Json all;
  all["digest"] = plan.digest.text();
  all["threads"] = plan.thread_count();
  all["hosts"] = hosts_of(plan);
  all["elements"] = elements_of(plan);
  all["wrappers"] = wrappers_of(plan);
  all["stages"] = stages_of(plan, kinds);
  all["paths"] = Json::array();
  for (const auto& path : plan.paths)
    all["paths"].push_back({{"graph", path.graph},
                            {"host", plan.hosts[path.host].name},
                            {"first_thread", path.first_thread},
                            {"threads", path.threads},
                            {"stage", path.stage},
                            {"slot", path.slot}});
  return all.dump(2) + "\n";
}

}  // namespace commands
