// SPDX-License-Identifier: Apache-2.0
// bench/allgathers.cpp — predicted times of all allgathers on a network, and the lower bound
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <stdexcept>

#include "base/version.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/provenance.hpp"
#include "bench/support/sites.hpp"
#include "collectives/cost/bound.hpp"
#include "collectives/planner/min3.hpp"
#include "collectives/planner/min3_plus.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/config/config.hpp"
#include "paths/run/command_line.hpp"
#include "wrappers/all.hpp"

using collectives::Counts;
using planning::Contender;
using pricing::Bytes;
using Json = nlohmann::ordered_json;

namespace {

// Default of the planners' parameter overhead_ns.
constexpr base::Nanos overhead = std::chrono::microseconds(50);
constexpr std::uint64_t networks_max = 100'000;

struct Options {
  std::string config;
  std::vector<std::uint64_t> seeds;  ///< first and last seed; each seed gives a random network
  std::vector<std::string> sizes{"256KiB"};
  bool is_half_duplex = false, blocks = false, carries_grants = false;
  bool lists_crossings = false, times_planning = false;
  std::string json;
};

struct Named {
  std::string name;
  pricing::Network network;
};

double milliseconds(base::Nanos time) { return static_cast<double>(time.count()) / 1e6; }

std::vector<Named> read_networks(const Options& options) {
  if (options.config.empty() == options.seeds.empty())
    throw std::invalid_argument("expected a config or --random, one of both");
  if (!options.config.empty())
    return {{options.config,
             groups::network_of(paths::load_plan(options.config, wrappers::all_kinds()))}};
  if (options.seeds[0] > options.seeds[1] || options.seeds[1] - options.seeds[0] >= networks_max)
    throw std::invalid_argument(
        fmt::format("--random: expected the first seed and the last of at most {}, found {} and {}",
                    networks_max, options.seeds[0], options.seeds[1]));
  std::vector<Named> networks;
  for (std::uint64_t seed = options.seeds[0]; seed <= options.seeds[1]; ++seed)
    networks.push_back({fmt::format("seed {}", seed), bench::random_network(seed)});
  return networks;
}

std::vector<Bytes> read_sizes(const Options& options) {
  std::vector<Bytes> sizes;
  for (const std::string& text : options.sizes) {
    const auto size = base::parse_bytes(text);
    if (!size || *size == 0)
      throw std::invalid_argument(
          fmt::format("--sizes: expected sizes such as 1KiB,64KiB, found '{}'", text));
    sizes.push_back(*size);
  }
  return sizes;
}

/// Returns the algorithms and plans to compare, fastest first. They include only the fastest plan
/// of Min³+. If links are half duplex, they include no plan of Min³+.
std::vector<Contender> compared(const pricing::Network& network, const Counts& counts,
                                const Options& options) {
  std::vector<Contender> all =
      planning::rivals_of(network, counts, 1, overhead, options.is_half_duplex);
  if (!options.is_half_duplex)
    for (Contender& one : planning::min3_plus(network, counts, 1, overhead))
      all.push_back(std::move(one));
  for (Contender& one : all) {
    one.execution.ports.blocks = options.blocks;
    one.execution.ports.are_grants_carried = options.carries_grants;
    one.execution.lists_crossings = options.lists_crossings;
  }
  planning::compare(all, network, counts, 1);
  bool is_first = true;
  std::erase_if(all, [&](const Contender& one) {
    return one.name.starts_with("min3_plus") && !std::exchange(is_first, false);
  });
  return all;
}

/// Returns the number of bytes that cross links between clusters, and the start and end time of
/// each message on such a link.
Json crossings_of(const Contender& one, const pricing::Network& network, const Counts& counts) {
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         counts};
  const pricing::Price price =
      pricing::price(one.algorithm, task, one.parameters, 1, network, one.execution);
  Json on_links = Json::array();
  for (const pricing::Crossing& crossing : price.crossings)
    on_links.push_back({milliseconds(crossing.begin), milliseconds(crossing.end)});
  return {{"bytes", price.across.bytes}, {"on_links_ms", std::move(on_links)}};
}

