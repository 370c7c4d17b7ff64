// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/sample_run.hpp — records of an invented run in which all times are known.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"

namespace eventspace::sample {

constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000'000;

struct Noise {
  std::uint32_t thread = 0;
  std::int64_t nanos = 0;
  std::int64_t period_nanos = 0;
  std::int64_t first_nanos = 0;
};

/// Properties of an invented run of the algorithm `sequential`, which uses one tree. Each host has
/// a join of its threads. The first host of each cluster has a join of the cluster. The first host
/// of the first cluster also has the join of all clusters. The other clusters send through a
/// gateway, over one emulated link in each direction.
struct Options {
  std::vector<std::string> clusters = {"alpha", "beta"};
  std::uint32_t hosts = 4;  ///< number of hosts in each cluster, without the gateway
  std::uint32_t threads = 2;
  std::uint32_t passed_through = 0;  ///< number of wrappers without effect before each host's join
  std::int64_t computation = 30 * ms;
  std::int64_t lan = 50 * us;  ///< time of a message inside a cluster
  std::int64_t wan = 5 * ms;   ///< declared latency of the links between clusters
  std::int64_t join = 1 * us;
  std::int64_t store = 3 * us;
  // The members from here to `broadcast_delay` are causes of delays.
  //
  // Factor of a host's computation time. Key: name of the host.
  std::map<std::string, double> slow_hosts = {};
  std::vector<Noise> noise = {};
  /// Factor of a link's latency. Key: name of the link, such as "wan.beta.alpha".
  std::map<std::string, double> slow_links = {};
  /// Time by which a join delays its replies to other hosts. Key: name of the join.
  std::map<std::string, std::int64_t> late_replies = {};
  /// Additional time of a host's messages to the next host, in each direction. Key: name of the
  /// host.
  std::map<std::string, std::int64_t> slow_forwards = {};
  std::int64_t broadcast_delay = 0;  ///< delay of each result in an emulated link at the root
  /// Returns the time that natural variation adds to a computation.
  std::function<std::int64_t(std::uint32_t thread, std::uint64_t iteration)> jitter = {};
  bool names_the_last = true;
  bool has_common_clock = false;  ///< true = all hosts use one clock; false = each host has a clock
};

class Run {
 public:
  explicit Run(Options options) : options_(std::move(options)) {
    add_hosts();
    add_trees();
    free_at_.assign(threads_.size(), 0);
    noise_met_.assign(threads_.size(), 0);
    records_.resize(structure.hosts.size());
  }

  Structure structure;

  /// Simulates the next round and returns its records, indexed by host. Each record has times of
  /// its host's clock.
  std::vector<std::vector<EventRecord>>& next_round() {
    for (auto& records : records_) records.clear();
    walks_.clear();
    arrived_.clear();
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      const std::int64_t undisturbed = compute(thread, free_at_[thread]);
      const std::int64_t end = disturbed(thread, free_at_[thread], undisturbed);
      noise_met_[thread] += end - undisturbed;
      go_down(thread, end);
    }
    for (auto walk = walks_.rbegin(); walk != walks_.rend(); ++walk) go_up(*walk);
    for (auto& records : records_) {
      std::stable_sort(records.begin(), records.end(),
                       [](const auto& a, const auto& b) { return a.up_nanos < b.up_nanos; });
    }
    ++sequence_;
    return records_;
  }

  /// Returns the time that noise has added to computations of the thread. Noise that occurs while
  /// the thread waits adds no time.
  std::int64_t noise_met(std::uint32_t thread) const { return noise_met_[thread]; }

