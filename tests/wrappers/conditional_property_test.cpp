// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/conditional_property_test.cpp — on random multi-clusters, every cluster decides
// in every iteration what a full allreduce would.
//
// PATHS_SEEDS=100000 runs more seeds than the default, PATHS_SEED=17 that one alone.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "pastset/errors.hpp"
#include "paths/cluster_tuples.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/one_host.hpp"
#include "wrappers/condition_check.hpp"

namespace {

using base::Nanos;
using base::Scalar;
using base::Sign;
using paths::Comparison;
using paths::Condition;
using paths::TravelError;
using runtime::Random;
using wrappers::ConditionCheckSettings;
using wrappers::ConditionCheckSwitches;
using namespace std::chrono_literals;
using namespace test_support;

/// A part of the clusters: bit c stands for cluster c.
using ClusterSet = std::uint32_t;

enum class Fault : std::uint8_t {
  none,
  contribution,  ///< a thread's contribution fails
  store,         ///< the result element refuses a tuple
  link,          ///< reads from another cluster fail from some time on
  deadline,      ///< a thread comes after the deadline
};

/// Everything that is random, drawn from the seed before anything runs.
struct Scene {
  Scene(std::uint64_t seed, bool may_fail, bool always_exact);

  std::uint32_t clusters() const { return static_cast<std::uint32_t>(threads.size()); }
  ClusterSet everyone() const { return (1u << clusters()) - 1; }
  std::uint64_t contributors(ClusterSet set) const;
  /// Thread by thread, then cluster by cluster, in order: what every cluster must compute.
  base::Payload fold(std::uint64_t iteration, ClusterSet set) const;
  base::Payload partial(std::uint64_t iteration, std::uint32_t cluster) const;
  bool is_proved_by(std::uint64_t iteration, ClusterSet set) const;
  Condition expected(std::uint64_t iteration) const;
  Nanos work(std::uint32_t cluster, std::uint32_t thread, std::uint64_t iteration) const;

  std::uint64_t seed;
  std::vector<std::uint32_t> threads;  // of each cluster
  std::uint64_t iterations;
  ConditionCheckSettings settings;
  std::vector<std::vector<std::vector<base::Payload>>> values;  // iteration, cluster, thread
  Nanos work_max, link_max;
  double stall_chance;
  Fault fault = Fault::none;
  std::uint32_t faulty_cluster = 0, faulty_thread = 0;
  std::uint64_t faulty_iteration = 0;

 private:
  void draw_operation(Random& random, bool exact);
  void draw_values(Random& random);
  base::Payload value(double drawn) const;
  void draw_constant(Random& random);
  base::Payload add(const base::Payload& left, const base::Payload& right) const;
};

Scene::Scene(std::uint64_t scene_seed, bool may_fail, bool always_exact) : seed(scene_seed) {
  Random random(seed);
  threads.resize(2 + random.below(4));
  for (std::uint32_t& count : threads) count = 1 + static_cast<std::uint32_t>(random.below(3));
  iterations = 30 + random.below(8);
  draw_operation(random, always_exact || random.chance(0.2));
  draw_values(random);
  if (settings.decision.condition) draw_constant(random);
  work_max = Nanos(random.between(0, 10'000'000));
  link_max = Nanos(random.between(1, 60'000'000));
  stall_chance = random.chance(0.5) ? 0.0 : 0.05;
  if (may_fail && random.chance(0.25)) {
    fault = static_cast<Fault>(1 + random.below(4));
    faulty_cluster = static_cast<std::uint32_t>(random.below(clusters()));
    faulty_thread = static_cast<std::uint32_t>(random.below(threads[faulty_cluster]));
    faulty_iteration = random.below(iterations);
  }
}

void Scene::draw_operation(Random& random, bool exact) {
  const auto pick = [&](auto... choices) {
    const std::common_type_t<decltype(choices)...> all[] = {choices...};
    return all[random.below(sizeof...(choices))];
  };
  const char* name = pick("sum", "sum", "max", "min", "logical_or", "logical_and");
  const bool is_logical = std::strncmp(name, "logical", 7) == 0;
  const bool is_sum = std::strcmp(name, "sum") == 0;
  settings.may_prove = !exact;
  settings.decision.reduction.operation = base::reduce_operation(name);
  settings.decision.reduction.shape.scalar =
      pick(Scalar::f64, Scalar::f32, Scalar::i32, Scalar::i64);
  settings.decision.reduction.sign = is_sum && !exact ? pick(Sign::non_negative, Sign::non_positive)
                                                      : pick(Sign::any, Sign::non_negative);
  if (exact && random.chance(0.3)) return;
  paths::ConditionSpec& condition = settings.decision.condition.emplace();
  condition.scalar = settings.decision.reduction.shape.scalar;
  condition.comparison = is_logical
                             ? Comparison::is_true
                             : pick(Comparison::less, Comparison::at_most, Comparison::greater,
                                    Comparison::at_least, Comparison::equal);
}

/// Sums move with the scale of their iteration, logical values are rarely the deciding one.
void Scene::draw_values(Random& random) {
  const double rare = 0.02 + 0.2 * random.unit();
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const double scale = 0.5 + random.unit();
    auto& of_iteration = values.emplace_back();
    for (const std::uint32_t count : threads) {
      auto& of_cluster = of_iteration.emplace_back();
      for (std::uint32_t thread = 0; thread < count; ++thread) {
        const std::string& name = settings.decision.reduction.operation->name;
        double drawn = random.unit() * scale;
        if (name == "logical_or") drawn = random.chance(rare) ? 1 : 0;
        if (name == "logical_and") drawn = random.chance(rare) ? 0 : 1;
        if (settings.decision.reduction.sign == Sign::any && random.chance(0.5)) drawn = -drawn;
        if (settings.decision.reduction.sign == Sign::non_positive) drawn = -drawn;
        of_cluster.push_back(value(drawn));
      }
    }
  }
}

