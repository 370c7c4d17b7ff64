// SPDX-License-Identifier: Apache-2.0
// bench/sor/report.cpp — sums over the parts of threads and hosts
#include "bench/sor/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "bench/sor/grid_files.hpp"
#include "paths/host/host.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using Parts = std::map<std::uint32_t, SorPart>;

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

double milliseconds(Nanos time, std::uint64_t over) {
  return over == 0 ? 0 : static_cast<double>(time.count()) / 1e6 / static_cast<double>(over);
}

std::uint64_t iterations_of(const Parts& parts) {
  return parts.empty() ? 0 : parts.begin()->second.iterations;
}

/// Raises each count of `known` to the same count of `other`, if the count of `other` is larger.
/// Several hosts report the traffic of the same gateway. Counts only grow, so the largest count is
/// the latest.
void keep_most(paths::Traffic& known, const paths::Traffic& other) {
  known.messages = std::max(known.messages, other.messages);
  known.bytes = std::max(known.bytes, other.bytes);
}

/// Traffic between clusters. If one process runs all hosts, the counts are those of the process.
/// Otherwise threads have queried the other hosts during the run. Each count of the exchange covers
/// one border, so the counts of all borders are added. Several counts of the collective can cover
/// the same messages, so only the largest of these counts is used.
struct WanTraffic {
  std::map<std::uint32_t, paths::Traffic> collective;
  paths::Traffic exchange;
  std::vector<std::uint32_t> collective_unknown, exchange_unknown;  ///< hosts with unknown traffic

  WanTraffic(const SorRun& run, const Parts& parts, const paths::RunSummary& summary) {
    for (const paths::Host* host : summary.hosts)
      collective[host->index()] =
          host->deployment().traffic().to_other_clusters(run.collective.name);
    const bool has_all = summary.hosts.size() == summary.plan.hosts.size();
    for (const auto& [rank, part] : parts) {
      for (const auto& [host, wan] : part.exchange_wan) exchange += wan;
      for (const auto& [host, wan] : part.collective_wan) keep_most(collective[host], wan);
    }
    collective_unknown = hosts_with_unknown_wan(summary.plan, run.collective.name, collective);
    for (std::uint32_t host = 0; host < summary.plan.hosts.size(); ++host) {
      const auto& entry = summary.plan.hosts[host];
      if (entry.threads > 0 && !parts.contains(entry.first_thread))
        exchange_unknown.push_back(host);
    }
    if (!has_all) return;
    for (const paths::Host* host : summary.hosts)
      for (const auto& graph : summary.plan.graphs)
        if (graph.of == run.task.exchange)
          exchange += host->deployment().traffic().to_other_clusters(graph.name);
  }
};

Figures noise_figures(const Parts& parts, const paths::RunSummary& summary) {
  Figures figures{summary.plan};
  figures.iterations = figures.rounds = iterations_of(parts);
  figures.clock = summary.clock;
  figures.seed = summary.seed;
  for (const auto& [rank, part] : parts) figures.threads.push_back(part.figures);
  return figures;
}

Json traffic_to_json(const paths::Traffic& wan, std::uint64_t iterations, const paths::Plan& plan,
                     const std::vector<std::uint32_t>& unknown) {
  Json traffic = {{"messages", wan.messages},
                  {"bytes", wan.bytes},
                  {"messages_per_iteration", share(wan.messages, iterations)},
                  {"bytes_per_iteration", share(wan.bytes, iterations)}};
  mark_unknown(traffic, plan, unknown);
  return traffic;
}

Json wan_to_json(const WanTraffic& wan, std::uint64_t iterations, const paths::Plan& plan) {
  paths::Traffic collective, sum = wan.exchange;
  for (const auto& [host, traffic] : wan.collective) collective += traffic;
  sum += collective;
  std::vector<std::uint32_t> unknown;
  std::set_union(wan.collective_unknown.begin(), wan.collective_unknown.end(),
                 wan.exchange_unknown.begin(), wan.exchange_unknown.end(),
                 std::back_inserter(unknown));
  Json all = traffic_to_json(sum, iterations, plan, unknown);
  all["collective"] = traffic_to_json(collective, iterations, plan, wan.collective_unknown);
  all["exchange"] = traffic_to_json(wan.exchange, iterations, plan, wan.exchange_unknown);
  return all;
}

/// Returns the digest of the whole grid. It covers the first and last row, too, which belong to no
/// thread.
Json digest_to_json(const SorTask& task, const Parts& parts) {
  if (parts.size() < task.blocks.size()) return nullptr;
  std::vector<double> row(task.data.size());
  std::vector<base::Digest> rows;
  const auto add_edge = [&](std::size_t number) {
    task.data.fill_row(number, row);
    rows.push_back(base::digest_of(std::as_bytes(std::span(row))));
  };
  add_edge(0);
  for (const auto& [rank, part] : parts)
    rows.insert(rows.end(), part.row_digests.begin(), part.row_digests.end());
  add_edge(task.data.size() - 1);
  return grid_digest(rows).text();
}

