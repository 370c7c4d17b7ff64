// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/instances.cpp — random collectives on random networks, with the time
// of each schedule without noise, and noise of a shared machine.
#include "tests/collectives/tuner/instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

using base::Nanos;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Topology;
using pricing::Bytes;
using pricing::Network;

namespace {

constexpr Bytes element_bytes = 8;

// Returns a random number between 0 and 1. The distributions of the standard library give different
// numbers on different platforms.
double unit(std::mt19937_64& chance) {
  return (static_cast<double>(chance() >> 11) + 0.5) / 9007199254740992.0;
}
double log_between(std::mt19937_64& chance, double least, double most) {
  return least * std::pow(most / least, unit(chance));
}
double normal(std::mt19937_64& chance) {
  const double radius = std::sqrt(-2 * std::log(unit(chance)));
  return radius * std::cos(2 * std::numbers::pi * unit(chance));
}
double error_factor(std::mt19937_64& chance, double error) {
  return 1 + error * (2 * unit(chance) - 1);
}
Nanos scaled(Nanos time, double factor) {
  return Nanos(std::llround(static_cast<double>(time.count()) * factor));
}
pricing::Side with_errors(std::mt19937_64& chance, const pricing::Side& side, double error) {
  const double latency = error_factor(chance, error);
  return {scaled(side.latency, latency), side.bits_per_second * error_factor(chance, error)};
}

CollectiveSpec random_spec(std::mt19937_64& chance, std::shared_ptr<const Topology> topology,
                           Bytes bytes) {
  constexpr Collective kinds[] = {Collective::broadcast, Collective::reduce,
                                  Collective::allreduce, Collective::gather,
                                  Collective::scatter,   Collective::allgather};
  const Collective kind = kinds[chance() % std::size(kinds)];
  const bool has_blocks = kind >= Collective::gather;
  const std::size_t blocks = has_blocks ? topology->size() : 1;
  return make_spec(kind, std::move(topology), std::max<Bytes>(bytes / element_bytes / blocks, 1));
}

}  // namespace

Site random_site(std::mt19937_64& chance, std::size_t hosts_most) {
  const auto hosts =
      static_cast<std::size_t>(log_between(chance, 4, static_cast<double>(hosts_most) + 0.99));
  const std::size_t clusters =
      chance() % 2 == 0 ? 1 : 2 + chance() % (std::min<std::size_t>(8, hosts / 2) - 1);
  Site site{std::vector<std::size_t>(clusters, 1), {}, {}};
  for (std::size_t i = clusters; i < hosts; ++i) ++site.clusters[chance() % clusters];
  site.local = {Nanos(std::llround(log_between(chance, 20e3, 100e3))),
                log_between(chance, 1e9, 1e10)};
  site.wide = {site.local.latency + Nanos(std::llround(log_between(chance, 1e6, 60e6))),
               log_between(chance, 5e7, 1e9)};
  site.message_cost = Nanos(std::llround(log_between(chance, 1e3, 20e3)));
  site.fold_bytes_per_second = log_between(chance, 1e9, 5e9);
  return site;
}

Network network_of(const Site& site, const std::shared_ptr<const Topology>& topology) {
  Network network = uniform_network(topology, site.local, site.wide);
  network.message_cost = site.message_cost;
  network.fold_bytes_per_second = site.fold_bytes_per_second;
  return network;
}

Truth::Truth(std::uint64_t seed, const Site& site, const std::shared_ptr<const Topology>& topology)
    : seed_(seed), network_(network_of(site, topology)) {
  std::mt19937_64 chance(seed);
  for (std::size_t host = 0; host < network_.outgoing.size(); ++host) {
    const double speed = std::exp(0.05 * normal(chance));
    network_.outgoing[host] = network_.outgoing[host].scaled(1, speed);
    network_.receiving[host] = network_.receiving[host].scaled(1, speed);
  }
}

tuner::Space Truth::space(const std::vector<pricing::Family>& families, const CollectiveSpec& task,
                          std::size_t messages_most) const {
  const tuner::Predict predict = tuner::predict_on(task, element_bytes, network_);
  tuner::Space space =
      tuner::schedules_of(
          families, task, element_bytes, network_,
          [&](const pricing::Candidate& one, Nanos) { return predict(one, Nanos::max()); },
          messages_most)
          .space;
  for (tuner::Family& family : space.families) {
    // The hash gives each family a bias. The bias depends on the family's name, but not on the
    // size.
    std::uint64_t hash = seed_;
    for (const char letter : family.name)
      hash = hash * 1099511628211U + static_cast<unsigned char>(letter);
    std::mt19937_64 chance(hash);
    const double bias = 0.08 * normal(chance);
    for (tuner::Member& member : family.members) {
      std::mt19937_64 ripple(hash ^ (member.length * 0x9e3779b97f4a7c15ULL + task.vector().count));
      member.predicted = scaled(*member.predicted, std::exp(bias + 0.03 * normal(ripple)));
    }
  }
  return space;
}

