// SPDX-License-Identifier: Apache-2.0
// commands/network_measurement.cpp — rounds of link tests, and their results.
#include "commands/network_measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "base/address.hpp"
#include "base/say.hpp"
#include "commands/encryption_cost.hpp"
#include "commands/output_file.hpp"
#include "commands/paper_parameters.hpp"
#include "commands/wake_up_measurement.hpp"
#include "paths/host/host.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/plan/identity.hpp"
#include "runtime/usable_cores.hpp"

namespace commands {
namespace {

using base::Nanos;
using namespace std::chrono_literals;

/// Channel on which the first host starts rounds and receives results.
constexpr std::uint64_t rounds_channel = 2;
/// Costs of frames are measured on links whose latency is below this time.
constexpr Nanos frames_measured_below = 1ms;
constexpr int of_source = 1, of_target = 2;

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

/// Returns the hosts of a cluster that have threads. If the exit of the cluster has threads, the
/// exit is the first host in the list.
std::vector<std::uint32_t> senders(const paths::Plan& plan, std::uint32_t cluster) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].cluster == cluster && plan.hosts[host].threads > 0) hosts.push_back(host);
  const auto exit = std::find(hosts.begin(), hosts.end(), plan.ways->clusters[cluster].exit);
  if (exit != hosts.end()) std::rotate(hosts.begin(), exit, exit + 1);
  return hosts;
}

void check_ways(const paths::Plan& plan, const std::vector<std::uint32_t>& firsts) {
  std::vector<std::string> missing;
  for (const std::uint32_t from : firsts)
    for (const std::uint32_t to : firsts)
      if (from != to && !paths::missing_way(plan, from, to).empty())
        missing.push_back(fmt::format("{} to {}", plan.cluster_of(from), plan.cluster_of(to)));
  if (!missing.empty())
    throw std::invalid_argument(
        fmt::format("expected a link for every two clusters, each way; there is none from {}; "
                    "`links: {{all: {{}}}}` declares them all",
                    fmt::join(missing, ", ")));
}

/// Returns those of `hosts` that are in the cluster with most of them.
std::vector<std::uint32_t> largest_cluster(const paths::Plan& plan,
                                           const std::vector<std::uint32_t>& hosts) {
  std::vector<std::vector<std::uint32_t>> clusters(plan.clusters.size());
  for (const std::uint32_t host : hosts) clusters[plan.hosts[host].cluster].push_back(host);
  return *std::max_element(
      clusters.begin(), clusters.end(),
      [](const auto& left, const auto& right) { return left.size() < right.size(); });
}

/// Returns the expected duration of the measurements of folds and copies, and of the time in which
/// the hosts of the largest cluster wake up. `cores` is 0 if that time is not measured.
Nanos expected_time_without_links(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                                  std::uint32_t cores) {
  const std::vector<std::uint32_t> waking = largest_cluster(plan, hosts);
  if (cores == 0 || waking.size() < 2) return expected_time_of_work();
  return expected_time_of_work() +
         expected_time_of_step_measurement(waking.size(),
                                           paths::cost_of(plan, waking[0], waking[1]).latency);
}

/// Returns text for a link whose rate encryption may limit; "" for other links. Processors differ,
/// so half of the rate of an encrypted connection is already near the limit.
std::string limit_text(bool is_encrypted, const tuning::MeasuredLink& link) {
  const bool is_near = link.bits_per_second >= encrypted_bits_per_second / 2;
  return is_encrypted && is_near ? ", a limit perhaps of the encryption, not of the link" : "";
}

}  // namespace

void NetworkMeasurement::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  is_virtual_ = run.clock == runtime::ClockKind::virtual_time;
  if (!plan.ways || (plan.clusters.size() > 1 && !plan.lanes.is_written))
    throw std::invalid_argument(
        "expected the key lanes in the config (`lanes: {}` is enough), so that hosts forward "
        "messages of others until all have ended");
  if (plan.lanes.striping > 1)
    throw std::invalid_argument(
        fmt::format("expected lanes without striping, where a pair of hosts has one "
                    "stream, found {}",
                    plan.lanes.striping));
  find_networks(plan);
  find_tests(plan);
  if (tests_.empty()) throw std::invalid_argument("expected two hosts with threads, found fewer");
  const bool are_here = paths::hosts_on_this_machine(plan).size() == plan.hosts.size();
  is_one_clock_ = is_virtual_ || !run.is_one_host || are_here;
  if (is_virtual_)
    cores_ = plan.costs ? plan.costs->cores : 0;
  else if (are_here)
    cores_ = static_cast<std::uint32_t>(runtime::usable_cores());
  has_costs_ = options_.has_costs;
  frame_bytes_ = plan.lanes.frame_bytes;
  is_speaking_ = !run.is_one_host || run.host == hosts_.front();
  find_rounds(plan);
  if (is_speaking_) look_at_output();
  say_cost(plan);
}

