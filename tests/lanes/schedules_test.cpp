// SPDX-License-Identifier: Apache-2.0
// tests/lanes/schedules_test.cpp — schedules over lanes of configs that ship take what prices say.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "collectives/algorithms/all.hpp"
#include "groups/network_of.hpp"
#include "paths/config/config.hpp"
#include "pricing/admission.hpp"
#include "pricing/evaluator.hpp"
#include "tests/support/lane_hosts.hpp"
#include "wrappers/all.hpp"

namespace {

using namespace collectives;
using namespace std::chrono_literals;
using test_support::LaneHosts;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr base::Nanos begin = 100ms;

/// A participant that hands over one message at a time, its oldest step that is free of hazards.
class Participant {
 public:
  Participant(runtime::Runtime& runtime, paths::LaneGroup& group, Program program)
      : group_(group), steps_(std::move(program), 256), waits_(runtime) {}

  void run() {
    for (;;) {
      admit();
      if (steps_.is_done()) return;
      std::optional<std::size_t> ended = waits_.any();
      for (; ended; ended = waits_.try_any()) {
        is_sending_ = is_sending_ && sending_ != *ended;
        steps_.finish(of_.at(*ended), free_);
      }
    }
  }

 private:
  /// Of all messages between two hosts on a channel the k-th goes to the k-th.
  std::uint64_t lane_channel(const pricing::Admitted& step) {
    std::uint64_t& ordinal = ordinals_[{step.action, step.peer, step.channel}];
    return (std::uint64_t{step.channel} << 16) + ordinal++;
  }

  void admit() {
    do {
      while (const std::optional<pricing::Slot> slot = steps_.admit()) {
        channels_[*slot] = lane_channel(steps_[*slot]);
        if (steps_.is_free(*slot)) free_.push_back(*slot);
      }
      for (std::size_t next = 0; next < free_.size(); ++next) begin_step(free_[next]);
      free_.clear();
      if (!is_sending_ && !ready_.empty()) send();
    } while (!free_.empty());
  }

  void begin_step(pricing::Slot slot) {
    const pricing::Admitted& step = steps_[slot];
    if (step.action == Action::send)
      ready_[step.number] = slot;
    else if (step.action == Action::receive)
      of_[waits_.add(group_.receive(step.peer, channels_[slot]))] = slot;
    else
      steps_.finish(slot, free_);
  }

  void send() {
    const pricing::Slot slot = ready_.begin()->second;
    ready_.erase(ready_.begin());
    const pricing::Admitted& step = steps_[slot];
    is_sending_ = true;
    sending_ = waits_.add(group_.send(step.peer, channels_[slot],
                                      base::Payload::filled(step.elements, [](auto bytes) {
                                        std::fill(bytes.begin(), bytes.end(), std::byte{0});
                                      })));
    of_[sending_] = slot;
  }

  paths::LaneGroup& group_;
  pricing::Admission steps_;
  runtime::WaitSet waits_;
  std::vector<pricing::Slot> free_;
  std::map<std::uint64_t, pricing::Slot> ready_;  // by the step's number
  std::map<std::size_t, pricing::Slot> of_;
  std::map<pricing::Slot, std::uint64_t> channels_;
  std::map<std::tuple<Action, Rank, Channel>, std::uint64_t> ordinals_;
  bool is_sending_ = false;
  std::size_t sending_ = 0;
};

std::shared_ptr<paths::Plan> plan_of(const std::string& config, std::uint64_t frame_bytes) {
  auto plan = std::make_shared<paths::Plan>(
      paths::load_plan(PATHS_SOURCE_DIR "/configs/" + config, wrappers::all_kinds()));
  plan->lanes.frame_bytes = frame_bytes;
  return plan;
}

/// Of a collective of 1 MiB over all hosts of a plan, with windows that hold it.
std::int64_t time_over_lanes(const std::shared_ptr<paths::Plan>& plan, Collective collective,
                             const std::string& name, const std::string& parameters,
                             const std::vector<std::size_t>& clusters) {
  const auto topology = std::make_shared<const Topology>(Topology::clustered(clusters));
  const Algorithm& algorithm = algorithm_named(name);
  const Task task = make_task(collective, topology, mebibyte);
  std::vector<Program> programs = pricing::programs_of(algorithm, task, algorithm.read(parameters));
  base::Nanos end{0};
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
  runtime.run([&] {
    LaneHosts hosts(runtime, plan);
    std::vector<runtime::Task> tasks;
    for (std::uint32_t host = 0; host < hosts.size(); ++host)
      tasks.push_back(runtime.spawn(runtime::ContextRole::thread, {"thread", "", host}, [&, host] {
        const auto group = hosts[host].group("all", hosts.all(), {.window_bytes = 32 * mebibyte});
        runtime.sleep_until(begin);
        Participant(runtime, *group, std::move(programs[host])).run();
        end = std::max(end, runtime.now());
        group->leave();
      }));
    for (auto& one : tasks) one.join();
  });
  return (end - begin).count();
}

}  // namespace

