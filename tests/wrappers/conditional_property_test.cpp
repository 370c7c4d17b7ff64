// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/conditional_property_test.cpp — a property of all relaxations on random
// multi-clusters: each relaxation keeps its promise in every iteration of every cluster.
//
// PATHS_SEEDS=100000 sets the number of seeds. PATHS_SEED=17 runs only that seed.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "tests/support/environment.hpp"
#include "tests/wrappers/relaxation_scene.hpp"

namespace {

using namespace relaxation_tests;
using paths::Origin;
using paths::Result;
using wrappers::ConditionCheckSwitches;
using Kind = Relaxation::Kind;

struct Counts {
  std::uint64_t scenes = 0;
  std::uint64_t decisions = 0;  // results of checked iterations
  std::uint64_t remote = 0;     // decisions for which the cluster's own value is not enough
  std::uint64_t proved = 0;
  std::uint64_t waited = 0;  // remote decisions for which a thread waited
  std::uint64_t wrong = 0;   // wrong conditions
  std::uint64_t failed = 0;  // iterations that ended in an error
  std::uint64_t asked = 0;   // requests sent

  void operator+=(const Counts& other) {
    scenes += other.scenes;
    decisions += other.decisions;
    remote += other.remote;
    proved += other.proved;
    waited += other.waited;
    wrong += other.wrong;
    failed += other.failed;
    asked += other.asked;
  }
  double share(std::uint64_t part) const {
    return decisions == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(decisions);
  }
};

// ---- results ---------------------------------------------------------------------------------

/// Returns the mistake in an unchecked result; "" = no mistake. Such a result must be the value of
/// the thread or of its cluster, and the thread must not have waited.
std::string wrong_unchecked(const Scene& scene, std::uint32_t c, std::uint32_t thread,
                            std::uint64_t iteration, const Answer& answer) {
  const Result& result = answer.result;
  const bool is_periodic = scene.relaxation().kind == Kind::periodic;
  if (result.condition != Condition::unchecked) return "a condition where none was checked";
  if (result.sequence != iteration) return "unchecked, but about another iteration";
  if (result.origin.kind != Origin::Kind::local) return "unchecked, but not local";
  if (answer.took != Nanos(0) && (is_periodic || result.last_arriver))
    return "unchecked, but waited";
  const base::Payload& own =
      is_periodic ? scene.values[iteration][c][thread] : scene.partial(iteration, c);
  return result.payload == own ? "" : "unchecked, but not the own value";
}

/// Returns the mistake in the value of a checked result about iteration `about`; "" = none.
std::string wrong_value(const Scene& scene, std::uint32_t c, std::uint64_t about,
                        const Result& result) {
  if (result.sequence != about) return "about another iteration";
  if (!result.proved) {
    if (!(result.payload == scene.fold(about, scene.everyone()))) return "value not exact";
    if (result.contributions != scene.contributors(scene.everyone())) return "not all contributed";
    return "";
  }
  if (!scene.may_prove()) return "proved, but exact was asked for";
  for (ClusterSet set = 1; set < scene.everyone(); ++set) {
    if ((set >> c & 1) == 0) continue;
    if (scene.contributors(set) == result.contributions && result.payload == scene.fold(about, set))
      return "";
  }
  return "proved value of no part of the clusters";
}

/// Returns the mistake in the origin of a checked result; "" = none.
std::string wrong_origin(const Scene& scene, std::uint32_t c, std::uint64_t about,
                         const Answer& answer) {
  const Origin& origin = answer.result.origin;
  if (!scene.algorithm.all_to_all)
    return origin.kind == Origin::Kind::joined ? "" : "a tree's result is not joined";
  const bool is_own = scene.is_proved_by(about, 1u << c);
  if ((origin.kind == Origin::Kind::local) != is_own) return "local if the own value proves, only";
  if (origin.kind == Origin::Kind::joined) return "joined, but there is no tree";
  if (is_own) return "";
  if (origin.cluster == c || origin.cluster >= scene.clusters()) return "from no other cluster";
  if (origin.sequence < about) return "from a tuple about an earlier iteration";
  if (origin.nanos < 0) return "came later than it was used";
  // The times in the origin are the times of the thread that arrived last. The times of other
  // threads are not compared, because these threads waited for other durations.
  if (!answer.result.last_arriver) return "";
  if (origin.kind == Origin::Kind::cached && answer.took != Nanos(0)) return "cached, but waited";
  if (origin.kind == Origin::Kind::waited && answer.took.count() != origin.nanos)
    return "waited for another time than it says";
  return "";
}

std::string wrong_result(const Scene& scene, std::uint32_t c, std::uint32_t thread,
                         std::uint64_t iteration, const Answer& answer, Counts& counts) {
  if (!scene.is_checked(iteration) || iteration < scene.lag())
    return wrong_unchecked(scene, c, thread, iteration, answer);
  const std::uint64_t about = iteration - scene.lag();
  if (answer.result.condition != scene.expected(about)) {
    ++counts.wrong;
    return "";
  }
  const std::string wrong = wrong_value(scene, c, about, answer.result);
  return wrong.empty() ? wrong_origin(scene, c, about, answer) : wrong;
}

// ---- failures --------------------------------------------------------------------------------

/// Returns whether a failed contribution affects only its own thread, because no check follows in
/// this round.
bool fails_alone(const Scene& scene, std::uint32_t c, std::uint32_t thread,
                 std::uint64_t iteration) {
  return scene.fault == Fault::contribution && !scene.is_checked(iteration) &&
         iteration == scene.faulty_iteration && c == scene.faulty_cluster &&
         thread == scene.faulty_thread;
}

/// Returns the first checked iteration in which a cluster failed; `iterations` = it did not fail.
std::uint64_t first_failure(const Scene& scene, const std::vector<Answer>& answers) {
  std::uint64_t first = 0;
  while (first < scene.iterations && (!scene.is_checked(first) || answers[first].error.empty()))
    ++first;
  return first;
}

/// Checks the first failed iteration of each cluster. Returns a mistake; "" = no mistake. A cluster
/// must not fail before the fault, or while tuples of the other clusters still prove the result.
std::string wrong_failures_in_step(const Scene& scene, const std::vector<std::uint64_t>& failed) {
  const bool is_exactly_known = scene.fault == Fault::contribution || scene.fault == Fault::store;
  const bool has_fault = !is_exactly_known || scene.is_checked(scene.faulty_iteration);
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    if (failed[c] == scene.iterations) continue;
    if (scene.fault == Fault::none || !has_fault) return "failed without a fault";
    if (!is_exactly_known) continue;
    if (failed[c] < scene.faulty_iteration) return "failed before the fault";
    if (c == scene.faulty_cluster) continue;
    if (!scene.may_prove() && failed[c] != scene.faulty_iteration)
      return "exact, but decided without everyone";
    ClusterSet stored = 0;
    for (std::uint32_t other = 0; other < scene.clusters(); ++other) {
      const bool moved = failed[other] > failed[c] ||
                         (failed[other] == failed[c] && other != scene.faulty_cluster);
      if (moved) stored |= 1u << other;
    }
    if (scene.is_proved_by(failed[c], stored))
      return fmt::format("cluster {} failed in iteration {}, which the others had proved", c,
                         failed[c]);
  }
  if (is_exactly_known && has_fault && failed[scene.faulty_cluster] != scene.faulty_iteration)
    return "the faulty cluster did not fail in time";
  return "";
}

