// SPDX-License-Identifier: Apache-2.0
// tests/install/outside/embedding.cpp — program of a user who installed PATHS, with its own main()
// and four threads.
#include <fmt/format.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/settings.hpp"
#include "paths/config/config.hpp"
#include "paths/run/session.hpp"
#include "wrappers/all.hpp"

int main() {
  const auto config = base::parse_settings(
      "clusters: {alpha: {hosts: 1, threads: 4}}\n"
      "collectives: {sum: {operation: sum, template: f64}}\n",
      "embedding");
  const auto& kinds = wrappers::all_kinds();
  paths::Session session(std::make_shared<paths::Plan>(paths::read_plan(config, kinds)), kinds);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;  // tidy: own thread
  for (std::uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&session, &right, i] {
      paths::Attached me = session.attach("alpha-0", i);
      right += me->path("sum").move_value(1.0).value<double>() == 4.0;
    });
  for (auto& thread : threads) thread.join();
  fmt::print("{} of 4 threads have the sum\n", right.load());
  return session.end().empty() && right == 4 ? 0 : 1;
}