TEST_CASE("schedules: over two-by-four.yaml with whole messages they take what is known") {
  struct Row {
    Collective collective;
    std::string algorithm, parameters;
    std::int64_t microseconds_tenths;
  };
  const auto broadcast = Collective::broadcast, allreduce = Collective::allreduce;
  const std::vector<Row> rows{
      {broadcast, "tree", "shape=binomial", 261'7582},
      {broadcast, "farfirst", "allgather=doubling", 219'9152},
      {broadcast, "modified_van_de_geijn", "senders=1,allgather=doubling", 261'8582},
      {broadcast, "modified_van_de_geijn", "senders=4,allgather=doubling", 163'1921},
      {broadcast, "tree", "shape=chain,segment=16384", 102'0504},
      {allreduce, "recursive_doubling", "", 286'9241},
      {allreduce, "rabenseifner", "reduce_scatter=ring,allgather=ring", 187'3006},
      {allreduce, "two_tier", "reduce_scatter=halving,allgather=doubling", 345'9443},
      {allreduce, "modified_rabenseifner", "senders=2,reduce_scatter=halving,allgather=doubling",
       180'1193},
      {allreduce, "clusters", "", 597'3026},
      {allreduce, "stretched", "stretch=65536,exchange=all", 153'3117},
  };
  const auto plan = plan_of("two-by-four.yaml", 0);
  for (const Row& row : rows) {
    const std::int64_t time =
        time_over_lanes(plan, row.collective, row.algorithm, row.parameters, {4, 4});
    INFO(row.algorithm << ' ' << row.parameters << ": " << time << " ns");
    CHECK((time + 50) / 100 == row.microseconds_tenths);
  }
}

/// But for frames of several hosts that tie at a switch, which lanes serve in the order they come
/// and prices in that of their sources.
TEST_CASE("schedules: in frames they take over lanes what prices of the same config say") {
  for (const std::string config : {"two-by-four.yaml", "three-by-four.yaml"}) {
    const auto plan = plan_of(config, 64 << 10);
    const pricing::Network network = groups::network_of(*plan);
    for (const auto& [collective, name, parameters] :
         {std::tuple(Collective::broadcast, "stretched", "stretch=65536"),
          std::tuple(Collective::broadcast, "tree", "shape=chain,segment=65536"),
          std::tuple(Collective::allreduce, "stretched", "stretch=131072,exchange=two"),
          std::tuple(Collective::allreduce, "rabenseifner",
                     "reduce_scatter=ring,allgather=ring")}) {
      const Algorithm& algorithm = algorithm_named(name);
      const Task task = make_task(collective, network.topology, mebibyte);
      const auto price =
          pricing::price(algorithm, task, algorithm.read(parameters), 1, network, {.under_way = 1});
      const std::vector<std::size_t> clusters(network.clusters(), 4);
      const std::int64_t time = time_over_lanes(plan, collective, name, parameters, clusters);
      INFO(config << ", " << name << ' ' << parameters);
      CHECK(time == Approx(static_cast<double>(price.time.count())).epsilon(0.05));
    }
  }
}
