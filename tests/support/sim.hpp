// SPDX-License-Identifier: Apache-2.0
// tests/support/sim.hpp — whole programs on the virtual clock, from the text of a config and a
// thread function.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/plan/finish_plan.hpp"
#include "paths/plan/print_plan.hpp"
#include "paths/run/program.hpp"
#include "tests/support/read_config.hpp"
#include "wrappers/all.hpp"

namespace test_support {

inline constexpr const char* thrown_text = "thrown by the test";

/// Wrapper that throws in one round, on the way down or on the way up.
class Thrower final : public paths::BlockingWrapper {
 public:
  Thrower(bool up, std::uint64_t round, std::int64_t slot) : up_(up), round_(round), slot_(slot) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override {
    const bool is_meant = operation.sequence == round_ && (slot_ < 0 || operation.slot == slot_) &&
                          (operation.kind == paths::OperationKind::move ||
                           operation.kind == paths::OperationKind::newest);
    if (is_meant && !up_) throw std::runtime_error(thrown_text);
    paths::Result result = next(std::move(operation));
    if (is_meant) throw std::runtime_error(thrown_text);
    return result;
  }

 private:
  const bool up_;
  const std::uint64_t round_;
  const std::int64_t slot_;
};

inline paths::WrapperKind thrower_kind() {
  paths::WrapperKind kind;
  kind.name = "thrower";
  kind.help = "Throws in one round.";
  kind.settings = {
      {"way", "word", "down", ""}, {"round", "integer", "0", ""}, {"slot", "integer", "all", ""}};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace&) -> paths::MakeWrapper {
    const bool up = reader.choice("way", {"down", "up"}, "down") == "up";
    const auto round = static_cast<std::uint64_t>(reader.integer("round", 0, 0, 1'000'000));
    const std::int64_t slot = reader.integer("slot", -1, -1, 1'000'000);
    return [=](paths::Deployment&) { return std::make_unique<Thrower>(up, round, slot); };
  };
  return kind;
}

/// Result of Sim::run().
struct SimResult {
  std::vector<std::string> failures;  ///< errors of threads
  std::string broke;                  ///< error of the run itself, for example a deadlock
  base::Nanos end{0};                 ///< time at which the last thread ended
  /// Traffic of each host between clusters (`wan`) and in total (`all`). Indexed by graph, which is
  /// the name of a collective or element, then by host name.
  std::map<std::string, std::map<std::string, paths::Traffic>> wan;
  std::map<std::string, std::map<std::string, paths::Traffic>> all;

  bool ended_well() const { return failures.empty() && broke.empty(); }
  paths::Traffic wan_of(const std::string& graph) const { return sum(wan, graph); }
  paths::Traffic all_of(const std::string& graph) const { return sum(all, graph); }

 private:
  static paths::Traffic sum(
      const std::map<std::string, std::map<std::string, paths::Traffic>>& by_graph,
      const std::string& graph) {
    paths::Traffic total;
    const auto found = by_graph.find(graph);
    if (found == by_graph.end()) return total;
    for (const auto& [host, traffic] : found->second) total += traffic;
    return total;
  }
};

class Sim {
 public:
  /// Reads the config `text`. The wrappers of the config may be of every registered kind, of the
  /// kind `thrower`, and of the kinds in `more`.
  explicit Sim(const std::string& text, const paths::Overrides& overrides = {},
               const std::vector<paths::WrapperKind>& more = {}) {
    for (const paths::WrapperKind& kind : wrappers::all_kinds().all()) kinds_.add(kind);
    kinds_.add(thrower_kind());
    for (const paths::WrapperKind& kind : more) kinds_.add(kind);
    plan_ = std::make_shared<paths::Plan>(
        paths::read_plan(base::parse_settings(text, "test"), kinds_, overrides));
  }

  const paths::Plan& plan() const { return *plan_; }
  std::shared_ptr<const paths::Plan> shared_plan() const { return plan_; }
  const paths::WrapperKinds& kinds() const { return kinds_; }
  std::string low_level() const { return paths::print_plan(*plan_, kinds_); }

  SimResult run(const std::function<void(paths::Thread&)>& thread,
                runtime::ClockKind clock = runtime::ClockKind::virtual_time,
                std::uint64_t seed = 1) const {
    SimResult result;
    runtime::Mutex mutex;
    const auto timed = [&](paths::Thread& one) {
      struct AtEnd {
        paths::Thread& thread;
        SimResult& result;
        runtime::Mutex& mutex;
        ~AtEnd() {
          runtime::Lock lock(mutex);
          result.end = std::max(result.end, thread.now());
        }
      } at_end{one, result, mutex};
      thread(one);
    };
    try {
      result.failures = paths::run_plan(plan_, kinds_, {.clock = clock, .seed = seed}, timed,
                                        [&](const paths::RunSummary& run) { count(run, result); });
    } catch (const std::exception& error) {
      result.broke = error.what();
    } catch (const runtime::Stop& stop) {
      result.broke = stop.what();
    }
    return result;
  }

  /// Does the same as run(), and fails the test case if the run or a thread failed.
  SimResult run_well(const std::function<void(paths::Thread&)>& thread,
                     runtime::ClockKind clock = runtime::ClockKind::virtual_time,
                     std::uint64_t seed = 1) const {
    SimResult result = run(thread, clock, seed);
    CHECK(result.broke == "");
    CHECK(result.failures == std::vector<std::string>{});
    return result;
  }