base::Payload Scene::value(double drawn) const {
  return base::with_scalar(settings.decision.reduction.shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    const double scaled = std::is_integral_v<T> && std::abs(drawn) != 1 ? drawn * 1000 : drawn;
    return base::Payload::of(static_cast<T>(scaled));
  });
}

/// What some part of the clusters comes to in some iteration, so that equality happens.
void Scene::draw_constant(Random& random) {
  if (settings.decision.condition->comparison == Comparison::is_true) return;
  const ClusterSet part =
      random.chance(0.5) ? everyone() : 1 + static_cast<ClusterSet>(random.below(everyone()));
  const base::Payload hit = fold(random.below(iterations), part);
  base::with_scalar(settings.decision.condition->scalar, [&](auto zero) {
    using T = decltype(zero);
    const T constant = hit.read<T>();
    if constexpr (std::is_floating_point_v<T>) {
      settings.decision.condition->constant = static_cast<double>(constant);
    } else {
      settings.decision.condition->constant = static_cast<std::int64_t>(constant);
    }
  });
}

std::uint64_t Scene::contributors(ClusterSet set) const {
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < clusters(); ++c) sum += (set >> c & 1) != 0 ? threads[c] : 0;
  return sum;
}

base::Payload Scene::add(const base::Payload& left, const base::Payload& right) const {
  if (left.empty()) return right;
  return base::Payload::filled(left.size(), [&](std::span<std::byte> sum) {
    std::memcpy(sum.data(), left.bytes().data(), sum.size());
    settings.decision.reduction.fold(sum, right.bytes());
  });
}

base::Payload Scene::partial(std::uint64_t iteration, std::uint32_t cluster) const {
  base::Payload sum;
  for (const base::Payload& one : values[iteration][cluster]) sum = add(sum, one);
  return sum;
}

base::Payload Scene::fold(std::uint64_t iteration, ClusterSet set) const {
  base::Payload sum;
  for (std::uint32_t c = 0; c < clusters(); ++c)
    if ((set >> c & 1) != 0) sum = add(sum, partial(iteration, c));
  return sum;
}

bool Scene::is_proved_by(std::uint64_t iteration, ClusterSet set) const {
  return set != 0 && settings.may_prove &&
         paths::proves(*settings.decision.condition, settings.decision.reduction.operation->name,
                       settings.decision.reduction.sign, fold(iteration, set).bytes());
}

Condition Scene::expected(std::uint64_t iteration) const {
  if (!settings.decision.condition) return Condition::unchecked;
  return paths::holds(*settings.decision.condition, fold(iteration, everyone()).bytes())
             ? Condition::holds
             : Condition::fails;
}

Nanos Scene::work(std::uint32_t cluster, std::uint32_t thread, std::uint64_t iteration) const {
  Random random(seed, 1000 + (iteration * 8 + cluster) * 8 + thread);
  const Nanos usual(random.between(0, work_max.count()));
  const bool is_late = fault == Fault::deadline && cluster == faulty_cluster &&
                       thread == faulty_thread && iteration == faulty_iteration;
  if (is_late) return 20s;
  return random.chance(stall_chance) ? usual * 20 : usual;
}

