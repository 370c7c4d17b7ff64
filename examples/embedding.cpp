// SPDX-License-Identifier: Apache-2.0
// examples/embedding.cpp — program with its own main() whose std::threads attach to hosts of a
// plan.
//
//   embedding configs/examples/embedding.yaml                 all hosts in this process
//   paths run configs/examples/embedding.yaml -- embedding    a process for each host
//
// The program starts and joins its threads twice. Each thread attaches to its host. It then sums an
// array together with all other threads, moves a tuple into the element `mail`, observes a tuple of
// `mail`, and detaches.
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "base/say.hpp"
#include "paths/config/config.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/session.hpp"
#include "wrappers/all.hpp"

namespace {

constexpr std::size_t count = 1024;  // number of values in the array, as in the template of `sum`

void work(paths::Session& session, const std::string& host, std::uint32_t index, int time) {
  paths::Attached me = session.attach(host, index);

  base::Buffer values(count * sizeof(double));  // move() takes this memory without a copy
  for (double& value : values.as<double>()) value = me->rank();
  std::vector<double> sums(count);
  me->path("sum").move(std::move(values).freeze(), std::span(sums));

  paths::Path& mail = me->path("mail");
  mail.move_value(std::int64_t{me->rank()});
  const auto from = mail.observe().payload.read<std::int64_t>();

  fmt::print("time {}, thread {}: the sum is {}, mail of thread {}\n", time, me->rank(),
             sums.back(), from);
  me.detach();
}

int run(const std::string& config) {
  const paths::WrapperKinds& kinds = wrappers::all_kinds();
  const auto plan = std::make_shared<const paths::Plan>(paths::load_plan(config, kinds));
  const auto host = paths::identity(*plan);  // PATHS_HOST, or an MPI launcher's rank
  if (const std::string doubt = paths::doubt_about_identity(*plan); !doubt.empty())
    base::say(fmt::format("embedding: {}\n", doubt));
  paths::RunOptions options;
  options.is_one_host = host && plan->hosts.size() > 1;
  options.host = host.value_or(0);
  paths::Session session(plan, kinds, options);

  for (int time = 1; time <= 2; ++time) {
    // The program starts its threads itself. The marker at the end of the next line is for
    // scripts/tidy.py, which otherwise forbids std::thread.
    std::vector<std::thread> threads;  // tidy: own thread
    for (std::uint32_t one = 0; one < plan->hosts.size(); ++one)
      for (std::uint32_t index = 0; index < plan->hosts[one].threads; ++index)
        if (!host || *host == one)
          threads.emplace_back([&session, &name = plan->hosts[one].name, index, time] {
            work(session, name, index, time);
          });
    for (auto& thread : threads) thread.join();
  }

  const std::vector<std::string> failures = session.end();
  for (const std::string& failure : failures) base::say(failure + '\n');
  return failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : paths::environment_variable("PATHS_CONFIG"));
  } catch (const std::exception& error) {
    base::say(fmt::format("embedding: {}\n", error.what()));
    return 2;
  }
}
