// SPDX-License-Identifier: Apache-2.0
// tests/paths/ends_property_test.cpp — a property of random programs: if a thread depends on an
// ended thread or a dead host, it immediately gets an error that names the culprit, or finishes
// correctly.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "tests/paths/ends_scene.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/mortal_hosts.hpp"

namespace {

using namespace ends_tests;
using namespace test_support;

struct Counts {
  std::uint64_t named = 0, went_on = 0;
  double share = 0;  // longest time until an error, relative to the longest round trip
  Nanos longest{0};  // longest time from the last progress of any thread to an error
};

class Run {
 public:
  explicit Run(const Scene& scene) : scene_(scene), sim_(scene.config()), fates_(scene.ranks()) {}

  /// Runs the scene. Returns the first violation of the property; "" = none.
  std::string judge(Counts& counts) {
    try {
      scene_.fault == Fault::dies ? run_mortal() : run_program();
    } catch (const std::exception& error) {
      return error.what();
    }
    for (const Fate& fate : fates_)
      got_on_.insert(got_on_.end(), fate.got_on.begin(), fate.got_on.end());
    got_on_.push_back(ended_);
    std::sort(got_on_.begin(), got_on_.end());
    for (std::uint32_t rank = 0; rank < fates_.size(); ++rank) {
      const std::string wrong = judge(rank, counts);
      if (!wrong.empty()) return fmt::format("thread {}: {}", name_of(rank), wrong);
    }
    return "";
  }

 private:
  void run_program() {
    const SimResult result = sim_.run([&](paths::Thread& thread) {
      run_thread(scene_, thread, fates_[thread.rank()], [&] {
        ended_ = thread.now();
        if (scene_.fault == Fault::throws) throw std::runtime_error("it broke");
      });
    });
    if (!result.broke.empty()) throw std::runtime_error(result.broke);
  }
  void run_mortal() {
    MortalHosts* all = nullptr;
    MortalHosts hosts(sim_, [&](paths::Thread& thread) {
      Fate unheard;
      Fate& fate = is_dead_ && thread.host().index() == victim() ? unheard : fates_[thread.rank()];
      run_thread(scene_, thread, fate, [&] {
        ended_ = thread.now();
        is_dead_ = true;
        all->kill(victim());
        thread.sleep_for(std::chrono::hours(1));
      });
    });
    all = &hosts;
    hosts.run();
  }

  std::uint32_t host_of(std::uint32_t rank) const {
    std::uint32_t host = 0;
    for (const auto& one : sim_.plan().hosts) {
      if (rank >= one.first_thread && rank < one.first_thread + one.threads) return host;
      ++host;
    }
    return host;
  }
  std::string name_of(std::uint32_t rank) const {
    const auto& host = sim_.plan().hosts[host_of(rank)];
    return fmt::format("{}/{}", host.name, rank - host.first_thread);
  }
  std::uint32_t victim() const { return host_of(scene_.culprit); }

  std::string judge(std::uint32_t rank, Counts& counts) const {
    const bool is_gone =
        scene_.fault == Fault::dies ? host_of(rank) == victim() : rank == scene_.culprit;
    const Fate& fate = fates_[rank];
    if (is_gone) return "";
    if (!fate.wrong.empty()) return fate.wrong;
    if (fate.is_right) {
      ++counts.went_on;
      return "";
    }
    const std::string& host = sim_.plan().hosts[victim()].name;
    const std::string culprit =
        scene_.fault == Fault::dies ? "host " + host : "thread " + name_of(scene_.culprit);
    if (fate.error.empty()) return "ended without a word";
    if (fate.error.find(culprit) == std::string::npos)
      return fmt::format("an error that does not name {}: {}", culprit, fate.error);
    ++counts.named;
    // `*std::prev(after)` is the time of the last progress of any thread before this error.
    const auto after = std::upper_bound(got_on_.begin(), got_on_.end(), fate.told);
    const Nanos took = fate.told - (after == got_on_.begin() ? Nanos(0) : *std::prev(after));
    counts.longest = std::max(counts.longest, took);
    counts.share = std::max(counts.share, static_cast<double>(took.count()) /
                                              static_cast<double>(scene_.round_trip().count() + 1));
    const Nanos most = scene_.longest_answer();
    if (took > most)
      return fmt::format("told after {}, expected {} at most: {}", base::format_time(took),
                         base::format_time(most), fate.error);
    return "";
  }

  const Scene& scene_;
  const Sim sim_;
  std::vector<Fate> fates_;
  std::vector<Nanos> got_on_;  // sorted times at which any thread made progress
  Nanos ended_{0};
  bool is_dead_ = false;
};

constexpr std::uint64_t usual_seeds = test_support::or_fewer(500);

}  // namespace

TEST_CASE(
    "ends: a thread that depends on an ended thread gets an error that names it or finishes "
    "right") {
  const std::uint64_t first = from_environment("PATHS_SEED", 1);
  const bool is_one = std::getenv("PATHS_SEED") != nullptr;
  const std::uint64_t last = is_one ? first : from_environment("PATHS_SEEDS", usual_seeds);
  Counts counts;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Scene scene(seed);
    INFO(scene.text());
    if (is_one) WARN(scene.config());
    const std::string wrong = Run(scene).judge(counts);
    if (wrong.empty()) continue;
    CHECK(wrong == "");
    constexpr std::uint64_t shown_max = 5;
    if (++failed == shown_max) FAIL("and maybe more");
  }
  WARN(
      fmt::format("{} runs: {} threads were told of whom, {} went on and ended right; told {} at "
                  "most after anybody got on, {:.2f} round trips",
                  last - first + 1, counts.named, counts.went_on, base::format_time(counts.longest),
                  counts.share));
}