/// Checks failed iterations as wrong_failures_in_step() does, for batches. With batches, a cluster
/// must fail in the first iteration that needs values that it never received.
std::string wrong_failures_of_batches(const Scene& scene,
                                      const std::vector<std::uint64_t>& failed) {
  const std::uint64_t every = scene.relaxation().every, lag = scene.lag();
  std::uint64_t own = scene.iterations, told = scene.iterations;
  if (scene.fault == Fault::deadline) return "";
  if (scene.fault == Fault::contribution) {
    own = scene.faulty_iteration;
    told = own / every * every;
  } else if (scene.fault == Fault::store && (scene.faulty_iteration + 1) % every == 0) {
    own = scene.faulty_iteration;
    told = own + 1 - every;
  } else if (scene.fault == Fault::link) {
    own = scene.faulty_message() * every + lag;
    told = (own + 1) / every * every;
  }
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    const std::uint64_t expected =
        std::min(c == scene.faulty_cluster ? own : told + lag, scene.iterations);
    if (failed[c] != expected)
      return fmt::format("cluster {} failed in iteration {}, expected {}", c, failed[c], expected);
  }
  return "";
}

std::string wrong_failures_for_good(const Scene& scene, const MultiCluster& multi_cluster) {
  std::vector<std::uint64_t> failed;
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    const std::vector<Answer>& answers = multi_cluster.answers(c)[0];
    failed.push_back(first_failure(scene, answers));
    for (std::uint64_t i = failed.back(); i < scene.iterations; ++i)
      if (scene.is_checked(i) && answers[i].error.empty()) return "a failed cluster decided again";
  }
  return scene.has_batches() ? wrong_failures_of_batches(scene, failed)
                             : wrong_failures_in_step(scene, failed);
}