  /// Returns one record per thread with the thread's begin and end, indexed by host. A host makes
  /// these records when its threads end.
  std::vector<std::vector<EventRecord>>& thread_records() {
    for (auto& records : records_) records.clear();
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      const std::uint32_t host = threads_[thread].host;
      EventRecord record;
      record.place = thread;
      record.kind = static_cast<std::uint64_t>(EventKind::thread);
      record.down_nanos = clock(host, 0);
      record.up_nanos = clock(host, free_at_[thread]);
      records_[host].push_back(record);
    }
    return records_;
  }

 private:
  struct ThreadPlace {
    std::uint32_t host = 0;
    std::uint32_t slot = 0;
    std::uint32_t stage = no_stage;
  };
  struct Step {
    std::uint32_t stage = 0;
    std::uint32_t slot = 0;
    // Index of a collector's record among the records of its host.
    std::size_t record = none_;
    std::int64_t came = 0;
  };
  struct Walk {
    std::uint32_t thread = 0;
    std::vector<Step> steps;
    // Time at which the operation has reached the end of its path, and begins its way up.
    std::int64_t turned = 0;
    // Stage of the join in which the contribution waits; no_stage if it does not wait.
    std::uint32_t waits_in = no_stage;
    std::uint32_t slot = 0;  // slot of the contribution in that join
  };
  struct Arrivals {
    std::uint32_t count = 0;
    std::int64_t latest = 0;
    std::int64_t answered = 0;
    // Records of the arrivals: each entry is a host, and an index among the records of that host.
    std::vector<std::pair<std::uint32_t, std::size_t>> records;
  };
  static constexpr std::size_t none_ = ~std::size_t{0};
  static constexpr const char* hold_name_ = "sum.broadcast_delay.alpha";

  /// Converts a time to the clock of a host. Each host has a clock of its own. No result of the
  /// analysis may depend on the differences between the clocks.
  std::int64_t clock(std::uint32_t host, std::int64_t time) const {
    if (options_.has_common_clock) return time;
    return time + 1'000'000'000LL * (host * 7919 % 101);
  }

  // Structure of the run.

  void add_hosts() {
    std::uint32_t rank = 0;
    for (std::uint32_t cluster = 0; cluster < options_.clusters.size(); ++cluster) {
      structure.clusters.push_back(options_.clusters[cluster]);
      for (std::uint32_t host = 0; host < options_.hosts; ++host) {
        structure.hosts.push_back({host_name(cluster, host), cluster, rank, options_.threads});
        rank += options_.threads;
      }
      structure.hosts.push_back({options_.clusters[cluster] + "-gateway", cluster, rank, 0});
    }
  }
  std::string host_name(std::uint32_t cluster, std::uint32_t host) const {
    return options_.clusters[cluster] + "-" + std::to_string(host);
  }
  std::uint32_t host_number(std::uint32_t cluster, std::uint32_t host) const {
    return cluster * (options_.hosts + 1) + host;
  }

  std::uint32_t add_wrapper(std::string kind, std::uint32_t host, std::string name = "",
                            std::uint32_t slots = 1, std::string settings = "") {
    const auto line = structure.wrappers.size() + 1;
    structure.wrappers.push_back({std::move(name), std::move(kind), host, slots,
                                  std::move(settings),
                                  "sample.yaml:" + std::to_string(line) + ":3"});
    set_job_by_kind(structure.wrappers.back());
    return static_cast<std::uint32_t>(structure.wrappers.size() - 1);
  }
  /// Adds a stage above `below`, and an event collector above the new stage. Returns the stage of
  /// the collector.
  std::uint32_t put(std::uint32_t wrapper, std::uint32_t below, std::uint32_t slot,
                    std::uint32_t role, std::uint32_t slots) {
    structure.stages.push_back({wrapper, below, slot, role});
    const auto stage = static_cast<std::uint32_t>(structure.stages.size() - 1);
    return collect(structure.wrappers[wrapper].host, stage, 0, slots);
  }
  std::uint32_t collect(std::uint32_t host, std::uint32_t below, std::uint32_t slot,
                        std::uint32_t slots) {
    const std::uint32_t wrapper = add_wrapper("event_collector", host, "", slots);
    structure.stages.push_back({wrapper, below, slot, 0});
    return static_cast<std::uint32_t>(structure.stages.size() - 1);
  }
  /// Adds the stage of a join. Each path that enters the join has a collector of its own above it.
  std::uint32_t put_join(std::string name, std::uint32_t host, std::uint32_t slots,
                         std::uint32_t below) {
    const std::uint32_t wrapper = add_wrapper("allreduce", host, std::move(name), slots);
    structure.stages.push_back({wrapper, below, 0, 0});
    return static_cast<std::uint32_t>(structure.stages.size() - 1);
  }
  std::uint32_t put_link(const std::string& name, std::uint32_t host, std::uint32_t role,
                         std::uint32_t below) {
    const auto found = links_.find(name);
    const std::uint32_t wrapper =
        found != links_.end() ? found->second
                              : add_wrapper("emulate_link", host, name, 1,
                                            "latency: " + std::to_string(options_.wan) + "ns");
    links_[name] = wrapper;
    return put(wrapper, below, 0, role, 1);
  }

  void add_trees() {
    const auto clusters = static_cast<std::uint32_t>(options_.clusters.size());
    const std::uint32_t root = host_number(0, 0);
    std::uint32_t store = put(add_wrapper("store", root), no_stage, 0, 0, 1);
    if (options_.broadcast_delay > 0)
      store = put(add_wrapper("emulate_link", root, hold_name_), store, 0, 1, 1);
    const std::uint32_t all = put_join("sum.join", root, clusters, store);
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      std::uint32_t below = collect(root, all, cluster, 1);
      if (cluster > 0) below = add_crossing(cluster, below);
      add_cluster(cluster, below);
    }
    for (std::uint32_t path = 0; path < structure.paths.size(); ++path) {
      for (std::uint32_t slot = 0; slot < options_.threads; ++slot)
        threads_.push_back({structure.paths[path].host, slot, structure.paths[path].stage});
    }
  }
  std::uint32_t add_crossing(std::uint32_t cluster, std::uint32_t below) {
    const std::string& here = options_.clusters[cluster];
    const std::string& there = options_.clusters[0];
    const std::uint32_t gateway = host_number(cluster, options_.hosts);
    below = put_link("wan." + there + "." + here, host_number(0, 0), 1, below);
    below = put(add_wrapper("forward", gateway, "", 1, "to: " + host_name(0, 0)), below, 0, 0, 1);
    below = put_link("wan." + here + "." + there, gateway, 0, below);
    const std::uint32_t from = host_number(cluster, 0);
    return put(add_wrapper("forward", from, "", 1, "to: " + here + "-gateway"), below, 0, 0, 1);
  }
  void add_cluster(std::uint32_t cluster, std::uint32_t below) {
    const std::string name = "sum.join." + options_.clusters[cluster];
    const std::uint32_t join = put_join(name, host_number(cluster, 0), options_.hosts, below);
    for (std::uint32_t host = 0; host < options_.hosts; ++host) {
      const std::uint32_t here = host_number(cluster, host);
      std::uint32_t way = collect(host_number(cluster, 0), join, host, 1);
      if (host > 0)
        way =
            put(add_wrapper("forward", here, "", 1, "to: " + host_name(cluster, 0)), way, 0, 0, 1);
      way = put_join("sum.join." + host_name(cluster, host), here, options_.threads, way);
      way = collect(here, way, 0, options_.threads);
      for (std::uint32_t number = 0; number < options_.passed_through; ++number)
        way = put(add_wrapper("relay", here, "", options_.threads), way, 0, 0, options_.threads);
      structure.paths.push_back({"sum", here, 0, options_.threads, 0, way});
    }
  }

  // Times of the run.

  std::int64_t compute(std::uint32_t thread, std::int64_t begin) const {
    const std::string& host = structure.hosts[threads_[thread].host].name;
    const auto slow = options_.slow_hosts.find(host);
    const double factor = slow == options_.slow_hosts.end() ? 1 : slow->second;
    auto end =
        begin + static_cast<std::int64_t>(static_cast<double>(options_.computation) * factor);
    if (options_.jitter) end += options_.jitter(thread, sequence_);
    return end;
  }
  std::int64_t disturbed(std::uint32_t thread, std::int64_t begin, std::int64_t end) const {
    std::int64_t later = end;
    for (const Noise& noise : options_.noise) {
      if (noise.thread != thread) continue;
      const std::int64_t period = noise.period_nanos;
      const std::int64_t before = std::max<std::int64_t>(0, begin - noise.first_nanos);
      std::int64_t tick = noise.first_nanos + (before + period - 1) / period * period;
      for (; tick < end; tick += period) later += noise.nanos;
    }
    return later;
  }

  const Structure::Wrapper& wrapper(std::uint32_t stage) const {
    return structure.wrapper_of(stage);
  }
  /// Returns the time that an operation spends in a wrapper on the way down (`is_down`) or up.
  std::int64_t cost(std::uint32_t stage, bool is_down) const {
    const Structure::Wrapper& one = wrapper(stage);
    if (one.kind == "store") return is_down ? options_.store : 0;
    if (one.kind == "allreduce") return is_down ? options_.join : 0;
    if (one.kind == "forward") {
      const auto slow = options_.slow_forwards.find(structure.hosts[one.host].name);
      return options_.lan + (slow == options_.slow_forwards.end() ? 0 : slow->second);
    }
    if (one.kind != "emulate_link" || is_down == (structure.stages[stage].role == 1)) return 0;
    if (one.name == hold_name_) return options_.broadcast_delay;
    const auto slow = options_.slow_links.find(one.name);
    const double factor = slow == options_.slow_links.end() ? 1 : slow->second;
    return static_cast<std::int64_t>(static_cast<double>(options_.wan) * factor);
  }

  void go_down(std::uint32_t thread, std::int64_t time) {
    Walk walk;
    walk.thread = thread;
    std::uint32_t stage = threads_[thread].stage;
    std::uint32_t slot = threads_[thread].slot;
    while (stage != no_stage) {
      const bool joins = wrapper(stage).kind == "allreduce";
      if (joins && !arrive(walk, stage, slot, time)) break;
      if (wrapper(stage).kind == "event_collector") {
        walk.steps.push_back({stage, slot, pass(stage, slot, time), time});
      } else {
        walk.steps.push_back({stage, slot, none_, time});
        time += cost(stage, true);
      }
      slot = structure.stages[stage].slot + (joins ? 0 : slot);
      stage = structure.stages[stage].below;
    }
    walk.turned = time;
    walks_.push_back(std::move(walk));
  }
  std::size_t pass(std::uint32_t stage, std::uint32_t slot, std::int64_t time) {
    const std::uint32_t host = wrapper(stage).host;
    EventRecord record;
    record.place = stage;
    record.slot = slot;
    record.sequence = sequence_;
    record.kind = 1;
    record.down_nanos = clock(host, time);
    record.bytes = 8;
    records_[host].push_back(record);
    return records_[host].size() - 1;
  }
  /// Records the arrival of a contribution at the join at `stage`. Returns whether the contribution
  /// is the last to arrive. If so, it continues down the path, and `time` is set to its arrival.
  bool arrive(Walk& walk, std::uint32_t stage, std::uint32_t slot, std::int64_t& time) {
    Arrivals& arrivals = arrived_[stage];
    const std::uint32_t host = wrapper(stage).host;
    arrivals.records.emplace_back(host, walk.steps.back().record);
    arrivals.latest = std::max(arrivals.latest, time);
    if (++arrivals.count < wrapper(stage).slots) {
      walk.waits_in = stage;
      walk.slot = slot;
      return false;
    }
    time = arrivals.latest;
    if (options_.names_the_last) {
      for (const auto& [at, place] : arrivals.records) {
        if (records_[at][place].down_nanos != clock(at, time)) continue;
        records_[at][place].flags = event_last_arriver;
        break;
      }
    }
    return true;
  }

  std::int64_t departure(std::uint32_t join, std::uint32_t slot) const {
    const auto late = options_.late_replies.find(wrapper(join).name);
    return late == options_.late_replies.end() || slot == 0 ? 0 : late->second;
  }
  void go_up(const Walk& walk) {
    std::int64_t time = walk.turned;
    if (walk.waits_in != no_stage)
      time = arrived_[walk.waits_in].answered + departure(walk.waits_in, walk.slot);
    for (auto step = walk.steps.rbegin(); step != walk.steps.rend(); ++step) {
      const std::uint32_t host = wrapper(step->stage).host;
      if (step->record != none_) {
        records_[host][step->record].up_nanos = clock(host, time);
        continue;
      }
      time += cost(step->stage, false);
      if (wrapper(step->stage).kind != "allreduce") continue;
      arrived_[step->stage].answered = time;
      time += departure(step->stage, step->slot);
    }
    free_at_[walk.thread] = time;
  }

  Options options_;
  std::vector<ThreadPlace> threads_;
  std::map<std::string, std::uint32_t> links_;
  std::vector<std::int64_t> free_at_;
  std::vector<std::int64_t> noise_met_;
  std::uint64_t sequence_ = 0;
  std::vector<std::vector<EventRecord>> records_;
  std::vector<Walk> walks_;
  std::map<std::uint32_t, Arrivals> arrived_;
};

/// Adds the records of the next `rounds` rounds to the analysis.
inline void add_rounds(Analysis& analysis, Run& run, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto& records = run.next_round();
    for (std::uint32_t host = 0; host < records.size(); ++host) analysis.add(host, records[host]);
  }
}

/// Adds the first `rounds` rounds of a run to an analysis and returns the report.
inline Report analyse_rounds(Run& run, std::uint64_t rounds) {
  Analysis analysis(run.structure);
  add_rounds(analysis, run, rounds);
  return analysis.finish();
}

/// Adds wrappers that form a path: the stage of each wrapper is below the stage of the wrapper
/// before it. Returns the first stage.
inline std::uint32_t add_stages(Structure& structure, const std::vector<Structure::Wrapper>& all) {
  const auto first = static_cast<std::uint32_t>(structure.stages.size());
  for (const Structure::Wrapper& wrapper : all) {
    const auto number = static_cast<std::uint32_t>(structure.stages.size());
    structure.wrappers.push_back(wrapper);
    set_job_by_kind(structure.wrappers.back());
    structure.stages.push_back({number, number + 1, 0, 0});
  }
  structure.stages.back().below = no_stage;
  return first;
}

}  // namespace eventspace::sample