/// Returns the CPU time of a call of `make` in microseconds: the minimum of twenty calls.
template <class Make>
double time_of(const Make& make) {
  double least = std::numeric_limits<double>::max();
  for (int time = 0; time < 20; ++time) {
    const std::clock_t begin = std::clock();
    make();
    least = std::min(least, static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC);
  }
  return least;
}

Json times_of_planning(const pricing::Network& network, const Counts& counts) {
  using namespace planning;
  const PairCosts costs = PairCosts::of(network, overhead);
  const Pool pools = pools_by_bandwidth(costs);
  const auto plan = [&](bool is_half_duplex) {
    return time_of([&] {
      min3(pools, costs, counts, pieces_of(counts, 1), {.is_half_duplex = is_half_duplex});
    });
  };
  return {{"pools", time_of([&] { pools_by_bandwidth(PairCosts::of(network, overhead)); })},
          {"full_duplex", plan(false)},
          {"half_duplex", plan(true)},
          {"min3_plus", time_of([&] {
             std::vector<Contender> all = min3_plus(network, counts, 1, overhead);
             compare(all, network, counts, 1);
           })}};
}

Json row_of(const Named& on, Bytes bytes, const Options& options) {
  const pricing::Network& network = on.network;
  const Counts counts = Counts::each(bytes, network.topology->size());
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         counts};
  Json row{{"network", on.name},
           {"hosts", network.topology->size()},
           {"bytes", bytes},
           {"bound_ms", milliseconds(pricing::bound_of(task, 1, network).time)}};
  if (options.times_planning) row["planning_us"] = times_of_planning(network, counts);
  for (const Contender& one : compared(network, counts, options)) {
    Json about{{"name", one.name}, {"ms", milliseconds(one.time)}};
    if (one.plan) about["predicted_ms"] = milliseconds(one.plan->time());
    if (options.lists_crossings) about["wan"] = crossings_of(one, network, counts);
    row["contenders"].push_back(std::move(about));
  }
  return row;
}

void print(const Json& row) {
  const double bound = row["bound_ms"];
  fmt::print("{}, {} hosts, {} each: lower bound {:.3f} ms\n", row["network"].get<std::string>(),
             row["hosts"].get<int>(), base::format_bytes(row["bytes"]), bound);
  for (const Json& one : row["contenders"]) {
    const double time = one["ms"];
    fmt::print("{:>12.3f}  {:>6.2f}  {}\n", time, time / bound, one["name"].get<std::string>());
  }
}

int run(const Options& options) {
  bench::check_writable({{"--json", options.json}});
  const std::vector<Bytes> sizes = read_sizes(options);
  Json rows = Json::array();
  for (const Named& on : read_networks(options))
    for (const Bytes bytes : sizes) {
      rows.push_back(row_of(on, bytes, options));
      if (!bench::is_standard_output(options.json)) print(rows.back());
    }
  bench::write_json(options.json, {{"results", rows}, {"provenance", bench::provenance()}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Predicted times of all allgathers on a network, the fastest first, in ms and as multiples "
      "of the lower bound.",
      "allgathers");
  app.set_version_flag("--version", std::string(base::version));
  Options options;
  app.add_option("FILE", options.config, "Config of either level");
  app.add_option("--random", options.seeds,
                 "Instead of a config: random networks of five sites, from one seed to another")
      ->expected(2);
  app.add_option("-m,--sizes", options.sizes, "Sizes of the block of each host")
      ->delimiter(',')
      ->capture_default_str();
  app.add_flag("--half-duplex", options.is_half_duplex,
               "A host sends or receives, but not both at once");
  app.add_flag("--blocking", options.blocks,
               "A host that sends to another cluster is busy until the message has left the link");
  app.add_flag("--carried-grants", options.carries_grants,
               "A grant takes the time of the way back, not no time");
  app.add_flag("--crossings", options.lists_crossings,
               "Print also when each message between clusters was on its link");
  app.add_flag("--planning", options.times_planning,
               "Print also the time of planning on this machine, in us of a core");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output");
  paths::set_examples(app,
                      "  allgathers configs/three-sites.yaml -m 1KiB,256KiB\n"
                      "  allgathers configs/three-sites.yaml --half-duplex --blocking\n"
                      "  allgathers --random 1000 1099 --json out.json\n");
  return paths::run_main(app, argc, argv, [&] { return run(options); });
}
