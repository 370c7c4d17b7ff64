// SPDX-License-Identifier: Apache-2.0
// bench/support/figures.cpp — sums, means and percentiles of a run.
#include "bench/support/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

/// Sums over some of the threads and hosts.
struct Sums {
  std::uint64_t threads = 0;
  Nanos compute{0};
  Nanos allreduce{0};
  Nanos longest{0};
  Spread slowest;  // p50 and p99 of one thread, max of all
  std::uint64_t proved = 0;
  paths::Traffic wan;
  const Decisions* decisions = nullptr;  // of one thread: all threads of a cluster learn the same

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

Json wan_of(const paths::Traffic& wan, std::uint64_t rounds) {
  return {{"messages_per_iteration", share(wan.messages, rounds)},
          {"bytes_per_iteration", share(wan.bytes, rounds)}};
}

std::uint32_t host_of(const paths::Plan& plan, std::uint32_t rank) {
  const auto after = std::upper_bound(
      plan.hosts.begin(), plan.hosts.end(), rank,
      [](std::uint32_t number, const auto& host) { return number < host.first_thread; });
  // Of hosts that begin at the same rank only the last has threads.
  return static_cast<std::uint32_t>(after - plan.hosts.begin()) - 1;
}

std::vector<Sums> by_cluster(const Figures& figures) {
  std::vector<Sums> clusters(figures.plan.clusters.size());
  for (const ThreadFigures& thread : figures.threads)
    clusters[figures.plan.hosts[host_of(figures.plan, thread.rank)].cluster].add(thread);
  for (const auto& [host, traffic] : figures.wan)
    clusters[figures.plan.hosts[host].cluster].wan += traffic;
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

/// Where hosts are processes of their own.
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
                   {"wan", wan_of(sums.wan, figures.rounds)}});
  }
  return all;
}

std::uint64_t count_hosts(const paths::Plan& plan) {
  return static_cast<std::uint64_t>(std::count_if(
      plan.hosts.begin(), plan.hosts.end(), [](const auto& host) { return host.threads > 0; }));
}

}  // namespace

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
          {"wan", wan_of(all.wan, figures.rounds)},
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
  text += fmt::format("{:<18} {:>10.2f} messages  {:.1f} bytes\n\n", "WAN per iteration",
                      number(json["wan"]["messages_per_iteration"]),
                      number(json["wan"]["bytes_per_iteration"]));
  std::size_t width = std::string_view("cluster").size();
  for (const Json& one : json["clusters"])
    width = std::max(width, one["name"].get_ref<const std::string&>().size());
  text += fmt::format("{:<{}} {:>7} {:>12} {:>11} {:>12} {:>7} {:>12} {:>10}\n", "cluster", width,
                      "threads", "ms/iteration", "compute ms", "allreduce ms", "proved",
                      "WAN messages", "WAN bytes");
  for (const Json& one : json["clusters"])
    text += fmt::format(
        "{:<{}} {:>7} {:>12.4f} {:>11.4f} {:>12.4f} {:>6.1f}% {:>12.2f} {:>10.1f}\n",
        one["name"].get_ref<const std::string&>(), width, one["threads"].get<std::uint64_t>(),
        number(one["ms_per_iteration"]), number(one["compute_ms"]), number(one["allreduce_ms"]),
        100 * number(one["proved_share"]), number(one["wan"]["messages_per_iteration"]),
        number(one["wan"]["bytes_per_iteration"]));
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
