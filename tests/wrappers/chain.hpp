// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/chain.hpp — wrappers chained by hand on one simulated host, without a config.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/host.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/one_host.hpp"

namespace wrapper_tests {

using test_support::NoTransport;
using test_support::thrown;

/// End of a chain. It calls a function of the test, and records the operations that arrive.
class Answer final : public paths::BlockingWrapper {
 public:
  using Function = std::function<paths::Result(const paths::Operation&)>;
  explicit Answer(Function function =
                      [](const paths::Operation& operation) {
                        paths::Result result;
                        result.payload = operation.payload;
                        return result;
                      })
      : function_(std::move(function)) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override {
    arrived.push_back(operation);
    times.push_back(next.deployment().runtime().now());
    return function_(operation);
  }
  bool sees_failed_operations() const override { return true; }
  std::vector<paths::Operation> arrived;
  std::vector<base::Nanos> times;

 private:
  Function function_;
};

/// A host "here" with one thread on the virtual clock, and stages made by hand.
class Chain {
 public:
  Chain()
      : runtime_({.clock = runtime::ClockKind::virtual_time}),
        host_(runtime_, plan(), 0, kinds_, std::make_unique<NoTransport>()) {}

  paths::Deployment& deployment() { return host_.deployment(); }
  base::Nanos now() const { return runtime_.now(); }

  /// Adds a stage of `wrapper` above the stage `below`. If `below` is nullptr, the new stage is the
  /// end of the chain.
  const paths::Stage& stage(paths::Wrapper& wrapper, const paths::Stage* below = nullptr,
                            std::uint32_t role = 0) {
    paths::Stage stage;
    stage.wrapper = &wrapper;
    stage.below = below;
    stage.id = static_cast<paths::StageId>(stages_.size());
    stage.below_id = below != nullptr ? below->id : paths::no_stage;
    stage.role = role;
    return stages_.emplace_back(stage);
  }

  /// Runs `main` as a thread of the application.
  void run(std::function<void()> main) { runtime_.run(std::move(main)); }
  /// Spawns another thread, which the caller joins.
  runtime::Task spawn(std::function<void()> work) {
    return runtime_.spawn(runtime::ContextRole::thread, {"thread", "here"}, std::move(work));
  }
  void wait_until(base::Nanos when) { runtime_.sleep_until(when); }

  paths::Result operate(const paths::Stage& first, paths::Operation operation) {
    return paths::run_stage(host_.deployment(), first, std::move(operation));
  }

 private:
  static std::shared_ptr<const paths::Plan> plan() {
    auto plan = std::make_shared<paths::Plan>();
    plan->clusters = {"test"};
    plan->hosts = {{"here", 0, 1, 0, 1.0, "tcp://127.0.0.1:7700", {}}};
    plan->paths.resize(1);
    plan->paths[0].graph = "graph";
    plan->shares.resize(1);  // an empty part for the host: nothing of the plan is deployed
    plan->index_names();
    return plan;
  }
  runtime::Runtime runtime_;
  paths::WrapperKinds kinds_;
  paths::Host host_;
  std::deque<paths::Stage> stages_;
};

inline paths::Operation operation(paths::OperationKind kind, std::uint64_t number = 0) {
  paths::Operation made;
  made.kind = kind;
  made.number = number;
  return made;
}

inline paths::Operation move_of(base::Payload payload, std::uint64_t sequence = 0) {
  paths::Operation made;
  made.sequence = sequence;
  made.payload = std::move(payload);
  return made;
}

inline base::Payload zeros(std::size_t bytes) {
  return base::Payload::copy_of(std::vector<std::byte>(bytes));
}

}  // namespace wrapper_tests
