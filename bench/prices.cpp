// SPDX-License-Identifier: Apache-2.0
// bench/prices.cpp — predicted times of the best schedules on several networks
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>

#include "base/units.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

constexpr Count kibibyte = 1024;
constexpr Count mebibyte = 1024 * kibibyte;

double milliseconds(base::Nanos time) { return static_cast<double>(time.count()) / 1e6; }

Network network_of(const std::vector<std::size_t>& sizes, double local, double wide) {
  return uniform_network(std::make_shared<const Topology>(Topology::clustered(sizes)),
                         {50us, local}, {10ms, wide});
}

std::string name_of_sizes(const Network& network) {
  std::string name;
  for (std::size_t cluster = 0; cluster < network.clusters(); ++cluster)
    name += fmt::format("{}{}", cluster > 0 ? "+" : "", network.topology->cluster(cluster).size());
  return name;
}

struct Named {
  const char* algorithm;
  std::string parameters;
};

void print_best(Collective collective, Count bytes, const Network& network,
                Order worst = Order::by_block) {
  const CollectiveSpec task = make_spec(collective, network.topology, bytes);
  const Bound bound = bound_of(task, 1, network);
  const Best best = best_of(task, 1, network, worst);
  fmt::print("{:12} {:14} {:>7} {:9.3f} {:9.3f} {:6.3f}  {} {} ({} of {} priced, {} to the end)\n",
             name_of_sizes(network), name_of(collective), base::format_bytes(bytes),
             milliseconds(bound.time), milliseconds(best.price.time),
             milliseconds(best.price.time) / std::max(milliseconds(bound.time), 1e-6),
             best.candidate.algorithm->name, best.candidate.parameters.text(), best.priced,
             best.candidates, best.finished);
  std::fflush(stdout);
}

void print_two_by_four() {
  const Network network = network_of({4, 4}, 100e6, 1e9);
  for (const Collective collective : {Collective::broadcast, Collective::allreduce})
    for (const Count bytes :
         {8UL, kibibyte, 64 * kibibyte, 256 * kibibyte, mebibyte, 32 * mebibyte})
      print_best(collective, bytes, network);
}

void print_tiny() {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{4, 4}, {4, 4, 4}, {4, 4, 4, 4, 4}})
    for (const Collective collective : all_collectives)
      print_best(collective, 8, network_of(sizes, 100e6, 1e9));
}

void print_clusters() {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{4, 4, 4}, {4, 4, 4, 4, 4}, {1, 1, 1}, {3, 7}, {2, 3, 5}})
    for (const Collective collective : {Collective::broadcast, Collective::allreduce})
      print_best(collective, 32 * mebibyte, network_of(sizes, 100e6, 1e9));
}

void print_blocks() {
  const Network network = network_of({4, 4}, 100e6, 1e9);
  for (const Collective collective :
       {Collective::allgather, Collective::alltoall, Collective::reduce_scatter, Collective::gather,
        Collective::scatter, Collective::scan, Collective::exscan, Collective::reduce})
    print_best(collective, mebibyte, network);
}

/// Prints predicted times of sums in the canonical order. This order is correct for every
/// operation, even for an operation that is neither commutative nor associative.
void print_canonical() {
  const Network network = network_of({4, 4}, 100e6, 1e9);
  for (const Count bytes : {64 * kibibyte, 256 * kibibyte, mebibyte, 32 * mebibyte})
    print_best(Collective::allreduce, bytes, network, Order::canonical);
  for (const Collective collective :
       {Collective::reduce, Collective::reduce_scatter, Collective::scan, Collective::exscan})
    print_best(collective, mebibyte, network, Order::canonical);
}

void print_windows() {
  Network network = network_of({8, 8}, 1e9, 10e9);
  for (Link& link : network.links) link.stream_rate = 64.0 * kibibyte * 8 / 0.020;
  for (const Collective collective : {Collective::broadcast, Collective::allreduce})
    print_best(collective, 32 * mebibyte, network);
}