/// What a thread got in an iteration.
struct Answer {
  paths::Result result;
  std::string error;  // "" when there was none
};
using Answers = std::vector<std::vector<Answer>>;  // of each cluster, of thread 0 by iteration

/// The scene's multi-cluster on one host: allreduce, check and store per cluster, a prefetch with
/// a random delay for each pair.
class MultiCluster {
 public:
  MultiCluster(const Scene& scene, ConditionCheckSwitches switches)
      : scene_(scene), switches_(switches), link_random_(scene.seed, 1) {
    const Scalar scalar = scene.settings.decision.reduction.shape.scalar;
    value_ = pastset::Template({{pastset::Field::Kind::scalar, scalar, 1}});
    for (std::uint32_t c = 0; c < scene.clusters(); ++c) add_elements(c);
    for (std::uint32_t c = 0; c < scene.clusters(); ++c) add_cluster(c);
    for (std::uint32_t c = 0; c < scene.clusters(); ++c)
      for (std::uint32_t from = 0; from < scene.clusters(); ++from)
        if (from != c) add_prefetch(c, from);
    if (scene.fault == Fault::deadline) {
      builder_.plan().deadline = 5s;
      builder_.plan().deadline_written = true;
    }
    here_.emplace(builder_);
  }

  /// Runs every thread through all iterations, errors or not. Throws Deadlock.
  Answers run() {
    answers_.assign(scene_.clusters(), std::vector<Answer>(scene_.iterations));
    here_->run([&] {
      std::vector<runtime::Task> tasks;
      for (std::uint32_t c = 0; c < scene_.clusters(); ++c)
        for (std::uint32_t thread = 0; thread < scene_.threads[c]; ++thread)
          tasks.push_back(here_->spawn([this, c, thread] { run_thread(c, thread); }));
      for (runtime::Task& task : tasks) task.join();
    });
    return std::move(answers_);
  }
  const std::string& mistake() const { return mistake_; }

 private:
  static std::string result_name(std::uint32_t c) { return fmt::format("result.{}", c); }
  static std::string cache_name(std::uint32_t c, std::uint32_t from) {
    return c == from ? result_name(c) : fmt::format("cache.{}.{}", c, from);
  }

  void add_elements(std::uint32_t c) {
    for (std::uint32_t from = 0; from < scene_.clusters(); ++from)
      builder_.element(cache_name(c, from), paths::partial_template(value_));
  }

  void add_cluster(std::uint32_t c) {
    const auto faulty =
        builder_.does(fmt::format("faulty.{}", c), [this, c](auto operation, auto next) {
          if (fails(Fault::contribution, c, operation.sequence) &&
              operation.thread == scene_.faulty_thread)
            throw std::runtime_error("injected");
          return next(std::move(operation));
        });
    const auto join = builder_.wrapper(
        "allreduce", fmt::format("sum.{}", c),
        {{"template", value_.text()},
         {"operation", scene_.settings.decision.reduction.operation->name},
         {"contributions",
          std::string(paths::sign_name(scene_.settings.decision.reduction.sign))}});
    const auto check =
        builder_.made(fmt::format("check.{}", c), false, [this, c](paths::Host& host) {
          ConditionCheckSettings settings = scene_.settings;
          settings.elements.own = result_name(c);
          for (std::uint32_t from = 0; from < scene_.clusters(); ++from)
            settings.elements.all.push_back(cache_name(c, from));
          return std::make_unique<wrappers::ConditionCheck>(host, checks_.at(c), settings,
                                                            switches_);
        });
    checks_.push_back(check);
    const auto refuses =
        builder_.does(fmt::format("refuses.{}", c), [this, c](auto operation, auto next) {
          if (fails(Fault::store, c, operation.sequence)) throw std::runtime_error("injected");
          return next(std::move(operation));
        });
    const auto store =
        builder_.wrapper("store", fmt::format("store.{}", c), {{"element", result_name(c)}});
    paths_.push_back(
        builder_.path("graph", scene_.threads[c], {faulty, join, check, refuses, store}));
  }

  void add_prefetch(std::uint32_t c, std::uint32_t from) {
    const std::string pair = fmt::format("{}.{}", c, from);
    const auto prefetch =
        builder_.wrapper("prefetch", "prefetch." + pair, {{"into", cache_name(c, from)}});
    const auto link = builder_.does("link." + pair, [this, c](auto operation, auto next) {
      runtime::Runtime& runtime = next.host().runtime();
      runtime.sleep_for(link_delay());
      if (scene_.fault == Fault::link && c == scene_.faulty_cluster &&
          operation.sequence > scene_.faulty_iteration / 2)
        throw std::runtime_error("injected");
      paths::Result result = next(std::move(operation));
      runtime.sleep_for(link_delay());
      return result;
    });
    const auto observe =
        builder_.wrapper("observe", "observe." + pair, {{"element", result_name(from)}});
    builder_.path("graph", 0, {prefetch, link, observe});
  }

