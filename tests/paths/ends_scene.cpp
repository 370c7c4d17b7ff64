// SPDX-License-Identifier: Apache-2.0
// tests/paths/ends_scene.cpp — generation of random programs, and the code of their threads.
#include "tests/paths/ends_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace ends_tests {

using namespace std::chrono_literals;
using runtime::Random;

namespace {

std::string drawn_algorithm(Random& random) {
  const auto number = [&](std::uint64_t most) { return 1 + random.below(most); };
  switch (random.below(12)) {
    case 0: return "algorithm: sequential";
    case 1: return "algorithm: magpie";
    case 2: return "algorithm: exact";
    case 3: return "algorithm: conditional";
    case 4: return "algorithm: 'conditional:push'";
    case 5: return "algorithm: 'conditional:demand'";
    case 6: return fmt::format("algorithm: 'conditional:subscribe:{}'", number(8));
    case 7: return fmt::format("algorithm: 'periodic:{}'", number(5));
    case 8: return fmt::format("graph: tree, relaxation: {{periodic: {}}}", number(5));
    case 9: return fmt::format("algorithm: 'lagged:{}'", number(6));
    case 10: return fmt::format("graph: tree, relaxation: {{lagged: {}}}", number(6));
    default: break;
  }
  const std::uint64_t rounds = number(8);
  return fmt::format("algorithm: 'budget:{},{}'", rounds, 1 + random.below(rounds));
}

}  // namespace

Scene::Scene(std::uint64_t scene_seed, std::uint32_t hosts_max) : seed(scene_seed) {
  Random random(seed);
  clusters.resize(1 + random.below(4));
  for (Cluster& cluster : clusters) {
    cluster.threads.resize(1 + random.below(hosts_max));
    for (std::uint32_t& threads : cluster.threads)
      threads = 1 + static_cast<std::uint32_t>(random.below(std::min(hosts_max, 3u)));
    if (random.chance(0.5)) cluster.network = Nanos(random.between(1, 2'000'000));
    cluster.has_gateway = random.chance(0.3);
    for (const std::uint32_t threads : cluster.threads)
      cluster_of.insert(cluster_of.end(), threads,
                        static_cast<std::uint32_t>(&cluster - clusters.data()));
  }
  link_max = Nanos(random.between(0, 30'000'000));
  algorithm = drawn_algorithm(random);
  if (random.chance(0.3)) fan_out = 2;
  has_condition = algorithm.find("conditional") != std::string::npos || random.chance(0.7);
  is_shared = random.chance(0.3);
  iterations = 8 + random.below(20);
  constant = sum(random.below(iterations)) * (0.2 + random.unit());
  is_hidden = random.chance(0.5);
  latency = 1 + random.below(4);
  period = 1 + random.below(4);
  work_max = Nanos(random.between(1, 3'000'000));
  swallows = random.chance(0.5);
  fault = static_cast<Fault>(random.below(3));
  culprit = static_cast<std::uint32_t>(random.below(ranks()));
  fault_iteration = random.below(iterations);
  moment = static_cast<Moment>(random.below(4));
}

std::uint32_t Scene::host_count() const {
  std::uint32_t count = 0;
  for (const Cluster& cluster : clusters)
    count += static_cast<std::uint32_t>(cluster.threads.size()) + (cluster.has_gateway ? 1 : 0);
  return count;
}

