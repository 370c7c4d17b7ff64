// SPDX-License-Identifier: Apache-2.0
// tests/paths/relaxation_test.cpp — whole programs under every relaxation: the iteration in which
// they stop, their results, their messages over the wide area, and their end if a cluster ends
// early.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/usage_error.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/host/deployment.hpp"
#include "runtime/random.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using paths::Condition;

constexpr std::uint64_t iterations = 50;

/// Only every n-th run is executed under a sanitizer, where each run takes ten times as long.
#if defined(PATHS_ASAN)
constexpr std::size_t sampled = 16;
#else
constexpr std::size_t sampled = 1;
#endif

struct Program {
  std::string algorithm;  // "" = the default tree, with the relaxation of the field `relaxation`
  std::string relaxation;
  std::uint64_t clusters = 2;
  std::string more = {};     // further top-level lines of the config
  std::string setting = {};  // further settings of the collective
  std::uint64_t threads = 2;
  bool is_bare = false;  // one host in each cluster and no gateway

  std::string text() const {
    const std::string word = algorithm.empty() ? "graph: tree, relaxation: " + relaxation
                                               : "algorithm: \"" + algorithm + "\"";
    std::string text = more + "clusters:\n";
    for (std::uint64_t c = 0; c < clusters; ++c)
      text += fmt::format("  c{}: {{hosts: {}, threads: {}{}}}\n", c, is_bare ? 1 : 1 + c % 2,
                          threads, !is_bare && c == 1 ? ", gateway: gate" : "");
    if (clusters > 1) text += "links:\n";
    for (std::uint64_t a = 0; a < clusters; ++a)
      for (std::uint64_t b = a + 1; b < clusters; ++b)
        text += fmt::format("  - {{between: [c{}, c{}], latency: {}ms}}\n", a, b, 10 + 3 * a + b);
    return text + fmt::format(
                      "collectives:\n  sum: {{operation: sum, template: f64, {}, condition: "
                      "{{less: 1}}, contributions: non_negative{}}}\n",
                      word, setting);
  }
  std::string name() const {
    return fmt::format("{}{} over {} clusters", algorithm, relaxation, clusters);
  }
};

/// Returns the algorithm that a program uses, so that a test can compute the expected results.
paths::Algorithm algorithm_of(const Program& program) {
  std::string word = program.algorithm, wrong;
  if (program.relaxation == "{lagged: 3}") word = "lagged:3";
  if (program.relaxation == "{periodic: 4}") word = "periodic:4";
  return *paths::parse_algorithm(word, "allreduce", wrong);
}

std::vector<Program> all_programs() {
  std::vector<Program> all;
  for (const std::uint64_t clusters : {1, 2, 3, 5}) {
    for (const char* algorithm :
         {"sequential", "magpie", "exact", "conditional", "conditional:push", "conditional:demand",
          "conditional:subscribe:2", "conditional:subscribe:100", "periodic:4", "lagged:1",
          "lagged:3", "budget:8,4", "budget:3,3", "best", "multilevel"})
      all.push_back({algorithm, "", clusters});
    for (const char* relaxation : {"{lagged: 3}", "{periodic: 4}"})
      all.push_back({"", relaxation, clusters});
    for (Program& program : all) {
      if (program.clusters != clusters) continue;
      if (clusters == 2) program.setting = ", instrument: true";
      if (clusters == 5) program.more = "network: {connection: shared}\n";
    }
  }
  return all;
}

// ---- the values ------------------------------------------------------------------------------

/// The values that the threads contribute. They are multiples of 1/1024, so that their sums are
/// equal in any order. Most sums are far above 1, the limit of the condition. Some sums are below
/// 1. The sum of iteration `certain` is always below 1.
struct Values {
  explicit Values(std::uint64_t seed, std::uint64_t rank_count) : ranks(rank_count) {
    runtime::Random random(seed, 5);
    certain = 20 + random.below(20);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const bool is_small = i == certain || random.chance(0.06);
      // In some iterations the values of one cluster alone decide the condition. In other
      // iterations only the values of all clusters together decide it.
      kinds.push_back(is_small ? 0 : 1 + static_cast<int>(random.below(3)));
    }
  }
  double of(std::uint64_t rank, std::uint64_t i) const {
    const double unit = 1.0 / 1024;
    if (kinds[i] == 0) return unit * static_cast<double>(rank % 3);
    // With kind 1, the sum reaches 1 only if the values of all ranks are added.
    if (kinds[i] == 1) return unit * static_cast<double>(1024 / ranks + 1);
    if (kinds[i] == 2) return rank == i % ranks ? 2.0 : 0.0;  // one value alone exceeds 1
    return 1.5;                                               // each value is above 1
  }
  double sum(std::uint64_t i) const {
    double sum = 0;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) sum += of(rank, i);
    return sum;
  }
  bool holds(std::uint64_t i) const { return sum(i) < 1; }

  std::uint64_t ranks;
  std::uint64_t certain = 0;
  std::vector<int> kinds;
};