/// Checks failed iterations in a tree. A failure affects one round, and all clusters get the error
/// when the result of that round is due. The cluster of a failed contribution also gets an error at
/// once.
std::string wrong_failures_in_tree(const Scene& scene, const MultiCluster& multi_cluster) {
  if (scene.fault == Fault::deadline) return "";
  const std::uint64_t due = scene.faulty_iteration + scene.lag();
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    for (std::uint64_t i = 0; i < scene.iterations; ++i) {
      bool expected = false;
      if (scene.fault == Fault::contribution || scene.fault == Fault::store) expected = i == due;
      if (scene.fault == Fault::contribution && c == scene.faulty_cluster)
        expected |= i == scene.faulty_iteration;
      if (scene.fault == Fault::link && scene.faulty_cluster != 0) expected = i >= due;
      if (multi_cluster.answers(c)[0][i].error.empty() != expected) continue;
      return fmt::format("cluster {}, iteration {}: {}", c, i,
                         expected ? "expected a failure" : "failed");
    }
  }
  return "";
}

// ---- requests --------------------------------------------------------------------------------

std::string wrong_asks(const Scene& scene, MultiCluster& multi_cluster, Counts& counts) {
  for (std::uint32_t into = 0; into < scene.clusters(); ++into) {
    for (std::uint32_t from = 0; from < scene.clusters(); ++from) {
      if (into == from) continue;
      const Transferred& transferred = multi_cluster.transferred(into, from);
      counts.asked += transferred.asked_in.size();
      for (std::size_t i = 0; i < transferred.asked_in.size(); ++i) {
        if (scene.is_proved_by(transferred.asked_in[i], 1u << into))
          return "asked in an iteration that the own value proves";
        if (i > 0 && transferred.asked_in[i] <= transferred.asked_in[i - 1])
          return "asked the same cluster twice in an iteration";
      }
      if (transferred.came > transferred.asked) return "more came than was asked for";
      const bool is_open = transferred.asked - transferred.came >= scene.relaxation().count;
      if (scene.fault == Fault::none && is_open) return "less came than was asked for";
    }
  }
  return "";
}

// ---- a scene ---------------------------------------------------------------------------------

std::string wrong_answer(const Scene& scene, const MultiCluster& multi_cluster, std::uint32_t c,
                         std::uint32_t thread, std::uint64_t i, Counts& counts) {
  const Answer& answer = multi_cluster.answers(c)[thread][i];
  if (fails_alone(scene, c, thread, i)) return answer.error.empty() ? "did not fail" : "";
  if (!answer.error.empty()) {
    ++counts.failed;
    const bool is_named = scene.fault == Fault::deadline || scene.fault == Fault::none ||
                          answer.error.find("injected") != std::string::npos;
    if (!scene.is_checked(i)) return "failed where nothing is checked";
    return is_named ? "" : "another error: " + answer.error;
  }
  const Answer& first = multi_cluster.answers(c)[0][i];
  if (scene.is_checked(i) &&
      (!first.error.empty() || !(first.result.payload == answer.result.payload) ||
       first.result.condition != answer.result.condition ||
       first.result.sequence != answer.result.sequence ||
       first.result.origin.kind != answer.result.origin.kind))
    return "its threads differ";
  if (thread == 0 && scene.is_checked(i) && i >= scene.lag()) {
    const bool is_remote = !scene.is_proved_by(i - scene.lag(), 1u << c);
    ++counts.decisions;
    counts.remote += is_remote ? 1 : 0;
    counts.proved += answer.result.proved ? 1 : 0;
    counts.waited += is_remote && answer.result.origin.kind == Origin::Kind::waited ? 1 : 0;
  }
  return wrong_result(scene, c, thread, i, answer, counts);
}

