// SPDX-License-Identifier: Apache-2.0
// bench/support/figures.cpp — sums, means and percentiles of a run
#include "bench/support/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/support/output_files.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

/// Sums over some of the threads and hosts.
struct Sums {
  std::uint64_t threads = 0;
  Nanos compute{0};
  Nanos allreduce{0};
  Nanos longest{0};
  Spread slowest;  // p50 and p99 of the slowest thread; max over all threads
  std::uint64_t proved = 0;
  paths::Traffic wan;
  std::vector<std::uint32_t> wan_unknown;
  // Decisions of any of the threads, because all threads of a cluster receive the same decisions.
  const Decisions* decisions = nullptr;

  void add(const ThreadFigures& thread) {
    if (decisions == nullptr) decisions = &thread.decisions;
    ++threads;
    compute += thread.compute;
    allreduce += thread.allreduce;
    longest = std::max(longest, thread.elapsed);
    if (thread.spread.p50 > slowest.p50) {
      slowest.p50 = thread.spread.p50;
      slowest.p99 = thread.spread.p99;
    }
    slowest.max = std::max(slowest.max, thread.spread.max);
    proved += thread.proved;
  }
};

double milliseconds(Nanos time, std::uint64_t over) {
  return over == 0 ? 0 : static_cast<double>(time.count()) / 1e6 / static_cast<double>(over);
}

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

Nanos percentile(const std::vector<Nanos>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Json wan_of(const Sums& sums, const Figures& figures) {
  Json wan = {{"messages_per_iteration", share(sums.wan.messages, figures.rounds)},
              {"bytes_per_iteration", share(sums.wan.bytes, figures.rounds)}};
  mark_unknown(wan, figures.plan, sums.wan_unknown);
  return wan;
}

std::uint32_t host_of(const paths::Plan& plan, std::uint32_t rank) {
  const auto after = std::upper_bound(
      plan.hosts.begin(), plan.hosts.end(), rank,
      [](std::uint32_t number, const auto& host) { return number < host.first_thread; });
  // The last host before `after` has the thread `rank`. If several hosts have the same
  // first_thread, only the last of these hosts has threads.
  return static_cast<std::uint32_t>(after - plan.hosts.begin()) - 1;
}

std::vector<Sums> by_cluster(const Figures& figures) {
  std::vector<Sums> clusters(figures.plan.clusters.size());
  for (const ThreadFigures& thread : figures.threads)
    clusters[figures.plan.hosts[host_of(figures.plan, thread.rank)].cluster].add(thread);
  for (const auto& [host, traffic] : figures.wan)
    clusters[figures.plan.hosts[host].cluster].wan += traffic;
  for (const std::uint32_t host : figures.wan_unknown)
    clusters[figures.plan.hosts[host].cluster].wan_unknown.push_back(host);
  return clusters;
}

Json decided_to_json(const Decisions& decisions, const std::vector<std::string>& clusters) {
  Json waits = Json::object();
  for (const auto& [cluster, wait] : decisions.waits)
    waits[clusters.at(cluster)] = {{"count", wait.count},
                                   {"mean_ms", milliseconds(wait.total, wait.count)},
                                   {"max_ms", milliseconds(wait.longest, 1)}};
  return {{"unchecked", decisions.unchecked}, {"joined", decisions.joined},
          {"local", decisions.local},         {"cached", decisions.cached},
          {"waited", decisions.waited},       {"remote", decisions.remote()},
          {"waits", std::move(waits)}};
}

/// Returns the CPU time per round of each host. The object is empty unless each host is a process.
Json cpu_to_json(const Figures& figures) {
  Json hosts = Json::object();
  for (const auto& [host, seconds] : figures.cpu_seconds)
    hosts[figures.plan.hosts[host].name] = seconds * 1e3 / static_cast<double>(figures.rounds);
  return hosts;
}

Json clusters_to_json(const Figures& figures, const std::vector<Sums>& clusters) {
  const std::vector<std::string> computing = computing_clusters(figures.plan);
  Json all = Json::array();
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const Sums& sums = clusters[i];
    if (sums.threads == 0) continue;
    const std::uint64_t each = sums.threads * figures.iterations;
    all.push_back({{"name", figures.plan.clusters[i]},
                   {"threads", sums.threads},
                   {"ms_per_iteration", milliseconds(sums.longest, figures.iterations)},
                   {"max_ms", milliseconds(sums.slowest.max, 1)},
                   {"compute_ms", milliseconds(sums.compute, each)},
                   {"allreduce_ms", milliseconds(sums.allreduce, each)},
                   {"proved_share", share(sums.proved, each)},
                   {"decided", decided_to_json(*sums.decisions, computing)},
                   {"wan", wan_of(sums, figures)}});
  }
  return all;
}