void NetworkMeasurement::look_at_output() {
  if (options_.output.empty()) return;
  check_output(options_.output);
  std::error_code ignored;
  if (std::filesystem::exists(options_.output, ignored))
    old_ = tuning::load_measured_network(options_.output);
  const auto is_here = [this](const auto& cluster) {
    return std::find(clusters_.begin(), clusters_.end(), cluster.name) != clusters_.end();
  };
  if (old_ && std::none_of(old_->clusters.begin(), old_->clusters.end(), is_here))
    throw std::invalid_argument(
        fmt::format("--output: {} has the links of other clusters, and none of {}", options_.output,
                    fmt::join(clusters_, ", ")));
  has_costs_ = has_costs_ || (old_ && old_->costs);
}

/// Reads the declared latencies of the networks inside clusters. These latencies are needed for
/// clusters with one host. The network of such a cluster cannot be measured, although messages pass
/// it.
void NetworkMeasurement::find_networks(const paths::Plan& plan) {
  declared_.assign(plan.clusters.size(), Nanos(0));
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (const paths::HopLink link = paths::outgoing_link(plan, host); link.is_there())
      declared_[plan.hosts[host].cluster] = paths::link_of(link).model.at(Nanos(0)).latency;
}

void NetworkMeasurement::find_tests(const paths::Plan& plan) {
  clusters_ = plan.clusters;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t cluster = 0; cluster < clusters_.size(); ++cluster) {
    network_.clusters.push_back({clusters_[cluster], {}, {}});
    const auto hosts = senders(plan, cluster);
    if (hosts.empty())
      throw std::invalid_argument(fmt::format(
          "expected threads in each cluster, because threads measure; there are none in {}",
          clusters_[cluster]));
    firsts.push_back(hosts.front());
    hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
    if (hosts.size() > 1) add_test(plan, cluster, cluster);
  }
  std::sort(hosts_.begin(), hosts_.end());
  check_ways(plan, firsts);
  for (const std::uint32_t from : firsts)
    for (const std::uint32_t to : firsts)
      if (from != to) add_test(plan, plan.hosts[from].cluster, plan.hosts[to].cluster);
}

void NetworkMeasurement::add_test(const paths::Plan& plan, std::uint32_t from, std::uint32_t to) {
  const auto first = [&](std::vector<std::uint32_t> hosts) {
    if (hosts.size() > options_.streams_most) hosts.resize(options_.streams_most);
    return hosts;
  };
  Test test{from, to, {first(senders(plan, from)), first(senders(plan, to)), 1}};
  test.is_encrypted = !is_virtual_ && is_link_encrypted(plan, clusters_[from], clusters_[to]);
  if (from == to) {
    const auto hosts = senders(plan, from);
    test.task.sources = {hosts[0]};
    test.task.targets = {hosts[1]};
  } else {
    const auto& ways = plan.ways->clusters;
    test.task.streams_most = options_.streams_most;
    if (ways[from].has_switch || test.task.sources.front() != ways[from].exit)
      test.networks |= of_source, test.gateways += ways[from].has_switch ? 0 : 1;
    if (!ways[to].has_switch && test.task.targets.front() != ways[to].exit)
      test.networks |= of_target, ++test.gateways;
  }
  tests_.push_back(std::move(test));
}

/// Puts each test into the first round in which no other test uses the same cluster. On the steady
/// clock, no other test of the round uses the same machine either.
void NetworkMeasurement::find_rounds(const paths::Plan& plan) {
  std::vector<std::set<std::string>> taken;
  for (std::size_t number = 0; number < tests_.size(); ++number) {
    const Test& test = tests_[number];
    std::set<std::string> needs = {"cluster " + clusters_[test.from],
                                   "cluster " + clusters_[test.to]};
    if (!is_virtual_)
      for (const auto* hosts : {&test.task.sources, &test.task.targets})
        for (const std::uint32_t host : *hosts)
          needs.insert(base::interface_of(plan.hosts[host].address));
    std::size_t round = 0;
    const auto is_free = [&](const std::string& need) { return !taken[round].contains(need); };
    while (round < taken.size() && !std::all_of(needs.begin(), needs.end(), is_free)) ++round;
    if (round == taken.size()) {
      taken.emplace_back();
      rounds_.emplace_back();
    }
    taken[round].insert(needs.begin(), needs.end());
    rounds_[round].push_back(number);
  }
}