  Nanos link_delay() {
    const Nanos usual(link_random_.between(0, scene_.link_max.count()));
    return link_random_.chance(scene_.stall_chance) ? usual * 10 : usual;
  }

  bool fails(Fault fault, std::uint32_t cluster, std::uint64_t iteration) const {
    return scene_.fault == fault && cluster == scene_.faulty_cluster &&
           iteration == scene_.faulty_iteration;
  }

  void run_thread(std::uint32_t c, std::uint32_t thread) {
    for (std::uint64_t iteration = 0; iteration < scene_.iterations; ++iteration) {
      here_->sleep(scene_.work(c, thread, iteration));
      Answer answer;
      try {
        answer.result =
            here_->move(paths_[c], thread, iteration, scene_.values[iteration][c][thread]);
      } catch (const TravelError& error) {
        answer.error = error.what();
      }
      check_same(c, iteration, answer);
    }
  }

  /// All threads of a cluster get the same.
  void check_same(std::uint32_t c, std::uint64_t iteration, Answer& answer) {
    Answer& first = answers_[c][iteration];
    if (first.error.empty() && first.result.payload.empty()) {
      first = std::move(answer);
    } else if (first.error.empty() != answer.error.empty() ||
               !(first.result.payload == answer.result.payload) ||
               first.result.condition != answer.result.condition) {
      mistake_ = fmt::format("threads of cluster {} differ in iteration {}", c, iteration);
    }
  }

  const Scene& scene_;
  const ConditionCheckSwitches switches_;
  Random link_random_;
  pastset::Template value_;
  PlanBuilder builder_;
  std::vector<std::uint32_t> checks_, paths_;  // of each cluster
  std::optional<OneHost> here_;
  Answers answers_;
  std::string mistake_;
};

struct Counts {
  std::uint64_t decisions = 0;  // of conditional scenes
  std::uint64_t remote = 0;     // of them, not from the cluster's own value alone
  std::uint64_t proved = 0;
  std::uint64_t wrong = 0;   // conditions
  std::uint64_t failed = 0;  // iterations that ended in an error
};

/// What is wrong with a decision; "" when nothing is.
std::string wrong_answer(const Scene& scene, std::uint32_t cluster, std::uint64_t iteration,
                         const paths::Result& result) {
  if (result.sequence != iteration) return "about another iteration";
  if (!result.proved) {
    if (!(result.payload == scene.fold(iteration, scene.everyone()))) return "value not exact";
    if (result.contributions != scene.contributors(scene.everyone())) return "not all contributed";
    return "";
  }
  if (!scene.settings.may_prove) return "proved, but exact was asked for";
  for (ClusterSet set = 1; set < scene.everyone(); ++set) {
    if ((set >> cluster & 1) == 0) continue;
    if (scene.contributors(set) == result.contributions &&
        result.payload == scene.fold(iteration, set))
      return "";
  }
  return "proved value of no part of the clusters";
}

/// The first iteration a cluster failed in, and then in all later ones; or `iterations`.
std::uint64_t first_failure(const Scene& scene, const std::vector<Answer>& answers) {
  std::uint64_t first = 0;
  while (first < scene.iterations && answers[first].error.empty()) ++first;
  return first;
}

/// Who may fail, and when: nobody before the fault; those who could decide from the tuples did.
std::string wrong_failures(const Scene& scene, const Answers& answers) {
  std::vector<std::uint64_t> failed;
  for (const auto& of_cluster : answers) {
    failed.push_back(first_failure(scene, of_cluster));
    for (std::uint64_t i = failed.back(); i < scene.iterations; ++i)
      if (of_cluster[i].error.empty()) return "a failed cluster decided again";
  }
  const bool is_exactly_known = scene.fault == Fault::contribution || scene.fault == Fault::store;
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    if (failed[c] == scene.iterations) continue;
    if (scene.fault == Fault::none) return "failed without a fault";
    if (!is_exactly_known) continue;
    if (failed[c] < scene.faulty_iteration) return "failed before the fault";
    if (c == scene.faulty_cluster) continue;
    if (!scene.settings.may_prove && failed[c] != scene.faulty_iteration)
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
  if (is_exactly_known && failed[scene.faulty_cluster] != scene.faulty_iteration)
    return "the faulty cluster did not fail in time";
  return "";
}

