// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/json.cpp — a report for programs.
#include <nlohmann/json.hpp>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Summary& summary) { return to_json(summary); }

Json json_of(const Place& place) {
  Json json = Json::object();
  if (!place.wrapper.empty()) json["wrapper"] = place.wrapper;
  if (!place.kind.empty()) json["kind"] = place.kind;
  json["host"] = place.host;
  json["cluster"] = place.cluster;
  if (!place.position.empty()) json["position"] = place.position;
  if (place.stage != no_stage) json["stage"] = place.stage;
  return json;
}

Json json_of(const CoverageReport& coverage) {
  return {{"records", coverage.records},
          {"operations", coverage.operations},
          {"of_no_known_place", coverage.unknown},
          {"passed_by_joins", coverage.passed_by},
          {"of_rounds_given_up", coverage.late},
          {"repeated", coverage.repeated},
          {"contradictory_rounds", coverage.contradictory},
          {"operations_without_computation", coverage.without_computation},
          {"computations_judged_early", coverage.judged_early}};
}

Json json_of(const Finding& finding) {
  Json json = {{"kind", finding_name(finding.kind)}, {"place", json_of(finding.place)},
               {"figure", finding.figure},           {"unit", finding.unit},
               {"cost_nanos", finding.cost_nanos},   {"basis", finding.basis},
               {"sentence", finding.sentence}};
  if (!finding.thread.empty()) json["thread"] = finding.thread;
  if (!finding.rests_on_damage.empty()) json["rests_on_damage"] = finding.rests_on_damage;
  return json;
}

Json json_of(const CriticalReport& critical) {
  Json by_cause = Json::object();
  for (std::size_t cause = 0; cause < critical.by_cause.size(); ++cause)
    by_cause[std::string(cause_name(static_cast<Cause>(cause)))] = critical.by_cause[cause];
  Json parts = Json::array();
  for (const auto& part : critical.parts) {
    parts.push_back({{"cause", cause_name(part.cause)},
                     {"what", part.what},
                     {"host", part.host},
                     {"position", part.position},
                     {"nanos", part.nanos},
                     {"rounds", part.rounds}});
  }
  return {{"graph", critical.graph},
          {"cluster", critical.cluster},
          {"rounds", critical.rounds},
          {"iterations", critical.iterations},
          {"incomplete_rounds", critical.incomplete_rounds},
          {"failed_rounds", critical.failed_rounds},
          {"iteration_nanos", json_of(critical.iteration)},
          {"computation_nanos", json_of(critical.computation)},
          {"communication_nanos", json_of(critical.communication)},
          {"nanos_by_cause", by_cause},
          {"parts", parts}};
}

Json json_of(const LatenessReport& lateness) {
  Json over = Json::array();
  for (std::size_t bound = 0; bound < lateness.over.size(); ++bound)
    over.push_back(
        {{"late_nanos", lateness_bounds_nanos[bound]}, {"iterations", lateness.over[bound]}});
  return {{"graph", lateness.graph},
          {"iterations", lateness.iterations},
          {"with_a_thread_late", over},
          {"noise_nanos", lateness.noise_nanos},
          {"effective_noise_nanos", lateness.effective_noise_nanos},
          {"absorbed_noise_nanos", lateness.absorbed_noise_nanos},
          {"waited_for_noise_nanos", lateness.waited_for_noise_nanos},
          {"noise_amplification", lateness.noise_amplification},
          {"critical_wan_two_way_nanos", lateness.critical_wan_two_way_nanos},
          {"check_wan_one_way_nanos", lateness.check_wan_one_way_nanos},
          {"hideable_wan_two_way_nanos", lateness.hideable_wan_nanos},
          {"hideable_check_wan_one_way_nanos", lateness.hideable_check_wan_nanos}};
}

Json json_of(const ClusterReport& cluster) {
  return {{"name", cluster.name},
          {"hosts", cluster.hosts},
          {"threads", cluster.threads},
          {"records", cluster.records},
          {"critical_rounds", cluster.critical_rounds},
          {"computation_nanos", cluster.computation_nanos},
          {"noise_nanos", cluster.noise_nanos},
          {"critical_noise_nanos", cluster.critical_noise_nanos},
          {"arrival_wait_nanos", cluster.arrival_wait_nanos},
          {"cache_wait_nanos", cluster.cache_wait_nanos},
          {"lan_messages", cluster.lan_messages},
          {"lan_payload_bytes", cluster.lan_payload_bytes},
          {"wan_messages", cluster.wan_messages},
          {"wan_payload_bytes", cluster.wan_payload_bytes}};
}