/// Estimates the duration and the traffic of all tests, and prints them. For links whose figures
/// the config does not state, assumes default values.
void NetworkMeasurement::say_cost(const paths::Plan& plan) {
  bool is_guess = false;
  for (const auto& round : rounds_) {
    Nanos longest{0};
    for (const std::size_t number : round) {
      const Test& test = tests_[number];
      const std::uint32_t from = test.task.sources.front(), to = test.task.targets.front();
      paths::WayCost way = paths::cost_of(plan, from, to);
      const bool is_reported = way.latency > 0ns || way.bits_per_second > 0;
      is_guess = is_guess || !is_reported;
      if (!is_reported)
        way = test.from == test.to ? paths::WayCost{1e9, 100us} : paths::WayCost{1e8, 10ms};
      Cost cost = cost_of(test.task, way.latency, way.bits_per_second,
                          is_reported ? streams_carried(plan, test.task, way.bits_per_second) : 1);
      if (has_costs_ && way.latency < frames_measured_below) {
        const Cost frames =
            cost_of_frames(way.latency, way.bits_per_second, frame_bytes_, is_virtual_);
        cost.time += frames.time;
        cost.bytes += frames.bytes;
      }
      longest = std::max(longest, cost.time);
      expected_.bytes += cost.bytes;
    }
    expected_.time += longest;
  }
  if (has_costs_ && !is_virtual_)
    expected_.time += expected_time_without_links(plan, hosts_, cores_);
  if (is_speaking_ && !options_.output.empty())
    base::say(
        fmt::format("measure: {} links and networks in {} rounds: about {:.0f} s and {:.1f} "
                    "MB{}\n",
                    tests_.size(), rounds_.size(), seconds(expected_.time), expected_.bytes / 1e6,
                    is_guess ? ", if links without figures in the config have 10 ms and 100 Mbit "
                               "between clusters, 100 us and 1 Gbit inside"
                             : ""));
  const std::string price = is_virtual_ ? "" : encryption_text(plan);
  if (is_speaking_ && !options_.output.empty() && !price.empty())
    base::say(fmt::format("measure: encryption: {}\n", price));
}

void NetworkMeasurement::run(paths::Thread& thread) {
  if (thread.index() != 0) return;
  const auto group = thread.host().lanes().group("measure", hosts_);
  const std::uint32_t self = thread.host().index(), first = hosts_.front();
  if (self == first && has_costs_) measure_work_of(thread);
  for (std::size_t round = 0; round < rounds_.size(); ++round) {
    if (self == first) {
      for (const std::uint32_t host : hosts_)
        if (host != first)
          group->send(host, rounds_channel, base::Payload::of(Orders{has_costs_, cores_}));
    } else {
      const auto orders = patiently(group->receive(first, rounds_channel)).read<Orders>();
      has_costs_ = orders.has_costs;
      cores_ = orders.cores;
    }
    take_part(thread, *group, round);
    if (self == first) collect(*group, round);
  }
  if (self == first) {
    network_.costs = costs_.costs(old_ ? old_->costs : std::nullopt);
    if (network_.costs && cores_ > 0) network_.costs->cores = cores_;
  }
  if (!is_virtual_) measure_wake_up(thread, *group);
  group->leave();
}

/// Measures how long the hosts of the largest cluster need to wake up. Keeps the old figure if
/// - hosts are on several machines,
/// - the cluster has a single host, or
/// - the costs of frames or the latency inside the cluster were not measured.
void NetworkMeasurement::measure_wake_up(paths::Thread& thread, paths::MessageGroup& group) {
  if (!has_costs_ || cores_ == 0) return;
  const paths::Plan& plan = thread.host().plan();
  const std::vector<std::uint32_t> hosts = largest_cluster(plan, hosts_);
  if (hosts.size() < 2) return;
  const std::uint32_t self = thread.host().index(), first = hosts_.front(), leader = hosts.front();
  Nanos step{0};
  if (std::find(hosts.begin(), hosts.end(), self) != hosts.end())
    step = measure_step(thread, hosts);
  if (self == leader && self != first) group.send(first, rounds_channel, base::Payload::of(step));
  if (self != first) return;
  if (self != leader) step = patiently(group.receive(leader, rounds_channel)).read<Nanos>();
  const auto& cluster = network_.clusters[plan.hosts[leader].cluster];
  if (!network_.costs || !cluster.network) return;
  const auto frames = network_.costs->between(cluster.name, cluster.name);
  if (frames == nullptr) return;
  network_.costs->wake_up =
      wake_up_of(step, hosts.size(), cores_, cluster.network->latency, *frames);
  if (!options_.output.empty())
    base::say(fmt::format("measure: {}: hosts need {} to wake up\n", cluster.name,
                          base::format_time(network_.costs->wake_up)));
}