std::string Scene::config(const std::string& network) const {
  std::string all = fmt::format("network: {{{}{}connection: {}}}\n{}clusters:\n", network,
                                network.empty() ? "" : ", ", is_shared ? "shared" : "per_path",
                                network.empty() ? "" : "deadline: 5s\n");
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const Cluster& cluster = clusters[c];
    std::string names, threads;
    for (std::size_t h = 0; h < cluster.threads.size(); ++h) {
      names += fmt::format("{}h{}{}", h > 0 ? ", " : "", c, h);
      threads += fmt::format("{}h{}{}: {}", h > 0 ? ", " : "", c, h, cluster.threads[h]);
    }
    all += fmt::format("  c{}: {{hosts: [{}], threads: {{{}}}", c, names, threads);
    if (cluster.network > 0ns)
      all += fmt::format(", network: {{latency: {}ns}}", cluster.network.count());
    if (cluster.has_gateway) all += fmt::format(", gateway: gate{}", c);
    all += "}\n";
  }
  Random random(seed, 1);
  for (std::size_t a = 0; a < clusters.size(); ++a)
    for (std::size_t b = a + 1; b < clusters.size(); ++b)
      all += fmt::format("{}  - {{between: [c{}, c{}], latency: {}ns}}\n",
                         a + b == 1 ? "links:\n" : "", a, b, random.between(0, link_max.count()));
  all += fmt::format("collectives:\n  sum: {{operation: sum, template: f64, {}", algorithm);
  if (fan_out > 0) all += fmt::format(", fan_out: {}", fan_out);
  all += ", contributions: non_negative";
  if (has_condition) all += fmt::format(", condition: {{less: {}}}", constant);
  return all + "}\nexchanges:\n  rows: {template: 'u32, u64'}\n";
}

std::string Scene::text() const {
  const char* faults[] = {"returns", "throws", "dies"};
  return fmt::format("PATHS_SEED={}: {}{}; thread {} of {} {} in iteration {} of {}, moment {}{}",
                     seed, algorithm, is_hidden ? fmt::format(", halo {},{}", latency, period) : "",
                     culprit, ranks(), faults[static_cast<int>(fault)], fault_iteration, iterations,
                     static_cast<int>(moment), swallows ? "; the others return" : "");
}

double Scene::value(std::uint32_t rank, std::uint64_t iteration) const {
  Random random(seed, 1000 + rank * 1000 + iteration);
  return random.chance(0.2) ? 20 : static_cast<double>(random.below(8)) / 8;
}

double Scene::sum(std::uint64_t iteration) const {
  double total = 0;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) total += value(rank, iteration);
  return total;
}

Nanos Scene::work(std::uint32_t rank, std::uint64_t iteration, int part) const {
  Random random(seed, 1'000'000 + (rank * 1000 + iteration) * 3 + static_cast<unsigned>(part));
  return Nanos(random.between(0, work_max.count()));
}

Nanos Scene::round_trip() const {
  Nanos network{0};
  std::size_t hosts = 0;
  for (const Cluster& cluster : clusters) {
    network = std::max(network, cluster.network);
    hosts = std::max(hosts, cluster.threads.size());
  }
  // A message goes down the tree of its cluster to the root. From there it passes its own gateway
  // and the other cluster's gateway to the root of that cluster. The reply returns on the same way.
  const auto hops = static_cast<std::int64_t>(fan_out > 0 ? hosts - 1 : 1);
  return 2 * ((hops + 2) * 2 * network + link_max);
}

Nanos Scene::longest_answer() const {
  const auto has = [&](const char* word) { return algorithm.find(word) != std::string::npos; };
  const bool asks = !has("push") && (has("magpie") || has("conditional") || has("'periodic"));
  return asks ? 2 * round_trip() : round_trip();
}

// ---- program of a thread ---------------------------------------------------------------------

namespace {

class Solver {
 public:
  Solver(const Scene& scene, paths::Thread& thread, Fate& fate, const std::function<void()>& end)
      : scene_(scene), thread_(thread), fate_(fate), end_(end), rank_(thread.rank()) {}

  bool iterate(std::uint64_t i) {
    if (ends(i, Moment::at_the_beginning)) return false;
    if (i > 0 && i % scene_.period == 0) tell_far(i);
    if (i > 0) ask(2 * i - 1);
    work(i, 0);
    tell(2 * i);
    work(i, 1);
    if (ends(i, Moment::between_half_sweeps)) return false;
    ask(2 * i);
    work(i, 2);
    tell(2 * i + 1);
    if (ends(i, Moment::before_reducing)) return false;
    reduce(i);
    return !ends(i, Moment::after);
  }

 private:
  bool ends(std::uint64_t i, Moment moment) const {
    if (rank_ != scene_.culprit || i != scene_.fault_iteration || moment != scene_.moment)
      return false;
    end_();
    return true;
  }
  void work(std::uint64_t i, int part) {
    timed([&] { thread_.sleep_for(scene_.work(rank_, i, part)); });
  }

