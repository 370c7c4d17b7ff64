// SPDX-License-Identifier: Apache-2.0
// tests/support/joined.hpp — threads that meet in one join at times that the test chooses.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/one_host.hpp"

namespace test_support {

inline void join_all(std::span<runtime::Task> tasks) {
  for (runtime::Task& task : tasks) task.join();
}

/// Threads that meet in one join. Below the join, a wrapper replies to each operation with the
/// operation's payload.
struct Joined {
  Joined(const std::string& kind, std::uint32_t threads, const Words& settings) {
    const std::uint32_t join = builder.wrapper(kind, "sum", settings);
    const std::uint32_t end = builder.does("end", [this](paths::Operation operation, paths::Next) {
      arrived.push_back(operation);
      if (before_answer) before_answer(operation);
      paths::Result result;
      result.payload = operation.payload;
      result.contributions = operation.contributions;
      result.sequence = operation.sequence;
      return result;
    });
    builder.path("graph", threads, {join, end});
    here.emplace(builder);
  }
  double move(std::uint32_t thread, std::uint64_t sequence, double value) {
    return here->move_value(0, thread, sequence, value);
  }
  /// Spawns a thread that moves after `delay`. Its result is appended to `values`, and its error
  /// (or "nothing") to `answers`.
  runtime::Task later(base::Nanos delay, std::uint32_t thread, std::uint64_t sequence,
                      double value) {
    return here->spawn([=, this] {
      if (delay > base::Nanos(0)) here->sleep(delay);
      answers.push_back(thrown<paths::TravelError>([&] {
        const paths::Result result = here->move(0, thread, sequence, base::Payload::of(value));
        values.push_back(result.payload.empty() ? nothing : result.payload.read<double>());
      }));
      answered_at.push_back(here->now());
    });
  }
  struct Arrival {
    base::Nanos delay;
    std::uint32_t thread;
    std::uint64_t sequence;
    double value;
  };
  /// Spawns a thread for each arrival with later(). Blocks until all threads have ended.
  void meet(const std::vector<Arrival>& arrivals) {
    here->run([&] {
      std::vector<runtime::Task> tasks;
      for (const Arrival& one : arrivals)
        tasks.push_back(later(one.delay, one.thread, one.sequence, one.value));
      join_all(tasks);
    });
  }
  void release(std::uint32_t thread, std::uint64_t sequence) {
    here->operate(here->operation(0, thread, sequence, paths::OperationKind::release));
  }

  static constexpr double nothing = -1;  ///< entry of `values` for a result without a payload

  PlanBuilder builder;
  std::optional<OneHost> here;
  std::vector<paths::Operation> arrived;
  std::function<void(const paths::Operation&)> before_answer;
  std::vector<double> values;
  std::vector<std::string> answers;
  std::vector<base::Nanos> answered_at;
};

}  // namespace test_support