  /// Position at which with() can insert a wrapper: between two stages, or between a
  /// thread and the first stage of its path.
  struct Place {
    paths::StageId above = paths::no_stage;
    std::uint32_t path = 0;  ///< index of the path; used only if `above` is no_stage
    paths::StageId below = paths::no_stage;
    std::string text;
  };
  std::vector<Place> places() const {
    std::vector<Place> all;
    for (std::uint32_t path = 0; path < plan_->paths.size(); ++path) {
      const paths::StageId first = plan_->paths[path].stage;
      // The first wrapper of a path without threads starts the operations, so nothing can be above
      // it.
      if (plan_->paths[path].threads == 0) continue;
      all.push_back({paths::no_stage, path, first,
                     "above " + describe(first) + " on a path of " +
                         plan_->hosts[plan_->paths[path].host].name});
    }
    for (paths::StageId stage = 0; stage < plan_->stages.size(); ++stage) {
      const paths::StageId below = plan_->stages[stage].below;
      if (below == paths::no_stage) continue;
      all.push_back({stage, 0, below, "between " + describe(stage) + " and " + describe(below)});
    }
    return all;
  }
  std::string describe(paths::StageId stage) const {
    const auto& wrapper = plan_->wrappers[plan_->stages[stage].wrapper];
    return (wrapper.name.empty() ? wrapper.kind : wrapper.name) + " of " +
           plan_->hosts[wrapper.host].name;
  }
  /// Returns the same program with a further wrapper of the kind `kind` at `place`.
  Sim with(const Place& place, const std::string& kind, const std::string& settings) const {
    auto plan = std::make_shared<paths::Plan>(*plan_);
    plan->wrappers.push_back(
        {"", kind, plan->host_of(place.below), base::parse_settings(settings, "test"), 0});
    paths::Plan::PlanStage added;
    added.wrapper = static_cast<std::uint32_t>(plan->wrappers.size() - 1);
    added.below = place.below;
    const auto id = static_cast<paths::StageId>(plan->stages.size());
    if (place.above == paths::no_stage) {
      added.slot = std::exchange(plan->paths[place.path].slot, 0);
      plan->paths[place.path].stage = id;
    } else {
      added.slot = std::exchange(plan->stages[place.above].slot, 0);
      plan->stages[place.above].below = id;
    }
    plan->stages.push_back(added);
    paths::finish_plan(*plan, kinds_);
    return Sim(std::move(plan), kinds_);
  }
  /// Returns the ranks of the threads whose operations pass a place.
  std::set<std::uint32_t> threads_through(const Place& place) const {
    std::set<std::uint32_t> ranks;
    for (std::uint32_t number = 0; number < plan_->paths.size(); ++number) {
      const auto& path = plan_->paths[number];
      if (!passes(number, place)) continue;
      for (std::uint32_t i = 0; i < path.threads; ++i)
        ranks.insert(plan_->hosts[path.host].first_thread + path.first_thread + i);
    }
    return ranks;
  }
  /// Returns whether a path through `place` has a wrapper of the kind `kind` above `place`.
  bool kind_above(const Place& place, const std::string& kind) const {
    for (std::uint32_t number = 0; number < plan_->paths.size(); ++number) {
      if (!passes(number, place)) continue;
      for (paths::StageId stage = plan_->paths[number].stage; stage != place.below;
           stage = plan_->stages[stage].below)
        if (plan_->wrappers[plan_->stages[stage].wrapper].kind == kind) return true;
    }
    return false;
  }
  bool passes(std::uint32_t path, const Place& place) const {
    if (place.above == paths::no_stage) return path == place.path;
    for (paths::StageId stage = plan_->paths[path].stage; stage != paths::no_stage;
         stage = plan_->stages[stage].below)
      if (stage == place.above) return true;
    return false;
  }

 private:
  Sim(std::shared_ptr<paths::Plan> plan, paths::WrapperKinds kinds)
      : kinds_(std::move(kinds)), plan_(std::move(plan)) {}
  static void count(const paths::RunSummary& run, SimResult& result) {
    for (const paths::Host* host : run.hosts)
      for (const auto& graph : run.plan.graphs) {
        result.wan[graph.name][host->name()] =
            host->deployment().traffic().to_other_clusters(graph.name);
        result.all[graph.name][host->name()] = host->deployment().traffic().all(graph.name);
      }
  }

  paths::WrapperKinds kinds_;
  std::shared_ptr<const paths::Plan> plan_;
};

/// Result of one round for a thread: a value, or an error.
struct RoundOutcome {
  bool is_error = false;
  std::string error;
  double value = 0;
  paths::Condition condition = paths::Condition::unchecked;
  base::Nanos at{0};
  friend bool operator==(const RoundOutcome&, const RoundOutcome&) = default;
};

/// Moves `value` once into the thread's path of `graph`. Returns the result, or the text of the
/// TravelError that the move throws.
inline RoundOutcome contribute(paths::Thread& thread, const std::string& graph, double value) {
  RoundOutcome outcome;
  try {
    const paths::Result result = thread.path(graph).move_value(value);
    if (!result.payload.empty()) outcome.value = result.partial<double>();
    outcome.condition = result.condition;
  } catch (const paths::TravelError& error) {
    outcome.is_error = true;
    outcome.error = error.what();
  }
  outcome.at = thread.now();
  return outcome;
}

}  // namespace test_support