Json json_of(const HostReport& host) {
  return {{"name", host.name},
          {"cluster", host.cluster},
          {"threads", host.threads},
          {"computation_nanos", host.computation_nanos},
          {"others_computation_nanos", host.others_nanos},
          {"without_noise_nanos", host.base_nanos},
          {"others_without_noise_nanos", host.others_base_nanos},
          {"factor_without_noise", host.factor},
          {"critical_rounds", host.critical_rounds},
          {"critical_iterations", host.critical_iterations},
          {"records", host.records},
          {"rounds_missing_its_records", host.missing_rounds}};
}

Json json_of(const ThreadReport& thread) {
  Json json = {{"name", thread.name},
               {"rank", thread.rank},
               {"graph", thread.graph},
               {"host", thread.host},
               {"cluster", thread.cluster},
               {"computation_nanos", json_of(thread.computation)},
               {"base_nanos", thread.base_nanos},
               {"outlier_nanos", thread.outlier_nanos},
               {"outliers", thread.outliers},
               {"noise_nanos", thread.noise_nanos},
               {"noise_median_nanos", thread.noise_median_nanos},
               {"noise_share", thread.noise_share},
               {"critical_rounds", thread.critical_rounds},
               {"critical_iterations", thread.critical_iterations},
               {"critical_computation_nanos", thread.critical_computation_nanos},
               {"critical_noise_nanos", thread.critical_noise_nanos}};
  Json bins = Json::array();
  for (const Bin& bin : thread.computation_bins) bins.push_back({bin.from, bin.to, bin.count});
  json["computation_bins_from_to_count"] = bins;
  if (!thread.spectrum.empty()) {
    Json spectrum = Json::array();
    for (const SpectrumPoint& point : thread.spectrum)
      spectrum.push_back({point.frequency_hertz, point.power});
    json["noise_spectrum_hertz_power"] = spectrum;
  }
  if (thread.period_nanos) {
    json["noise_period_nanos"] = *thread.period_nanos;
    json["noise_period_agreement"] = thread.period_agreement;
    json["iterations_per_noise_period"] = thread.iterations_per_period;
    json["noise_resonates"] = thread.resonates;
  }
  return json;
}

Json json_of(const JoinReport& join) {
  Json contributors = Json::array();
  for (const auto& from : join.contributors) {
    contributors.push_back({{"name", from.name},
                            {"host", from.host},
                            {"slot", from.slot},
                            {"remote", from.is_remote},
                            {"last", from.last},
                            {"left_first", from.left_first},
                            {"left_last", from.left_last},
                            {"arrival_wait_nanos", json_of(from.arrival_wait)},
                            {"departure_delay_nanos", json_of(from.departure_delay)}});
  }
  return {{"place", json_of(join.place)},
          {"graph", join.graph},
          {"rounds", join.rounds},
          {"through_nanos", json_of(join.through)},
          {"below_nanos", json_of(join.below)},
          {"departure_spread_nanos", json_of(join.departure_spread)},
          {"rounds_with_late_replies", join.late_replies},
          {"late_reply_nanos", join.late_reply_nanos},
          {"critical_rounds_with_late_replies", join.critical_late_replies},
          {"critical_late_reply_nanos", join.critical_late_reply_nanos},
          {"contributors", contributors}};
}

Json json_of(const CrossingReport& crossing) {
  return {{"place", json_of(crossing.place)},
          {"graph", crossing.graph},
          {"to_host", crossing.to_host},
          {"to_cluster", crossing.to_cluster},
          {"wan", crossing.is_wan},
          {"two_way_nanos", json_of(crossing.two_way)},
          {"one_way_nanos_half_of_two_way", crossing.one_way_half_mean},
          {"down_one_way_nanos", json_of(crossing.down_one_way)},
          {"up_one_way_nanos", json_of(crossing.up_one_way)},
          {"messages", crossing.messages},
          {"payload_bytes", crossing.payload_bytes},
          {"critical_rounds", crossing.critical_rounds}};
}

Json json_of(const LinkReport& link) {
  Json json = {{"place", json_of(link.place)},
               {"from_host", link.from_host},
               {"to_host", link.to_host},
               {"from_cluster", link.from_cluster},
               {"to_cluster", link.to_cluster},
               {"wan", link.is_wan},
               {"source", link.source},
               {"travel_nanos", json_of(link.travel)},
               {"queued_nanos", json_of(link.queued)},
               {"payload_bytes", link.payload_bytes},
               {"critical_rounds", link.critical_rounds}};
  if (link.declared_nanos >= 0) json["declared_nanos"] = link.declared_nanos;
  return json;
}