Json redundant_to_json(const Parts& parts) {
  std::uint64_t own = 0, redundant = 0;
  double most = 0;
  for (const auto& [rank, part] : parts) {
    own += part.half_rows;
    redundant += part.redundant_half_rows;
    most = std::max(most, share(part.redundant_half_rows, part.half_rows));
  }
  return {{"redundant_rows_share", share(redundant, own)}, {"redundant_rows_share_most", most}};
}

std::uint64_t most_halo(const Parts& parts) {
  std::uint64_t most = 0;
  for (const auto& [rank, part] : parts) most = std::max(most, part.halo);
  return most;
}

Json computing_to_json(const Parts& parts) {
  Nanos least = Nanos::max(), most{0};
  for (const auto& [rank, part] : parts) {
    least = std::min(least, part.figures.compute);
    most = std::max(most, part.figures.compute);
  }
  return {{"least", milliseconds(std::min(least, most), iterations_of(parts))},
          {"most", milliseconds(most, iterations_of(parts))}};
}

Json stop_to_json(const Parts& parts) {
  if (parts.empty() || !parts.begin()->second.stop_iteration) return nullptr;
  return *parts.begin()->second.stop_iteration;
}

double exchange_milliseconds(const Parts& parts) {
  Nanos sum{0};
  for (const auto& [rank, part] : parts) sum += part.exchange;
  return milliseconds(sum, parts.size() * iterations_of(parts));
}

}  // namespace

Json sor_figures(const SorRun& run, const Parts& parts, const paths::RunSummary& summary) {
  const std::uint64_t iterations = iterations_of(parts);
  const WanTraffic wan(run, parts, summary);
  Figures figures = noise_figures(parts, summary);
  figures.collective = run.collective;
  figures.wan = wan.collective;
  figures.wan_unknown = wan.collective_unknown;
  const Json noise = to_json(figures);
  Json json = {{"data", run.data},
               {"size", run.task.data.size()},
               {"data_seed", run.data_seed},
               {"omega", run.task.omega},
               {"algorithm", noise["algorithm"]},
               {"halo", run.task.halo.text()},
               {"halo_iterations", most_halo(parts)},
               {"iterations", iterations},
               {"stop_iteration", stop_to_json(parts)},
               {"converged", !stop_to_json(parts).is_null()}};
  for (const char* key : {"clock", "threads", "hosts", "ms_per_iteration", "compute_ms"})
    json[key] = noise[key];
  json["compute_ms_by_thread"] = computing_to_json(parts);
  json["exchange_ms"] = exchange_milliseconds(parts);
  json["allreduce_ms"] = noise["allreduce_ms"];
  json["wan"] = wan_to_json(wan, iterations, summary.plan);
  json.update(redundant_to_json(parts));
  json["clusters"] = noise["clusters"];
  json["grid_digest"] = digest_to_json(run.task, parts);
  for (const char* key : {"conditions", "seed", "config_digest"}) json[key] = noise[key];
  return json;
}

std::string sor_table(const Json& json) {
  const auto number = [](const Json& value) { return value.get<double>(); };
  const Json& times = json["ms_per_iteration"];
  const Json& wan = json["wan"];
  std::string text = fmt::format(
      "{} {} x {}, {}, halo {}: {} threads on {} host{}, {} clock\n\n",
      json["data"].get<std::string>(), json["size"].dump(), json["size"].dump(),
      json["algorithm"].get<std::string>(), json["halo"].get<std::string>(), json["threads"].dump(),
      json["hosts"].dump(), json["hosts"] == 1 ? "" : "s", json["clock"].get<std::string>());
  text += fmt::format("{:<18} {:>10} {}\n", "iterations", json["iterations"].dump(),
                      json["converged"] == true ? "the sum of changes of number " +
                                                      json["stop_iteration"].dump() + " said stop"
                                                : std::string("not converged"));
  text += fmt::format("{:<18} {:>10.4f} mean  {:.4f} p50  {:.4f} p99  {:.4f} max\n",
                      "ms per iteration", number(times["mean"]), number(times["p50"]),
                      number(times["p99"]), number(times["max"]));
  text +=
      fmt::format("{:<18} {:>10.4f} computing  {:.4f} waiting for rows  {:.4f} in the allreduce\n",
                  "ms of a thread", number(json["compute_ms"]), number(json["exchange_ms"]),
                  number(json["allreduce_ms"]));
  text += fmt::format("{:<18} {:>10} messages  {} bytes\n", "WAN per iteration",
                      figure_text(wan["messages_per_iteration"], 2),
                      figure_text(wan["bytes_per_iteration"], 1));
  text += fmt::format("{:<18} {:>9.1f}% of all rows  {:.1f}% of one thread's\n", "redundant rows",
                      100 * number(json["redundant_rows_share"]),
                      100 * number(json["redundant_rows_share_most"]));
  const Json& digest = json["grid_digest"];
  return text + fmt::format("\ngrid {}\n",
                            digest.is_null() ? "not known here" : digest.get<std::string>());
}

std::string sor_disagreement(const Parts& parts, const paths::RunSummary& summary) {
  return disagreement(noise_figures(parts, summary));
}

}  // namespace bench