  bool hides(bool is_above) const {
    return scene_.is_hidden && scene_.is_far(is_above ? rank_ - 1 : rank_);
  }
  bool has(bool is_above) const { return is_above ? rank_ > 0 : rank_ + 1 < thread_.threads(); }
  void send(bool is_above, std::uint64_t number) {
    const std::string inbox = is_above ? fmt::format("rows.{}.from_next", rank_ - 1)
                                       : fmt::format("rows.{}.from_previous", rank_ + 1);
    timed([&] {
      thread_.path(inbox).send(base::Payload::filled(12, [&](std::span<std::byte> bytes) {
        std::memcpy(bytes.data(), &rank_, sizeof rank_);
        std::memcpy(bytes.data() + sizeof rank_, &number, sizeof number);
      }));
    });
  }
  void receive(bool is_above, std::uint64_t number) {
    const std::string inbox =
        fmt::format("rows.{}.{}", rank_, is_above ? "from_previous" : "from_next");
    base::Payload got;
    timed([&] {
      const pastset::Stored tuple = thread_.path(inbox).observe();
      thread_.path(inbox).axe(tuple.number);
      got = tuple.payload;
    });
    const std::uint32_t from = is_above ? rank_ - 1 : rank_ + 1;
    if (got.read<std::uint32_t>() != from || got.read<std::uint64_t>(4) != number)
      wrong(fmt::format("row {} of {} is row {} of {}", number, from, got.read<std::uint64_t>(4),
                        got.read<std::uint32_t>()));
  }

  /// If halos hide the latency of links, sends the rows next to the border to threads of other
  /// clusters. These threads use the rows some iterations later.
  void tell_far(std::uint64_t i) {
    for (const bool is_above : {true, false})
      if (has(is_above) && hides(is_above)) send(is_above, i);
  }
  void tell(std::uint64_t sweep) {
    for (const bool is_above : {true, false})
      if (has(is_above) && !hides(is_above)) send(is_above, sweep);
  }
  void ask(std::uint64_t sweep) {
    const std::uint64_t begun = sweep / 2 + 1;
    const bool is_due =
        sweep % 2 == 1 && begun > scene_.latency && (begun - scene_.latency) % scene_.period == 0;
    for (const bool is_above : {true, false}) {
      if (!has(is_above)) continue;
      if (!hides(is_above)) receive(is_above, sweep);
      if (hides(is_above) && is_due) receive(is_above, begun - scene_.latency);
    }
  }

  void reduce(std::uint64_t i) {
    paths::Result result;
    timed([&] { result = thread_.path("sum").move_value(scene_.value(rank_, i)); });
    if (result.sequence > i)
      wrong(fmt::format("iteration {} answered with {}", i, result.sequence));
    // A result of this cluster alone contains no values of other clusters, so it is not compared.
    if (result.origin.kind == paths::Origin::Kind::local && !result.proved) return;
    const double total = scene_.sum(result.sequence), value = result.partial<double>();
    if (result.proved ? value > total : value != total)
      wrong(fmt::format("the sum of iteration {} is {}, not {}", result.sequence, value, total));
    const auto expected = !scene_.has_condition     ? paths::Condition::unchecked
                          : total < scene_.constant ? paths::Condition::holds
                                                    : paths::Condition::fails;
    if (result.condition != expected)
      wrong(fmt::format("the condition of iteration {}", result.sequence));
  }

  template <class Operation>
  void timed(Operation operation) {
    operation();
    fate_.got_on.push_back(thread_.now());
  }
  void wrong(const std::string& what) {
    if (fate_.wrong.empty()) fate_.wrong = what;
  }

  const Scene& scene_;
  paths::Thread& thread_;
  Fate& fate_;
  const std::function<void()>& end_;
  const std::uint32_t rank_;
};

}  // namespace

void run_thread(const Scene& scene, paths::Thread& thread, Fate& fate,
                const std::function<void()>& end) {
  try {
    Solver solver(scene, thread, fate, end);
    for (std::uint64_t i = 0; i < scene.iterations; ++i)
      if (!solver.iterate(i)) return;
    fate.is_right = true;
  } catch (const paths::TravelError& error) {
    fate.error = error.what();
    fate.told = thread.now();
    if (!scene.swallows) throw;
  }
}

}  // namespace ends_tests