/// Runs the scene and returns the first mistake; "" = none. Wrong conditions are only counted.
std::string judge(const Scene& scene, ConditionCheckSwitches switches, Counts& counts) {
  ++counts.scenes;
  MultiCluster multi_cluster(scene, switches);
  multi_cluster.run();
  std::string mistake;
  for (std::uint32_t c = 0; c < scene.clusters(); ++c)
    for (std::uint32_t thread = 0; thread < scene.threads[c]; ++thread)
      for (std::uint64_t i = 0; i < scene.iterations; ++i) {
        const std::string wrong = wrong_answer(scene, multi_cluster, c, thread, i, counts);
        if (mistake.empty() && !wrong.empty())
          mistake = fmt::format("thread {}/{}, iteration {}: {}", c, thread, i, wrong);
      }
  if (mistake.empty())
    mistake = scene.algorithm.all_to_all ? wrong_failures_for_good(scene, multi_cluster)
                                         : wrong_failures_in_tree(scene, multi_cluster);
  return mistake.empty() && scene.asks() ? wrong_asks(scene, multi_cluster, counts) : mistake;
}

/// Number of seeds by default; lower under a sanitizer. The thread sanitizer is not useful here,
/// because a scene uses one OS thread.
constexpr std::uint64_t usual_seeds = test_support::or_fewer(4'000);

struct Seeds {
  explicit Seeds(std::uint64_t usual) : first(test_support::from_environment("PATHS_SEED", 1)) {
    const bool is_one = std::getenv("PATHS_SEED") != nullptr;
    last = is_one ? first : test_support::from_environment("PATHS_SEEDS", usual);
  }
  std::uint64_t first, last;
};

/// Runs random scenes with the given switches, which disable a part of the decision rule. Returns
/// the summed counts of all scenes, including the number of wrong conditions.
Counts judge_switched(ConditionCheckSwitches switches, std::uint64_t usual) {
  Counts counts;
  const Seeds seeds(std::min(usual, usual_seeds));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    judge(Scene(seed, {.may_fail = false, .only = Kind::conditional}), switches, counts);
  WARN(fmt::format("{:.2f}% of {} decisions are wrong", counts.share(counts.wrong),
                   counts.decisions));
  return counts;
}

}  // namespace

TEST_CASE("relaxations: every cluster gets in every iteration what its relaxation promises") {
  std::map<std::string, Counts> families;
  const Seeds seeds(usual_seeds);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, {});
    Counts counts;
    std::string mistake;
    try {
      mistake = judge(scene, {}, counts);
    } catch (const std::exception& error) {
      mistake = error.what();
    }
    INFO("again with: PATHS_SEED=" << seed << ", " << scene.family() << ", fault "
                                   << static_cast<int>(scene.fault));
    if (counts.wrong != 0) mistake = "wrong condition; " + mistake;
    if (!mistake.empty()) FAIL(mistake);
    families[scene.family()] += counts;
  }
  std::string table = "scenes, decisions, of them remote, waited, proved; asks; failed iterations";
  for (const auto& [family, counts] : families) {
    table += fmt::format("\n{:>22}: {:>6} {:>8} {:>6.1f}% {:>5.1f}% {:>5.1f}% {:>7} {:>7}", family,
                         counts.scenes, counts.decisions, counts.share(counts.remote),
                         counts.share(counts.waited), counts.share(counts.proved), counts.asked,
                         counts.failed);
    CHECK(counts.wrong == 0);
    if (seeds.first != seeds.last) CHECK(counts.share(counts.remote) >= 25);
  }
  WARN(table);
  if (seeds.last - seeds.first >= 1'000) CHECK(families.size() == 11);
}

TEST_CASE("conditional: without the last exact pair the property finds wrong decisions",
          "[without_asan]") {
  CHECK(judge_switched({.use_exact_pair = false}, 300).wrong > 0);
}

TEST_CASE("conditional: without recording adopted pairs the property finds wrong decisions",
          "[without_asan]") {
  CHECK(judge_switched({.record_adoption = false}, 1000).wrong > 0);
}

TEST_CASE("magpie: without the last exact pair a skipped tuple hangs the program") {
  std::uint64_t hung = 0;
  const Seeds seeds(50);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, {.may_fail = false, .only = Kind::exact});
    Counts counts;
    try {
      judge(scene, {.use_exact_pair = false}, counts);
    } catch (const runtime::Deadlock&) {
      ++hung;
    }
  }
  WARN(fmt::format("magpie without the pair: {} of {} runs hang", hung,
                   seeds.last - seeds.first + 1));
  CHECK(hung > 0);
}
