// SPDX-License-Identifier: Apache-2.0
// tests/support/one_host.hpp — plans built by code for one simulated host, and its threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/plan/plan_shares.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/thrown.hpp"
#include "wrappers/all.hpp"

namespace test_support {

using Words = std::vector<std::pair<std::string, std::string>>;

/// Transport that discards everything.
class NoTransport final : public paths::Transport {
 public:
  void start(paths::Receiver&) override {}
  paths::ConnectionId connect(std::uint32_t) override { return 0; }
  void send(paths::ConnectionId, paths::Frame&&) override {}
  void drop(paths::ConnectionId) override {}
  void stop() override {}
};

/// Wrapper that calls a function of the test.
class Does final : public paths::BlockingWrapper {
 public:
  using Function = std::function<paths::Result(paths::Operation, paths::Next)>;
  explicit Does(Function function) : function_(std::move(function)) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override {
    return function_(std::move(operation), next);
  }

 private:
  Function function_;
};

/// Builds the plan of one host "here" in one cluster. The plan accepts all kinds of wrappers,
/// including those that the test adds. Each function that adds a wrapper returns the wrapper's
/// index.
class PlanBuilder {
 public:
  PlanBuilder() {
    plan_->clusters = {"test"};
    plan_->hosts = {{"here", 0, 0, 0, 1.0, "tcp://127.0.0.1:7700", {}}};
    for (const paths::WrapperKind& kind : wrappers::all_kinds().all()) kinds_.add(kind);
  }

  paths::Plan& plan() { return *plan_; }
  std::shared_ptr<const paths::Plan> finished() {
    plan_->index_names();
    paths::share_plan(*plan_, paths::PlanKinds(*plan_, kinds_));
    return plan_;
  }
  const paths::WrapperKinds& kinds() const { return kinds_; }

  void element(const std::string& name, const pastset::Template& tuple_template) {
    plan_->elements.push_back({name, 0, tuple_template, 0, 1, {}, {}});
  }
  std::uint32_t wrapper(const std::string& kind, const std::string& name, const Words& words) {
    std::vector<base::Settings::Entry> entries;
    for (const auto& [key, value] : words)
      entries.emplace_back(base::Settings::scalar(key), base::Settings::scalar(value));
    return wrapper(kind, name, base::Settings::map(std::move(entries)));
  }
  std::uint32_t wrapper(const std::string& kind, const std::string& name, base::Settings settings) {
    const auto index = static_cast<std::uint32_t>(plan_->wrappers.size());
    plan_->wrappers.push_back({name, kind, 0, std::move(settings), 0});
    return index;
  }
  /// Adds a wrapper that ends a path. It replies to each operation with the operation's payload.
  std::uint32_t returns() {
    return does("end", [](paths::Operation operation, paths::Next) {
      paths::Result result;
      result.payload = operation.payload;
      result.contributions = operation.contributions;
      result.sequence = operation.sequence;
      return result;
    });
  }
  void set_deadline(base::Nanos deadline) {
    plan_->deadline = deadline;
    plan_->deadline_written = true;
  }
  /// Adds a wrapper that calls `function` for each operation.
  std::uint32_t does(const std::string& name, Does::Function function) {
    paths::WrapperKind kind;
    kind.name = "does " + name;
    kind.read = [function](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
      return [function](paths::Deployment&) { return std::make_unique<Does>(function); };
    };
    kinds_.add(kind);
    return wrapper(kind.name, name, Words{});
  }
  /// Adds a wrapper that `make` creates.
  std::uint32_t made(const std::string& name, bool joins,
                     std::function<std::unique_ptr<paths::Wrapper>(paths::Deployment&)> make) {
    paths::WrapperKind kind;
    kind.name = "made " + name;
    if (joins) kind.job = paths::Job::join;
    kind.read = [make](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
      return make;
    };
    kinds_.add(kind);
    return wrapper(kind.name, name, Words{});
  }