Json json_of(const StageReport& stage) {
  return {{"place", json_of(stage.place)},
          {"graph", stage.graph},
          {"down_nanos", json_of(stage.down)},
          {"up_nanos", json_of(stage.up)},
          {"within_nanos", json_of(stage.within)},
          {"holds_results_back", stage.is_hold},
          {"critical_rounds", stage.critical_rounds},
          {"critical_nanos", stage.critical_nanos}};
}

Json json_of(const PathReport& path) {
  return {{"graph", path.graph},
          {"host", path.host},
          {"cluster", path.cluster},
          {"first_thread", path.first_thread},
          {"threads", path.threads},
          {"to_cluster", path.to_cluster},
          {"total_nanos", json_of(path.total)},
          {"network_two_way_nanos", json_of(path.network_two_way)},
          {"wan_two_way_nanos", json_of(path.wan_two_way)},
          {"wan_share", path.wan_share}};
}

Json json_of(const ConditionalReport::Remote& remote) {
  Json json = {{"cluster", remote.cluster},
               {"reads", remote.reads},
               {"wanted_but_decided_without", remote.unused},
               {"cached", remote.cached},
               {"cached_share", remote.cached_share},
               {"first", remote.by_place.empty() ? 0 : remote.by_place[0]},
               {"rounds_by_place_of_coming", remote.by_place},
               {"wait_nanos", json_of(remote.wait)},
               {"rounds_ahead", json_of(remote.ahead)},
               {"prefetch_nanos", json_of(remote.prefetch)}};
  if (remote.one_way_half_nanos >= 0) {
    json["in_flight"] = remote.in_flight;
    json["late"] = remote.late;
    json["one_way_nanos_half_of_two_way"] = remote.one_way_half_nanos;
  }
  return json;
}

Json json_of(const ConditionalReport& conditional) {
  Json remotes = Json::array();
  for (const auto& remote : conditional.remotes) remotes.push_back(json_of(remote));
  Json times = Json::array();
  for (const auto& point : conditional.decision_times)
    times.push_back({point.sequence, point.mean_nanos, point.max_nanos});
  Json needed = Json::array();
  for (const auto& point : conditional.decision_times)
    needed.push_back({point.sequence, point.needing, point.needed_max});
  Json together = Json::array();
  for (const auto& one : conditional.together)
    together.push_back({{"clusters", one.clusters},
                        {"operations", one.operations},
                        {"all_cached", one.all_cached}});
  return {{"place", json_of(conditional.place)},
          {"graph", conditional.graph},
          {"operations", conditional.operations},
          {"proved", conditional.proved},
          {"cached_share", conditional.cached_share},
          {"operations_by_remote_values_needed", conditional.by_values_needed},
          {"time_to_decide_nanos", json_of(conditional.time_to_decide)},
          {"decision_times_sequence_mean_max", times},
          {"values_needed_sequence_operations_max", needed},
          {"values_needed_together", together},
          {"operations_of_other_sets", conditional.other_together},
          {"remote_clusters", remotes}};
}

template <typename Rows>
Json rows_of(const Rows& rows) {
  Json json = Json::array();
  for (const auto& row : rows) json.push_back(json_of(row));
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const Summary& summary) {
  if (summary.count == 0) return {{"count", 0}};
  return {{"count", summary.count}, {"mean", summary.mean}, {"deviation", summary.deviation},
          {"min", summary.min},     {"p10", summary.p10},   {"p50", summary.p50},
          {"p90", summary.p90},     {"p99", summary.p99},   {"max", summary.max}};
}

std::string print_json(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

nlohmann::ordered_json to_json(const Report& report) {
  Json json = {
      {"clocks",
       "differences of one host's own clock; two_way: of each side's own; one_way: half of it"},
      {"coverage", json_of(report.coverage)},
      {"findings", rows_of(report.findings)},
      {"critical_paths", rows_of(report.critical)},
      {"lateness", rows_of(report.lateness)},
      {"clusters", rows_of(report.clusters)},
      {"hosts", rows_of(report.hosts)},
      {"threads", rows_of(report.threads)},
      {"joins", rows_of(report.joins)},
      {"crossings", rows_of(report.crossings)},
      {"links", rows_of(report.links)},
      {"stages", rows_of(report.stages)},
      {"paths", rows_of(report.paths)},
      {"conditionals", rows_of(report.conditionals)}};
  if (report.groups.records > 0) json["groups"] = to_json(report.groups);
  if (report.transfers.has_several_clusters) json["transfers"] = to_json(report.transfers);
  return json;
}

}  // namespace eventspace
