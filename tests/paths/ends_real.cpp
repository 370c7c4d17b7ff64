// SPDX-License-Identifier: Apache-2.0
// tests/paths/ends_real.cpp — processes that die, or in which a thread ends. All other threads get
// an error or finish correctly.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/paths/ends_scene.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/machine_clock.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace ends_tests;
using namespace test_support;

/// Ends this process immediately: by SIGKILL or by _exit(), while its other threads run.
void end_process(std::uint64_t seed) {
  if (seed % 2 == 0) raise(SIGKILL);
  _exit(7);
}

void run_and_say(const Scene& scene, paths::Thread& thread, const Say& say) {
  Fate fate;
  struct AtEnd {
    const Fate& fate;
    const std::uint32_t rank;
    const Say& say;
    ~AtEnd() {
      const std::string what = !fate.wrong.empty() ? "wrong " + fate.wrong
                               : fate.is_right     ? "right"
                                                   : "told " + fate.error;
      say(fmt::format("fate {} {} {}", rank, machine_nanos(), what));
    }
  } at_end{fate, thread.rank(), say};
  run_thread(scene, thread, fate, [&] {
    say(fmt::format("ended {}", machine_nanos()));
    if (scene.fault == Fault::throws) throw std::runtime_error("it broke");
    if (scene.fault == Fault::dies) end_process(scene.seed);
  });
}

struct Counts {
  std::uint64_t named = 0, went_on = 0;
  std::int64_t longest = 0;  // nanoseconds from the end of the process to the latest error
};

class Run {
 public:
  Run(const Scene& scene, const std::string& network)
      : scene_(scene), sim_(scene.config(network)) {}

  std::string judge(Counts& counts) {
    auto processes = start_hosts(
        sim_, [this](paths::Thread& thread, const Say& say) { run_and_say(scene_, thread, say); });
    std::string text;
    for (auto& [name, process] : processes) {
      if (process.end() < 0) return fmt::format("host {} did not end: {}", name, process.text());
      for (const std::string& when : process.lines("ended ")) ended_ = std::stoll(when);
    }
    for (std::uint32_t host = 0; host < sim_.plan().hosts.size(); ++host) {
      const auto& planned = sim_.plan().hosts[host];
      std::map<std::uint32_t, std::string> fates;
      for (const std::string& line : processes.at(planned.name).lines("fate ")) {
        const std::size_t space = line.find(' ');
        fates[static_cast<std::uint32_t>(std::stoul(line))] = line.substr(space + 1);
      }
      for (std::uint32_t i = 0; i < planned.threads; ++i) {
        const std::string wrong = judge(planned.first_thread + i, host, fates, counts);
        if (!wrong.empty()) return fmt::format("thread {}/{}: {}", planned.name, i, wrong);
      }
    }
    return "";
  }

 private:
  std::string judge(std::uint32_t rank, std::uint32_t host,
                    const std::map<std::uint32_t, std::string>& fates, Counts& counts) const {
    const auto& culprits = sim_.plan().hosts[host];
    const bool is_culprits = scene_.culprit - culprits.first_thread < culprits.threads;
    if (rank == scene_.culprit || (is_culprits && scene_.fault == Fault::dies)) return "";
    const auto fate = fates.find(rank);
    if (fate == fates.end()) return "never ended";
    const std::size_t space = fate->second.find(' ');
    const std::int64_t when = std::stoll(fate->second);
    const std::string what = fate->second.substr(space + 1);
    if (what == "right") {
      ++counts.went_on;
      return "";
    }
    if (!what.starts_with("told ") || what.find(culprit()) == std::string::npos)
      return fmt::format("expected an error that names {}, found: {}", culprit(), what);
    ++counts.named;
    // A peer that was not yet connected with the dead process waits for this process until the
    // deadline. The error of such a peer does not count.
    const bool was_met = what.find("did not connect within 5s") == std::string::npos;
    if (was_met) counts.longest = std::max(counts.longest, when - ended_);
    return "";
  }

  std::string culprit() const {
    for (const auto& host : sim_.plan().hosts) {
      const std::uint32_t thread = scene_.culprit - host.first_thread;
      if (thread >= host.threads) continue;
      return scene_.fault == Fault::dies ? "host " + host.name
                                         : fmt::format("thread {}/{}", host.name, thread);
    }
    return "nobody";
  }

  const Scene& scene_;
  const Sim sim_;
  std::int64_t ended_ = 0;
};

}  // namespace

TEST_CASE(
    "ends of processes: a thread that depends on one gets an error that names it or finishes "
    "right") {
  constexpr std::uint64_t usual_seeds = 10;
  constexpr std::uint32_t hosts_max = 2;
  const std::uint64_t first = from_environment("PATHS_SEED", 1);
  const bool is_one = std::getenv("PATHS_SEED") != nullptr;
  const std::uint64_t last = is_one ? first : from_environment("PATHS_SEEDS", usual_seeds);
  Counts counts;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Scene scene(seed, hosts_max);
    INFO(scene.text());
    std::string network = network_line(seed % 3 == 0 ? "tcp" : "ipc", 12);
    network = network.substr(network.find('{') + 1);
    network.resize(network.rfind('}'));
    CHECK(Run(scene, network).judge(counts) == "");
  }
  WARN(
      fmt::format("{} runs: {} threads were told of whom, {} ms after at most, {} went on and "
                  "ended right",
                  last - first + 1, counts.named, counts.longest / 1'000'000, counts.went_on));
}