/// Returns the iteration whose result a thread gets when it moves in iteration `i`. If results are
/// late, this is an earlier iteration. Returns nullopt if the move returns no checked result.
std::optional<std::uint64_t> about(const paths::Algorithm& algorithm, std::uint64_t i) {
  const bool is_periodic = algorithm.word->name == "periodic";
  if (is_periodic && (i + 1) % algorithm.number("every") != 0) return {};
  const std::uint64_t lag = algorithm.number("rounds") + algorithm.number("horizon");
  if (i < lag) return {};
  return i - lag;
}

Condition expected_condition(const paths::Algorithm& algorithm, const Values& values,
                             std::uint64_t i) {
  const auto which = about(algorithm, i);
  if (!which) return Condition::unchecked;
  return values.holds(*which) ? Condition::holds : Condition::fails;
}

/// Returns the number of iterations of a program that stops at the first result that holds.
std::uint64_t expected_stop(const paths::Algorithm& algorithm, const Values& values) {
  for (std::uint64_t i = 0; i < iterations; ++i)
    if (expected_condition(algorithm, values, i) == Condition::holds) return i + 1;
  return iterations;
}

// ---- runs ------------------------------------------------------------------------------------

enum class Speeds : std::uint8_t { same, first_slow, last_slow, noisy };

base::Nanos compute_time(Speeds speeds, paths::Thread& thread, std::uint64_t clusters) {
  const std::string last = fmt::format("c{}", clusters - 1);
  if (speeds == Speeds::first_slow) return thread.cluster() == "c0" ? 40ms : 1ms;
  if (speeds == Speeds::last_slow) return thread.cluster() == last ? 40ms : 1ms;
  if (speeds == Speeds::noisy)
    return thread.random().chance(0.1) ? 100ms : 1us * thread.random().below(9000);
  return 2ms;
}

bool refuses_value(const paths::Result& result) {
  try {
    result.value<double>();
    return false;
  } catch (const base::UsageError&) {
    return true;
  }
}

struct Ran {
  SimResult run;
  std::vector<std::uint64_t> stopped;  // indexed by rank
  std::string wrong;
};

Ran run_until_it_holds(const Program& program, Speeds speeds, std::uint64_t seed) {
  const Sim sim(program.text());
  const Values values(seed, sim.plan().thread_count());
  const paths::Algorithm algorithm = algorithm_of(program);
  Ran ran;
  ran.stopped.resize(values.ranks);
  ran.run = sim.run(
      [&](paths::Thread& thread) {
        for (std::uint64_t i = 0; i < iterations; ++i) {
          thread.sleep_for(compute_time(speeds, thread, program.clusters));
          const paths::Result result = thread.path("sum").move_value(values.of(thread.rank(), i));
          ran.stopped[thread.rank()] = i + 1;
          const auto which = about(algorithm, i);
          const bool is_exact = which && !result.proved;
          if (result.condition != expected_condition(algorithm, values, i) ||
              result.sequence != which.value_or(i) ||
              result.is_complete() != (result.contributions == values.ranks) ||
              refuses_value(result) == result.is_complete() ||
              (is_exact && result.value<double>() != values.sum(*which)) ||
              (is_exact && result.contributions != values.ranks))
            ran.wrong = fmt::format("rank {}, iteration {}", thread.rank(), i);
          if (result.condition == Condition::holds) return;
        }
      },
      runtime::ClockKind::virtual_time, seed);
  const std::uint64_t expected = expected_stop(algorithm, values);
  for (std::uint64_t rank = 0; rank < values.ranks; ++rank)
    if (ran.stopped[rank] != expected)
      ran.wrong = fmt::format("rank {} stopped after {} iterations, expected {}", rank,
                              ran.stopped[rank], expected);
  return ran;
}