std::uint64_t count_hosts(const paths::Plan& plan) {
  return static_cast<std::uint64_t>(std::count_if(
      plan.hosts.begin(), plan.hosts.end(), [](const auto& host) { return host.threads > 0; }));
}

}  // namespace

std::vector<std::uint32_t> hosts_with_unknown_wan(
    const paths::Plan& plan, std::string_view graph,
    const std::map<std::uint32_t, paths::Traffic>& known) {
  std::set<std::uint32_t> senders;
  const auto host_at = [&](paths::StageId stage) {
    return plan.wrappers[plan.stages[stage].wrapper].host;
  };
  for (const auto& path : plan.paths) {
    if (path.graph != graph) continue;
    for (paths::StageId stage = path.stage; plan.stages[stage].below != paths::no_stage;
         stage = plan.stages[stage].below) {
      const std::uint32_t near = host_at(stage);
      const std::uint32_t far = host_at(plan.stages[stage].below);
      if (plan.hosts[near].cluster != plan.hosts[far].cluster) senders.insert({near, far});
    }
  }
  std::vector<std::uint32_t> unknown;
  for (const std::uint32_t host : senders)
    if (!known.contains(host)) unknown.push_back(host);
  return unknown;
}

void mark_unknown(Json& traffic, const paths::Plan& plan,
                  const std::vector<std::uint32_t>& unknown) {
  if (unknown.empty()) return;
  for (Json& value : traffic) value = nullptr;
  for (const std::uint32_t host : unknown)
    traffic["unknown_hosts"].push_back(plan.hosts[host].name);
}

void end_if_asked(const Interruption& interruption, const std::string& program,
                  const std::vector<Nanos>& durations, std::uint64_t all,
                  const std::string& json_file) {
  if (!interruption.is_asked()) return;
  Nanos sum{0};
  for (const Nanos one : durations) sum += one;
  const Spread spread = spread_of(durations);
  const Json times = {{"mean", milliseconds(sum, durations.size())},
                      {"p50", milliseconds(spread.p50, 1)},
                      {"p99", milliseconds(spread.p99, 1)},
                      {"max", milliseconds(spread.max, 1)}};
  write_json(is_standard_output(json_file) ? "" : json_file,
             {{"interrupted", true},
              {"iterations", durations.size()},
              {"ms_per_iteration_of_thread_0", times}});
  interruption.end(fmt::format(
      "{}: interrupted after {}{} iterations; of thread 0 so far:\n{:<18} {:>10.4f} mean  {:.4f} "
      "p50  {:.4f} p99  {:.4f} max\n",
      program, durations.size(), all > 0 ? fmt::format(" of {}", all) : "", "ms per iteration",
      times["mean"].get<double>(), times["p50"].get<double>(), times["p99"].get<double>(),
      times["max"].get<double>()));
}

std::string figure_text(const Json& value, int digits) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>(), digits);
}

Spread spread_of(std::vector<Nanos> durations) {
  if (durations.empty()) return {};
  std::sort(durations.begin(), durations.end());
  return {percentile(durations, 0.50), percentile(durations, 0.99), durations.back()};
}