  /// Adds a path for `threads` threads through `wrappers`, in order from the threads down. If an
  /// earlier path has the same joining wrapper, the new path shares the stages from this wrapper
  /// on. Returns the index of the path.
  std::uint32_t path(const std::string& graph, std::uint32_t threads,
                     const std::vector<std::uint32_t>& wrappers) {
    std::uint32_t width = std::max(1u, threads);
    paths::Plan::PlanPath path;
    path.graph = graph;
    path.first_thread = plan_->hosts[0].threads;
    path.threads = threads;
    plan_->hosts[0].threads += threads;
    paths::StageId above = paths::no_stage;
    for (const std::uint32_t index : wrappers) {
      const bool joins = kinds_.find(plan_->wrappers[index].kind)->joins();
      const bool is_shared = joins && joined_.contains(index);
      const auto stage = is_shared ? joined_[index] : add_stage(index);
      const std::uint32_t slot =
          std::exchange(plan_->wrappers[index].slots, plan_->wrappers[index].slots + width);
      if (above == paths::no_stage) {
        path.stage = stage;
        path.slot = slot;
      } else {
        plan_->stages[above].below = stage;
        plan_->stages[above].slot = slot;
      }
      if (is_shared) break;
      if (joins) joined_[index] = stage;
      if (joins) width = 1;
      above = stage;
    }
    plan_->paths.push_back(path);
    return static_cast<std::uint32_t>(plan_->paths.size() - 1);
  }

 private:
  paths::StageId add_stage(std::uint32_t wrapper) {
    plan_->stages.push_back({wrapper, paths::no_stage, 0, 0});
    return static_cast<paths::StageId>(plan_->stages.size() - 1);
  }
  std::shared_ptr<paths::Plan> plan_ = std::make_shared<paths::Plan>();
  paths::WrapperKinds kinds_;
  std::map<std::uint32_t, paths::StageId> joined_;
};

/// Runs the host of a PlanBuilder's plan, on the virtual clock by default.
class OneHost {
 public:
  explicit OneHost(PlanBuilder& builder,
                   runtime::ClockKind clock = runtime::ClockKind::virtual_time)
      : runtime_({.clock = clock}),
        plan_(builder.finished()),
        host_(runtime_, plan_, 0, builder.kinds(), std::make_unique<NoTransport>()) {}

  paths::Host& host() { return host_; }
  paths::Deployment& deployment() { return host_.deployment(); }
  runtime::Runtime& runtime() { return runtime_; }
  base::Nanos now() const { return runtime_.now(); }
  void sleep(base::Nanos span) { runtime_.sleep_for(span); }

  /// Starts the host and runs `main`. When `main` has returned, cancels all contexts that still
  /// run.
  void run(const std::function<void()>& main) {
    runtime_.run([&] {
      host_.start();
      main();
    });
  }
  runtime::Task spawn(std::function<void()> work) {
    return runtime_.spawn(runtime::ContextRole::thread, {"thread", "here"}, std::move(work));
  }

  /// Calls `work(i)` for each i below `count`, each in a thread of its own. Blocks until all
  /// threads have ended.
  void together(std::uint32_t count, const std::function<void(std::uint32_t)>& work) {
    std::vector<runtime::Task> threads;
    for (std::uint32_t thread = 0; thread < count; ++thread)
      threads.push_back(spawn([&work, thread] { work(thread); }));
    for (runtime::Task& thread : threads) thread.join();
  }

  paths::Operation operation(std::uint32_t path, std::uint32_t thread, std::uint64_t sequence,
                             paths::OperationKind kind = paths::OperationKind::move) const {
    paths::Operation made;
    made.kind = kind;
    made.path = path;
    made.thread = thread;
    made.slot = plan_->paths[path].slot + thread;
    made.sequence = sequence;
    return made;
  }
  paths::Result operate(paths::Operation operation) {
    const paths::Stage* stage =
        host_.deployment().instance().stage(plan_->paths[operation.path].stage);
    return paths::run_stage(host_.deployment(), *stage, std::move(operation));
  }
  paths::Result move(std::uint32_t path, std::uint32_t thread, std::uint64_t sequence,
                     base::Payload payload) {
    paths::Operation moved = operation(path, thread, sequence);
    moved.payload = std::move(payload);
    return operate(std::move(moved));
  }
  template <class T>
  T move_value(std::uint32_t path, std::uint32_t thread, std::uint64_t sequence, T value) {
    return move(path, thread, sequence, base::Payload::of(value)).payload.template read<T>();
  }

 private:
  runtime::Runtime runtime_;
  std::shared_ptr<const paths::Plan> plan_;
  paths::Host host_;
};

}  // namespace test_support