/// Number of messages over the wide area: in the whole run, and until the last iteration.
struct Crossed {
  std::uint64_t all = 0, before_last = 0;
};

/// Runs two clusters of one host and one thread each. If `decides_alone`, every value alone proves
/// the result.
Crossed cross(const std::string& algorithm, bool decides_alone, std::uint64_t rounds) {
  const Sim sim(Program{algorithm, "", 2, "", "", 1, true}.text());
  Crossed crossed;
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      thread.sleep_for(1ms);
      if (i + 1 == rounds)
        crossed.before_last += thread.deployment().traffic().to_other_clusters("sum").messages;
      thread.path("sum").move_value(decides_alone ? 1.0 : 0.75);
    }
  });
  INFO(run.broke);
  crossed.all = run.wan_of("sum").messages;

  return crossed;
}

}  // namespace

TEST_CASE("relaxation: all threads stop after the same promised iteration") {
  const std::uint64_t most = std::getenv("PATHS_SEEDS") != nullptr ? 20 : sampled == 1 ? 3 : 1;
  for (const Program& program : all_programs())
    for (const Speeds speeds : {Speeds::same, Speeds::first_slow, Speeds::last_slow, Speeds::noisy})
      for (std::uint64_t seed = 1; seed <= most; ++seed) {
        INFO(program.name() << ", speeds " << static_cast<int>(speeds) << ", seed " << seed);
        const Ran ran = run_until_it_holds(program, speeds, seed);
        if (ran.run.broke.empty() && ran.run.failures.empty() && ran.wrong.empty()) continue;
        for (const std::string& failure : ran.run.failures) UNSCOPED_INFO(failure);
        INFO(ran.run.broke);
        FAIL(ran.wrong);
      }
}

TEST_CASE("relaxation: the expanded text is the same program") {
  for (const Program& program : all_programs()) {
    if (program.clusters != 3) continue;
    INFO(program.name());
    const Sim sim(program.text());
    CHECK(Sim(sim.low_level()).plan().digest == sim.plan().digest);
  }
}

// Expected number of messages in each direction. Clusters that push their values send one message
// per round. Clusters that request values send a request and a reply per round. `budget:8,4` sends
// one batch for 4 rounds. `subscribe:N` sends one request for N tuples, and then these N tuples.
TEST_CASE("relaxation: messages over the wide area match those computed by hand") {
  CHECK(cross("exact", false, 48).all == 2 * 48);
  CHECK(cross("magpie", false, 48).all == 2 * 48 * 2);
  CHECK(cross("conditional:push", false, 48).all == 2 * 48);
  CHECK(cross("conditional:demand", false, 48).all == 2 * 48 * 2);
  CHECK(cross("conditional:subscribe:8", false, 48).all == 2 * (48 / 8) * (1 + 8));
  CHECK(cross("periodic:4", false, 48).all == cross("magpie", false, 12).all);
  CHECK(cross("lagged:3", false, 48).all == 2 * 48);
  CHECK(cross("budget:8,4", false, 48).all == 2 * 48 / 4);
  // The batch of the last two rounds is not sent, because no result uses it.
  CHECK(cross("budget:8,4", false, 50).all == 2 * 48 / 4);
}

TEST_CASE("relaxation: a cluster that decides alone and pulls sends nothing before the end") {
  for (const char* algorithm : {"conditional:demand", "conditional:subscribe:8"}) {
    INFO(algorithm);
    const Crossed crossed = cross(algorithm, true, 48);
    CHECK(crossed.before_last == 0);
    CHECK(crossed.all == 2);  // at its end, each cluster pushes its newest tuple
  }
  CHECK(cross("conditional:push", true, 48).all == 2 * 48);
}

namespace {

/// Returns the end time of a program with 40 iterations of length `compute`. Each link takes 11 ms.
base::Nanos ends_at(const Program& program, base::Nanos compute) {
  const Sim sim(program.text());
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    for (std::uint64_t i = 0; i < 40; ++i) {
      thread.sleep_for(compute);
      thread.path("sum").move_value(0.75);
    }
  });
  return run.end;
}

}  // namespace