Network network_of_model(std::mt19937_64& chance, const Model& model, const Site& site,
                         const std::shared_ptr<const Topology>& topology) {
  Site believed = site;
  believed.local = with_errors(chance, site.local, model.error);
  believed.wide = with_errors(chance, site.wide, model.error);
  believed.message_cost = scaled(site.message_cost, error_factor(chance, model.error));
  believed.fold_bytes_per_second *= error_factor(chance, model.error);
  Network network = network_of(believed, topology);
  if (!model.has_receiving_sides) network.receiving.assign(network.receiving.size(), {});
  return network;
}

Instance random_instance(std::uint64_t seed, const Ranges& ranges) {
  std::mt19937_64 chance(seed);
  const Site site = random_site(chance, ranges.hosts_most);
  const auto topology = std::make_shared<const Topology>(Topology::clustered(site.clusters));
  const auto bytes =
      static_cast<Bytes>(log_between(chance, 8, static_cast<double>(ranges.bytes_most)));
  const CollectiveSpec task = random_spec(chance, topology, bytes);
  const Truth truth(seed, site, topology);
  const Network good = network_of_model(chance, good_model, site, topology);
  const Network poor = network_of_model(chance, poor_model, site, topology);
  const auto arena_of = [&](const std::vector<pricing::Family>& families) {
    const auto space_of = [&](const Network& network) {
      return tuner::schedules_of(families, task, element_bytes, network,
                                 tuner::predict_on(task, element_bytes, network),
                                 ranges.messages_most)
          .space;
    };
    if (families.empty()) return Arena{};
    Arena arena{truth.space(families, task, ranges.messages_most), space_of(good), space_of(poor)};
    arena.least = Nanos::max();
    for (const tuner::Family& family : arena.truth.families)
      for (const tuner::Member& member : family.members) {
        arena.least = std::min(arena.least, *member.predicted);
        arena.time_of_all += *member.predicted;
      }
    return arena;
  };
  return {
      .name = fmt::format("seed {}: {} of {} B, {} hosts in {} clusters", seed,
                          name_of(task.collective), bytes, topology->size(), topology->clusters()),
      .ours = arena_of(pricing::families_of(task, element_bytes)),
      .paper = arena_of(tuner::families_of_paper(task, collectives::Order::by_block))};
}

Nanos SharedNoise::disturb(Nanos time) {
  constexpr double bad_period = 500, good_period = bad_period * 0.85 / 0.15, between_runs = 20;
  while (now_ >= period_ends_) {
    is_bad_ = !is_bad_;
    period_ends_ += -std::log(unit(chance_)) * (is_bad_ ? bad_period : good_period);
  }
  double disturbed = static_cast<double>(time.count()) * 1e-6 * std::exp(0.04 * normal(chance_));
  if (is_bad_) disturbed *= 1.6;
  if (unit(chance_) < 0.1) disturbed += std::min(0.1 / unit(chance_), 30.0);
  now_ += disturbed + between_runs;
  return Nanos(std::llround(disturbed * 1e6));
}

tuner::Run exact_run(const tuner::Space& truth) {
  return [&truth](tuner::Configuration one) { return member_of(truth, one).predicted; };
}

tuner::Run noisy_run(const tuner::Space& truth, std::uint64_t seed) {
  const auto noise = std::make_shared<SharedNoise>(seed);
  return [&truth, noise](tuner::Configuration one) {
    return std::optional(noise->disturb(*member_of(truth, one).predicted));
  };
}

void Figures::add(const Arena& arena, const tuner::Outcome& outcome, std::size_t repetitions) {
  const auto seconds = [](Nanos time) { return static_cast<double>(time.count()) * 1e-9; };
  const Nanos time = *member_of(arena.truth, *outcome.chosen).predicted;
  regrets_.push_back(seconds(time) / seconds(arena.least) - 1);
  all_runs_ += outcome.runs;
  all_configurations_ += outcome.sampled.size();
  exhaustive_runs_ += arena.truth.size() * repetitions;
  const double time_of_all = seconds(arena.time_of_all) * static_cast<double>(repetitions);
  all_time_ += seconds(outcome.time_spent);
  exhaustive_time_ += time_of_all;
  time_shares_ += seconds(outcome.time_spent) / time_of_all;
  const auto count = static_cast<double>(regrets_.size());
  runs = static_cast<double>(all_runs_) / count;
  configurations = static_cast<double>(all_configurations_) / count;
  runs_share = static_cast<double>(all_runs_) / static_cast<double>(exhaustive_runs_);
  time_share = all_time_ / exhaustive_time_;
  mean_time_share = time_shares_ / count;
}

double Figures::mean() const {
  double sum = 0;
  for (const double regret : regrets_) sum += regret;
  return sum / static_cast<double>(regrets_.size());
}

double Figures::quantile(double share) const {
  std::vector<double> sorted = regrets_;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double Figures::within(double regret) const {
  const auto count =
      std::count_if(regrets_.begin(), regrets_.end(), [&](double one) { return one <= regret; });
  return static_cast<double>(count) / static_cast<double>(regrets_.size());
}