void NetworkMeasurement::take_part(paths::Thread& thread, paths::MessageGroup& group,
                                   std::size_t round) {
  const std::uint32_t self = thread.host().index(), first = hosts_.front();
  for (const std::size_t number : rounds_[round]) {
    const LinkTask& task = tests_[number].task;
    const auto is_among = [self](const std::vector<std::uint32_t>& hosts) {
      return std::find(hosts.begin(), hosts.end(), self) != hosts.end();
    };
    if (!is_among(task.sources) && !is_among(task.targets)) continue;
    const std::uint32_t initiator = task.sources.front();
    if (self != initiator) return help(thread, group, initiator);
    Bursts bursts(thread, group,
                  is_one_clock_ && (is_virtual_ || have_our_clock(thread, group, task.targets)));
    const Figures figures = measure(bursts, task);
    bursts.release(task.sources);
    bursts.release(task.targets);
    if (self == first)
      take(tests_[number], figures);
    else
      group.send(first, rounds_channel, base::Payload::of(figures));
    return;
  }
}

NetworkMeasurement::Figures NetworkMeasurement::measure(Bursts& bursts,
                                                        const LinkTask& task) const {
  Figures figures{.link = measure_link(bursts, task), .frames = {}};
  figures.has_frames =
      has_costs_ && figures.link.is_usable && figures.link.latency < frames_measured_below;
  if (!figures.has_frames) return figures;
  const Nanos began = bursts.thread().now();
  const std::uint64_t bytes = bursts.bytes();
  figures.frames = measure_frames(bursts, task.targets.front(), frame_bytes_);
  figures.link.took += bursts.thread().now() - began;
  figures.link.bytes += bursts.bytes() - bytes;
  return figures;
}

/// Measures folds and copies on this host, and adds the results to costs_. On the virtual clock,
/// adds the costs that the config states instead of measuring them.
void NetworkMeasurement::measure_work_of(paths::Thread& thread) {
  const paths::Plan& plan = thread.host().plan();
  if (!is_virtual_)
    costs_.add(measure_work(thread), plan.hosts[thread.host().index()].speed);
  else if (plan.costs != nullptr)
    costs_.add({.fold_nanos_per_byte = plan.costs->fold_nanos_per_byte,
                .copy_nanos_per_byte = plan.costs->copy_nanos_per_byte,
                .is_usable = true},
               1);
}

void NetworkMeasurement::collect(paths::MessageGroup& group, std::size_t round) {
  for (const std::size_t number : rounds_[round]) {
    const std::uint32_t initiator = tests_[number].task.sources.front();
    if (initiator != hosts_.front())
      take(tests_[number], patiently(group.receive(initiator, rounds_channel)).read<Figures>());
  }
}

std::string NetworkMeasurement::name_of(const Test& test) const {
  return test.from == test.to ? clusters_[test.from]
                              : clusters_[test.from] + " to " + clusters_[test.to];
}

/// Returns the sum of the latencies of the networks inside clusters that messages of the test pass
/// before and after the link.
Nanos NetworkMeasurement::latency_of_networks(const Test& test) const {
  const auto of = [&](std::uint32_t cluster) {
    const auto& network = network_.clusters[cluster].network;
    return network ? network->latency : declared_[cluster];
  };
  return ((test.networks & of_source) != 0 ? of(test.from) : Nanos(0)) +
         ((test.networks & of_target) != 0 ? of(test.to) : Nanos(0));
}

/// Returns whether the streams together use the full rate of all source hosts, or of all target
/// hosts. In that case, the link may be able to carry more streams.
bool NetworkMeasurement::fills_hosts(const Test& test, const tuning::MeasuredLink& link) const {
  constexpr double nearly = 0.9;
  const double rate = static_cast<double>(link.streams) * link.bits_per_second;
  const auto fills = [&](std::uint32_t cluster, std::size_t hosts) {
    const auto& network = network_.clusters[cluster].network;
    return network && network->bits_per_second > 0 &&
           rate >= nearly * network->bits_per_second * static_cast<double>(hosts);
  };
  return fills(test.from, test.task.sources.size()) || fills(test.to, test.task.targets.size());
}

