// SPDX-License-Identifier: Apache-2.0
// bench/support/decisions.cpp — counts of the origins of results
#include "bench/support/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace bench {

using paths::Condition;
using paths::Origin;

std::int64_t number_of(std::uint64_t sequence, std::uint64_t first) {
  return static_cast<std::int64_t>(sequence) - static_cast<std::int64_t>(first) + 1;
}

void Decisions::add(std::uint64_t round, std::uint64_t first, const paths::Result& result) {
  if (result.condition == Condition::holds && result.sequence >= first && !stop) {
    stop = result.sequence - first + 1;
    stop_known = round;
  }
  if (result.condition == Condition::unchecked) {
    ++unchecked;
    return;
  }
  switch (result.origin.kind) {
    case Origin::Kind::joined: ++joined; return;
    case Origin::Kind::local: ++local; return;
    case Origin::Kind::cached: ++cached; return;
    case Origin::Kind::waited: break;
  }
  ++waited;
  Waits& wait = waits[result.origin.cluster];
  const base::Nanos lasted(result.origin.nanos);
  ++wait.count;
  wait.total += lasted;
  wait.longest = std::max(wait.longest, lasted);
}

nlohmann::json to_json(const Decisions& decisions) {
  nlohmann::json waits = nlohmann::json::array();
  for (const auto& [cluster, wait] : decisions.waits)
    waits.push_back({cluster, wait.count, wait.total.count(), wait.longest.count()});
  return {{"unchecked", decisions.unchecked},   {"joined", decisions.joined},
          {"local", decisions.local},           {"cached", decisions.cached},
          {"waited", decisions.waited},         {"waits", waits},
          {"stop", decisions.stop.value_or(0)}, {"stop_known", decisions.stop_known.value_or(0)}};
}

Decisions decisions_from_json(const nlohmann::json& json) {
  Decisions decisions;
  decisions.unchecked = json.at("unchecked");
  decisions.joined = json.at("joined");
  decisions.local = json.at("local");
  decisions.cached = json.at("cached");
  decisions.waited = json.at("waited");
  for (const auto& one : json.at("waits"))
    decisions.waits[one.at(0)] = {one.at(1), base::Nanos(one.at(2).get<std::int64_t>()),
                                  base::Nanos(one.at(3).get<std::int64_t>())};
  if (json.at("stop") != 0) decisions.stop = json.at("stop");
  if (json.at("stop_known") != 0) decisions.stop_known = json.at("stop_known");
  return decisions;
}

std::vector<std::string> computing_clusters(const paths::Plan& plan) {
  std::vector<std::string> names;
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster) {
    const bool computes = std::any_of(plan.hosts.begin(), plan.hosts.end(), [&](const auto& host) {
      return host.cluster == cluster && host.threads > 0;
    });
    if (computes) names.push_back(plan.clusters[cluster]);
  }
  return names;
}

std::string to_csv(const std::string& cluster, const std::vector<Decided>& rounds,
                   const std::vector<std::string>& clusters) {
  std::string text;
  for (const Decided& one : rounds) {
    const bool has_source =
        one.origin.kind == Origin::Kind::cached || one.origin.kind == Origin::Kind::waited;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", cluster, one.round, one.about,
                   one.is_unchecked ? "unchecked" : paths::origin_name(one.origin.kind),
                   has_source && !one.is_unchecked ? clusters.at(one.origin.cluster) : "",
                   has_source && !one.is_unchecked ? one.origin.nanos : 0);
  }
  return text;
}

}  // namespace bench