TEST_CASE("relaxation: a late result costs no time if its rounds outlast the transfer") {
  const auto bare = [](const char* algorithm, const char* relaxation) {
    return Program{algorithm, relaxation, 2, "", "", 1, true};
  };
  // No thread waits if messages are fast enough. With lagged:3, a message to the other cluster must
  // take at most 3 iterations. With budget:8,4, a batch of 4 rounds must take at most 8 - 4 + 1
  // iterations after its last round. In a tree with the relaxation {lagged: 3}, a message and its
  // reply together must take at most 3 iterations.
  const Program lagged = bare("lagged:3", "");
  const Program budget = bare("budget:8,4", "");
  const Program tree = bare("", "{lagged: 3}");
  CHECK(ends_at(lagged, 4ms) == 40 * 4ms);
  CHECK(ends_at(lagged, 3ms) > 40 * 3ms);
  CHECK(ends_at(budget, 3ms) == 40 * 3ms);
  CHECK(ends_at(budget, 2ms) > 40 * 2ms);
  // Rounds that are under way at the end delay the end of the run, but no thread waits for them.
  CHECK(ends_at(tree, 8ms) == 40 * 8ms);
  CHECK(ends_at(tree, 7ms) > 40 * 7ms);
}

namespace {

struct Partial {
  SimResult run;
  std::vector<RoundOutcome> last;    // last outcome of each thread, indexed by rank
  std::vector<std::uint64_t> ended;  // number of finished iterations, indexed by rank
};

/// Runs a program in which the threads of cluster `who` return after some iterations, or throw if
/// `throws`. Other threads continue to their end or to their first error.
Partial leave(const Program& program, const std::string& who, bool throws) {
  const Sim sim(program.text());
  Partial partial;
  partial.last.resize(sim.plan().thread_count());
  partial.ended.resize(sim.plan().thread_count());
  partial.run = sim.run([&](paths::Thread& thread) {
    RoundOutcome& last = partial.last[thread.rank()];
    for (std::uint64_t i = 0; i < iterations && !last.is_error; ++i) {
      if (thread.cluster() == who && i == 10) {
        if (throws) throw std::runtime_error(thrown_text);
        return;
      }
      thread.sleep_for(2ms);
      last = contribute(thread, "sum", 0.001);
      ++partial.ended[thread.rank()];
    }
  });
  return partial;
}

/// Checks that every thread outside cluster `who` ended with an error that contains `text`, long
/// before the deadline.
void check_told(const Program& program, const Partial& partial, const std::string& who,
                const std::string& text) {
  CHECK(partial.run.broke == "");
  const paths::Plan plan = Sim(program.text()).plan();
  for (const auto& host : plan.hosts) {
    if (plan.clusters[host.cluster] == who) continue;
    for (std::uint32_t i = 0; i < host.threads; ++i) {
      const RoundOutcome& last = partial.last[host.first_thread + i];
      INFO(host.name << ", thread " << i << " after " << partial.ended[host.first_thread + i]);
      CHECK(last.is_error);
      CHECK_THAT(last.error, Catch::Contains(text));
      CHECK(last.at < 1s);
    }
  }
}

void leave_everywhere(bool throws) {
  for (const Program& program : all_programs()) {
    if (program.clusters == 1) continue;
    for (const std::uint64_t who : {std::uint64_t{0}, program.clusters - 1}) {
      const std::string cluster = fmt::format("c{}", who);
      INFO(program.name() << ": " << cluster);
      check_told(program, leave(program, cluster, throws), cluster, throws ? thrown_text : cluster);
    }
  }
}

}  // namespace

TEST_CASE("relaxation: if the threads of a cluster throw the others get an error with the reason") {
  leave_everywhere(true);
}

TEST_CASE("relaxation: if a cluster ends early the others get an error that names it") {
  leave_everywhere(false);
}