void NetworkMeasurement::take(const Test& test, const Figures& figures) {
  const LinkFigures& measured = figures.link;
  ++measured_;
  bytes_ += measured.bytes;
  tuning::MeasuredLink link;
  link.latency = std::max(Nanos(0), measured.latency - latency_of_networks(test));
  link.latency_spread = measured.latency_spread;
  link.bits_per_second = measured.bits_per_second;
  link.bandwidth_spread = measured.bandwidth_spread;
  link.streams = measured.streams;
  link.is_least = test.from != test.to && (measured.is_least || fills_hosts(test, link));
  if (has_costs_) separate_costs(test, figures.frames, link);
  if (!measured.is_usable)
    (test.from == test.to ? unmeasured_networks_ : unmeasured_).push_back(name_of(test));
  else if (test.from == test.to)
    network_.clusters[test.from].network = link;
  else
    network_.links[{clusters_[test.from], clusters_[test.to]}] = link;
  if (options_.output.empty()) return;
  base::say(fmt::format("measure: {} of {}: {}: {} ({:.1f} s, {:.1f} MB)\n", measured_,
                        tests_.size(), name_of(test),
                        measured.is_usable ? describe(link) + limit_text(test.is_encrypted, link)
                                           : "not measured: machine busy",
                        seconds(measured.took), static_cast<double>(measured.bytes) / 1e6));
  if (figures.has_frames)
    base::say(fmt::format("measure: {}: {}\n", name_of(test),
                          figures.frames.is_usable
                              ? "hosts need " + describe(figures.frames.costs())
                              : "costs of hosts not measured: machine busy"));
  if (figures.has_frames && figures.frames.is_usable)
    base::say(paper_lines(name_of(test), figures.frames.costs(), link, frame_bytes_));
}

void NetworkMeasurement::separate_costs(const Test& test, const FrameFigures& frames,
                                        tuning::MeasuredLink& link) {
  costs_.add(clusters_[test.from], clusters_[test.to], frames);
  const Nanos of_hosts =
      frames.is_usable ? frames.costs_of_one_byte() : costs_.largest_costs_of_one_byte();
  link.latency = std::max(Nanos(0), link.latency - (1 + test.gateways) * of_hosts);
  if (frames.are_hosts_slower) link.bits_per_second = link.bandwidth_spread = 0;
}

/// Replaces the figures of links and networks that could not be measured by their old figures.
/// Returns descriptions of the figures that changed.
std::vector<std::string> NetworkMeasurement::keep_old(const tuning::MeasuredNetwork& old) {
  for (auto& cluster : network_.clusters)
    for (const auto& before : old.clusters)
      if (cluster.name == before.name && !cluster.network &&
          std::find(unmeasured_networks_.begin(), unmeasured_networks_.end(), cluster.name) !=
              unmeasured_networks_.end())
        cluster.network = before.network;
  for (const auto& from : clusters_)
    for (const auto& to : clusters_)
      if (const auto before = old.links.find({from, to}); before != old.links.end())
        network_.links.emplace(before->first, before->second);
  return changes(old, network_);
}

void NetworkMeasurement::finish(const paths::RunSummary& run) {
  if (!is_speaking_ || options_.output.empty()) return;
  std::vector<std::string> changed;
  if (has_costs_ && !network_.costs)
    base::say(
        "measure: no costs of hosts: no network or link with a latency below 1 ms could be "
        "measured\n");
  if (old_) changed = keep_old(*old_);
  const std::size_t all = clusters_.size() * (clusters_.size() - 1);
  if (network_.links.size() == all) {
    const std::string of = run.plan.clusters.empty()
                               ? "a config"
                               : fmt::format("{}", fmt::join(run.plan.clusters, ", "));
    base::write_file(options_.output, tuning::print(network_, of));
  }
  for (const std::string& line : changed) base::say("measure: changed: " + line + "\n");
  if (old_ && changed.empty()) base::say("measure: nothing has changed\n");
  if (!unmeasured_.empty())
    throw std::runtime_error(fmt::format(
        "not measured, because the machine was busy: {}; {}", fmt::join(unmeasured_, ", "),
        network_.links.size() == all ? "the file keeps their old figures" : "nothing is written"));
}

}  // namespace commands