Json to_json(const Figures& figures) {
  const std::vector<Sums> clusters = by_cluster(figures);
  Sums all;
  for (const ThreadFigures& thread : figures.threads) all.add(thread);
  for (const Sums& cluster : clusters) all.wan += cluster.wan;
  all.wan_unknown = figures.wan_unknown;
  const std::uint64_t each = all.threads * figures.iterations;
  const bool is_virtual = figures.clock == runtime::ClockKind::virtual_time;
  const Decisions decisions = all.decisions == nullptr ? Decisions() : *all.decisions;
  return {{"algorithm", figures.collective.algorithm},
          {"iterations", figures.iterations},
          {"clock", is_virtual ? "virtual" : "steady"},
          {"threads", figures.plan.thread_count()},
          {"hosts", count_hosts(figures.plan)},
          {"ms_per_iteration",
           {{"mean", milliseconds(all.longest, figures.iterations)},
            {"p50", milliseconds(all.slowest.p50, 1)},
            {"p99", milliseconds(all.slowest.p99, 1)},
            {"max", milliseconds(all.slowest.max, 1)}}},
          {"compute_ms", milliseconds(all.compute, each)},
          {"allreduce_ms", milliseconds(all.allreduce, each)},
          {"wan", wan_of(all, figures)},
          {"clusters", clusters_to_json(figures, clusters)},
          {"stop_iteration",
           {{"about", decisions.stop.value_or(0)}, {"known", decisions.stop_known.value_or(0)}}},
          {"cpu_ms", cpu_to_json(figures)},
          {"conditions", figures.threads.empty() ? "" : figures.threads.front().conditions.text()},
          {"seed", figures.seed},
          {"config_digest", figures.plan.digest.text()}};
}

std::string to_table(const Json& json) {
  const auto number = [](const Json& value) { return value.get<double>(); };
  const Json& times = json["ms_per_iteration"];
  std::string text =
      fmt::format("{}: {} threads on {} host{}, {} iterations, {} clock\n\n",
                  json["algorithm"].get<std::string>(), json["threads"].get<std::uint64_t>(),
                  json["hosts"].get<std::uint64_t>(), json["hosts"] == 1 ? "" : "s",
                  json["iterations"].get<std::uint64_t>(), json["clock"].get<std::string>());
  text += fmt::format("{:<18} {:>10.4f} mean  {:.4f} p50  {:.4f} p99  {:.4f} max\n",
                      "ms per iteration", number(times["mean"]), number(times["p50"]),
                      number(times["p99"]), number(times["max"]));
  text += fmt::format("{:<18} {:>10.4f} computing  {:.4f} in the allreduce\n", "ms of a thread",
                      number(json["compute_ms"]), number(json["allreduce_ms"]));
  text += fmt::format("{:<18} {:>10} messages  {} bytes\n\n", "WAN per iteration",
                      figure_text(json["wan"]["messages_per_iteration"], 2),
                      figure_text(json["wan"]["bytes_per_iteration"], 1));
  std::size_t width = std::string_view("cluster").size();
  for (const Json& one : json["clusters"])
    width = std::max(width, one["name"].get_ref<const std::string&>().size());
  text += fmt::format("{:<{}} {:>7} {:>12} {:>11} {:>12} {:>7} {:>12} {:>10}\n", "cluster", width,
                      "threads", "ms/iteration", "compute ms", "allreduce ms", "proved",
                      "WAN messages", "WAN bytes");
  for (const Json& one : json["clusters"])
    text += fmt::format(
        "{:<{}} {:>7} {:>12.4f} {:>11.4f} {:>12.4f} {:>6.1f}% {:>12} {:>10}\n",
        one["name"].get_ref<const std::string&>(), width, one["threads"].get<std::uint64_t>(),
        number(one["ms_per_iteration"]), number(one["compute_ms"]), number(one["allreduce_ms"]),
        100 * number(one["proved_share"]), figure_text(one["wan"]["messages_per_iteration"], 2),
        figure_text(one["wan"]["bytes_per_iteration"], 1));
  return text + fmt::format("\nconditions {}\n", json["conditions"].get<std::string>());
}

std::string disagreement(const Figures& figures) {
  std::map<std::string, std::vector<std::uint32_t>> ranks;
  for (const ThreadFigures& thread : figures.threads)
    ranks[thread.conditions.text()].push_back(thread.rank);
  if (ranks.size() <= 1) return {};
  std::string text = "the threads did not learn the same conditions:";
  for (const auto& [digest, who] : ranks)
    text += fmt::format("\n  {}: {} threads, the first of them on host {}", digest, who.size(),
                        figures.plan.hosts[host_of(figures.plan, who.front())].name);
  return text;
}

}  // namespace bench