/// Runs the scene and says what is wrong; a wrong condition is only counted.
std::string judge(const Scene& scene, ConditionCheckSwitches switches, Counts& counts) {
  MultiCluster multi_cluster(scene, switches);
  const Answers answers = multi_cluster.run();
  std::string mistake = multi_cluster.mistake();
  for (std::uint32_t c = 0; c < scene.clusters(); ++c) {
    for (std::uint64_t i = 0; i < scene.iterations; ++i) {
      const Answer& answer = answers[c][i];
      if (!answer.error.empty()) {
        ++counts.failed;
        continue;
      }
      if (scene.settings.may_prove) {
        ++counts.decisions;
        counts.remote += scene.is_proved_by(i, 1u << c) ? 0 : 1;
        counts.proved += answer.result.proved ? 1 : 0;
      }
      if (answer.result.condition != scene.expected(i)) {
        ++counts.wrong;
        continue;
      }
      if (!mistake.empty()) continue;
      mistake = wrong_answer(scene, c, i, answer.result);
      if (!mistake.empty()) mistake = fmt::format("cluster {}, iteration {}: {}", c, i, mistake);
    }
  }
  return mistake.empty() ? wrong_failures(scene, answers) : mistake;
}

/// As many as take some seconds; fewer where a sanitizer makes each take ten times as long, or,
/// thread sanitizer, keeps memory for every context there ever was.
#if defined(PATHS_TSAN)
constexpr std::uint64_t usual_seeds = 100;
#elif defined(PATHS_ASAN)
constexpr std::uint64_t usual_seeds = 1'000;
#else
constexpr std::uint64_t usual_seeds = 10'000;
#endif

struct Seeds {
  explicit Seeds(std::uint64_t usual) : first(test_support::from_environment("PATHS_SEED", 1)) {
    const bool is_one = std::getenv("PATHS_SEED") != nullptr;
    last = is_one ? first : test_support::from_environment("PATHS_SEEDS", usual);
  }
  std::uint64_t first, last;
};

}  // namespace

TEST_CASE("conditional: every cluster decides in every iteration what a full allreduce would") {
  Counts counts;
  const Seeds seeds(usual_seeds);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, true, false);
    const std::uint64_t wrong_before = counts.wrong;
    std::string mistake;
    try {
      mistake = judge(scene, {}, counts);
    } catch (const std::exception& error) {
      mistake = error.what();
    }
    INFO("again with: PATHS_SEED=" << seed);
    if (counts.wrong != wrong_before) mistake = "wrong condition; " + mistake;
    if (!mistake.empty()) FAIL(mistake);
  }
  const double remote = static_cast<double>(counts.remote) / static_cast<double>(counts.decisions);
  WARN(fmt::format(
      "{} conditional decisions, {:.1f}% needed a remote value, {:.1f}% were proved "
      "from a part; {} iterations ended in an injected failure",
      counts.decisions, 100 * remote,
      100.0 * static_cast<double>(counts.proved) / static_cast<double>(counts.decisions),
      counts.failed));
  CHECK(counts.wrong == 0);
  if (seeds.first != seeds.last) CHECK(remote >= 0.25);
}

TEST_CASE("conditional: without the last exact pair the property finds wrong decisions") {
  Counts counts;
  const Seeds seeds(std::min<std::uint64_t>(300, usual_seeds));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, false, false);
    if (scene.settings.may_prove) judge(scene, {.use_exact_pair = false}, counts);
  }
  WARN(
      fmt::format("the paper's rule: {:.2f}% of {} decisions are wrong",
                  100.0 * static_cast<double>(counts.wrong) / static_cast<double>(counts.decisions),
                  counts.decisions));
  CHECK(counts.wrong > 0);
}

TEST_CASE("conditional: without recording adopted pairs the property finds wrong decisions") {
  Counts counts;
  const Seeds seeds(std::min<std::uint64_t>(1000, usual_seeds));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, false, false);
    if (scene.settings.may_prove) judge(scene, {.record_adoption = false}, counts);
  }
  WARN(
      fmt::format("adoption not recorded: {:.2f}% of {} decisions are wrong",
                  100.0 * static_cast<double>(counts.wrong) / static_cast<double>(counts.decisions),
                  counts.decisions));
  CHECK(counts.wrong > 0);
}

TEST_CASE("magpie: without the last exact pair a skipped tuple hangs the program") {
  std::uint64_t hung = 0;
  const Seeds seeds(50);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Scene scene(seed, false, true);
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