namespace {

/// Runs all iterations with a wrapper that throws. Returns the first outcome that is neither a
/// right result nor an error that states the reason; "" = no such outcome.
std::string wrong_outcome(const Sim& sim, const paths::Algorithm& algorithm, double value) {
  constexpr std::uint64_t rounds = 24;
  const double sum = value * sim.plan().thread_count();
  std::string wrong;
  const SimResult run = sim.run([&](paths::Thread& thread) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const RoundOutcome outcome = contribute(thread, "sum", value);
      const bool is_checked = about(algorithm, i).has_value();
      const Condition right = sum < 1 ? Condition::holds : Condition::fails;
      const bool is_right =
          outcome.is_error ? outcome.error.find(thrown_text) != std::string::npos
                           : outcome.condition == (is_checked ? right : Condition::unchecked) &&
                                 (!is_checked || outcome.value == sum || right == Condition::fails);
      if (!is_right && wrong.empty())
        wrong = fmt::format("rank {}, round {}: {}", thread.rank(), i, outcome.error);
    }
  });
  if (!run.broke.empty()) return run.broke;
  return run.failures.empty() ? wrong : run.failures.front();
}

}  // namespace

TEST_CASE(
    "relaxation: an exception in any wrapper gives each thread the right result or an error with "
    "its text") {
  std::size_t runs = 0;
  for (const Program& program : all_programs()) {
    if (program.clusters != 3) continue;
    const Sim sim(program.text());
    for (const Sim::Place& place : sim.places()) {
      for (const char* way : {"down", "up"}) {
        // With 0.03125, the condition needs the values of all threads. With 2.0, one value alone
        // decides the condition.
        for (const double value : {0.03125, 2.0}) {
          if (runs++ % sampled != 0) continue;
          INFO(program.name() << ", " << place.text << ", " << way << ", " << value);
          const Sim thrown = sim.with(place, "thrower", fmt::format("{{way: {}, round: 6}}", way));
          const std::string wrong = wrong_outcome(thrown, algorithm_of(program), value);
          if (!wrong.empty()) FAIL(wrong);
        }
      }
    }
  }
  CHECK(runs > 2000);
}

TEST_CASE("algorithms: every word and transfer has a description and an expansion") {
  std::set<std::string> names;
  const auto check = [&](const auto& word) {
    INFO(word.name);
    CHECK(names.insert(word.name).second);
    CHECK(word.help.ends_with('.'));
    CHECK(word.expand != nullptr);
    for (const paths::SettingHelp& setting : word.settings) {
      CHECK(setting.help.ends_with('.'));
      CHECK_THAT(setting.type, Catch::StartsWith("integer from "));
    }
  };
  for (const paths::TransferWord& word : paths::transfer_words()) check(word);
  for (const paths::AlgorithmWord& word : paths::algorithm_words()) {
    check(word);
    CHECK(!word.relaxation.empty());
    CHECK((word.over_tree || word.over_all_to_all || word.is_schedule));
    for (const std::string_view transfer : word.transfers)
      CHECK(names.contains(std::string(transfer)));
    CHECK(word.over_all_to_all == names.contains(std::string(word.transfer)));
    if (!word.transfers.empty())
      CHECK(std::count(word.transfers.begin(), word.transfers.end(), word.transfer) == 1);
  }
}

TEST_CASE("algorithms: a word is refused for kinds of collectives that cannot have it") {
  std::string wrong;
  CHECK(paths::parse_algorithm("sequential", "barrier", wrong));
  CHECK(!paths::parse_algorithm("magpie", "barrier", wrong));
  CHECK(wrong == "expected sequential, found 'magpie'");
  CHECK(paths::has_algorithms("allreduce"));
  CHECK(!paths::has_algorithms("barrier"));
}

TEST_CASE("relaxation: words and their texts name the same algorithms with default parameters") {
  const auto text_of = [](const std::string& word) {
    std::string wrong;
    const auto algorithm = paths::parse_algorithm(word, "allreduce", wrong);
    return algorithm ? paths::algorithm_text(*algorithm) : wrong;
  };
  for (const std::string word :
       {"sequential", "magpie", "exact", "conditional", "conditional:push", "conditional:demand",
        "conditional:subscribe:8", "periodic:7", "lagged:3", "budget:8,4"})
    CHECK(text_of(word) == word);
  CHECK(text_of("magpie:push") == "exact");
  CHECK(text_of("exact:pull") == "magpie");
  CHECK(text_of("conditional:pull") == "conditional");
  CHECK(text_of("conditional:subscribe:1") == "conditional:demand");
  CHECK(text_of("periodic") == "periodic:50");
  CHECK(text_of("lagged") == "lagged:2");
  CHECK(text_of("budget") == "budget:32,16");
}
