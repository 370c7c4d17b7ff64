// SPDX-License-Identifier: Apache-2.0
// tests/support/session_scene.hpp — sessions whose threads the program creates itself.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "paths/run/session.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace test_support {

using paths::Attached;
using paths::Session;

inline constexpr const char* two_hosts = R"(
clusters: {alpha: {hosts: 2, threads: 2}}
collectives:
  sum: {operation: sum, template: i64}
elements:
  work: {host: alpha-0, template: i64, keep_newest: 0, reach: all}
)";

inline Session session_of(const Sim& sim, const paths::RunOptions& options = {}) {
  return Session(sim.shared_plan(), sim.kinds(), options);
}

inline std::int64_t sum(Attached& attached, std::int64_t value) {
  return attached->path("sum").move_value(value).payload.read<std::int64_t>();
}

using OwnThread = std::thread;  // tidy: own thread

/// Runs `work` in a thread that the program creates. Returns after the thread has ended.
inline void elsewhere(const std::function<void()>& work) { OwnThread(work).join(); }

/// Runs `work` in four threads that the program creates, attached as the threads of two hosts.
inline void by_four(Session& session, const std::function<void(Attached&, int rank)>& work) {
  std::vector<OwnThread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&session, &work, rank] {
      Attached attached = session.attach(rank < 2 ? "alpha-0" : "alpha-1", rank % 2);
      work(attached, rank);
      attached.detach();
    });
  for (OwnThread& thread : threads) thread.join();
}

}  // namespace test_support