/// Prints predicted times for the network of Matsuda et al. 2006: two clusters of 16 hosts with 1
/// Gbit/s each, and 10 Gbit/s between the clusters. Ratios are relative to the first row of each
/// collective.
void print_matsuda(Bytes frame) {
  Network network = network_of({16, 16}, 1e9, 10e9);
  network.frame = frame;
  fmt::print("frames: {}\n", frame == unlimited ? "unlimited" : base::format_bytes(frame));
  const auto print = [&](Collective collective, const std::vector<Named>& rows) {
    double first = 0;
    for (const Named& row : rows) {
      const Algorithm& algorithm = algorithm_named(row.algorithm);
      const CollectiveSpec task = make_spec(collective, network.topology, 32 * mebibyte);
      const double took =
          milliseconds(price(algorithm, task, algorithm.read(row.parameters), 1, network).time);
      if (first == 0) first = took;
      fmt::print("{:22} {:58} {:9.3f} {:5.2f}\n", row.algorithm, row.parameters, took,
                 first / took);
      std::fflush(stdout);
    }
  };
  const auto with_senders = [](std::vector<Named>& rows, const char* algorithm,
                               const char* others) {
    for (int senders = 1; senders <= 16; ++senders)
      rows.push_back({algorithm, fmt::format("senders={},{}", senders, others)});
    rows.push_back({"stretched", "stretch=524288"});
  };
  std::vector<Named> broadcasts{{"farfirst", "allgather=doubling"}};
  with_senders(broadcasts, "modified_van_de_geijn", "allgather=doubling");
  print(Collective::broadcast, broadcasts);
  const char* halving = "reduce_scatter=halving,allgather=doubling";
  std::vector<Named> allreduces{{"two_tier", halving}};
  with_senders(allreduces, "modified_rabenseifner", halving);
  print(Collective::allreduce, allreduces);
}

/// Prints how much time the prediction of one schedule takes, for 128 participants and 64 segments.
void print_speed() {
  const Network network = network_of({64, 64}, 1e9, 10e9);
  for (const auto& [collective, algorithm, parameters] :
       {std::tuple{Collective::broadcast, "tree", "shape=chain,segment=16384"},
        {Collective::broadcast, "multilevel", "shapes=flat/binomial,segment=16384"},
        {Collective::reduce, "tree", "shape=chain,segment=16384"},
        {Collective::reduce, "multilevel", "shapes=flat/binomial,segment=16384"}}) {
    const Algorithm& does = algorithm_named(algorithm);
    const CollectiveSpec task = make_spec(collective, network.topology, mebibyte);
    double best = std::numeric_limits<double>::max();
    for (int time = 0; time < 20; ++time) {
      const std::clock_t begin = std::clock();
      price(does, task, does.read(parameters), 1, network);
      best = std::min(best, static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
    }
    fmt::print("{:12} {:12} {:38} {:5.1f} ms of a core\n", name_of(collective), algorithm,
               parameters, best);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Predicted times of the best schedules, next to lower bounds.");
  const std::map<std::string, std::function<void()>> tables{
      {"two-by-four", print_two_by_four},
      {"tiny", print_tiny},
      {"clusters", print_clusters},
      {"blocks", print_blocks},
      {"canonical", print_canonical},
      {"windows", print_windows},
      {"matsuda", [] { print_matsuda(64 * kibibyte); }},
      {"matsuda-whole", [] { print_matsuda(unlimited); }},
      {"speed", print_speed}};
  std::vector<std::string> chosen;
  app.add_option("tables", chosen, "Tables to print (default: all)")->check(CLI::IsMember(tables));
  CLI11_PARSE(app, argument_count, arguments);
  for (const auto& [name, print] : tables)
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end()) {
      fmt::print("{}:\n", name);
      print();
    }
  return 0;
}
