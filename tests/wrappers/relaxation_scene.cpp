// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/relaxation_scene.cpp — generation, building and running of random multi-clusters.
#include "tests/wrappers/relaxation_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pastset/errors.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "wrappers/lagged_check.hpp"

namespace relaxation_tests {

using base::Scalar;
using base::Sign;
using paths::Comparison;
using runtime::Random;
using test_support::Words;
using Kind = Relaxation::Kind;
using Transfer = Relaxation::Transfer;
using namespace std::chrono_literals;

namespace {

template <class... Choices>
auto pick(Random& random, Choices... choices) {
  const std::common_type_t<Choices...> all[] = {choices...};
  return all[random.below(sizeof...(choices))];
}

}  // namespace

// ---- generation of a scene -------------------------------------------------------------------

Scene::Scene(std::uint64_t scene_seed, SceneOptions options) : seed(scene_seed) {
  Random random(seed);
  threads.resize(2 + random.below(4));
  for (std::uint32_t& count : threads) count = 1 + static_cast<std::uint32_t>(random.below(3));
  iterations = 30 + random.below(8);
  draw_algorithm(random, options.only);
  draw_operation(random);
  draw_values(random);
  if (decision.condition) draw_constant(random);
  work_max = Nanos(random.between(0, 10'000'000));
  link_max = Nanos(random.between(1, 60'000'000));
  stall_chance = random.chance(0.5) ? 0.0 : 0.05;
  if (options.may_fail && random.chance(0.25)) draw_fault(random);
}

void Scene::draw_algorithm(Random& random, std::optional<Kind> only) {
  Relaxation& relaxation = algorithm;
  relaxation.kind =
      only ? *only
           : pick(random, Kind::conditional, Kind::conditional, Kind::conditional,
                  Kind::conditional, Kind::exact, Kind::periodic, Kind::lagged, Kind::budget);
  if (relaxation.kind == Kind::periodic) relaxation.rounds = 1 + random.below(8);
  if (relaxation.is_late()) relaxation.rounds = 1 + random.below(8);
  if (relaxation.kind == Kind::budget) relaxation.every = 1 + random.below(relaxation.rounds);
  if (relaxation.kind == Kind::lagged) algorithm.all_to_all = random.chance(0.5);
  if (!relaxation.is_late()) draw_transfer(random);
}

void Scene::draw_transfer(Random& random) {
  Relaxation& relaxation = algorithm;
  relaxation.transfer = pick(random, Transfer::pull, Transfer::push);
  if (!may_prove() || random.chance(0.5)) return;
  relaxation.transfer = Transfer::demand;
  relaxation.count = pick(random, 1u, 1u, 2u, 3u, 8u, 64u);
}

void Scene::draw_fault(Random& random) {
  fault = pick(random, Fault::contribution, Fault::store, Fault::link, Fault::deadline);
  if (asks() && fault == Fault::link && random.chance(0.5)) fault = Fault::asks;
  faulty_cluster = static_cast<std::uint32_t>(random.below(clusters()));
  faulty_thread = static_cast<std::uint32_t>(random.below(threads[faulty_cluster]));
  faulty_iteration = random.below(iterations);
}

void Scene::draw_operation(Random& random) {
  const char* name = pick(random, "sum", "sum", "max", "min", "logical_or", "logical_and");
  const bool is_logical = std::strncmp(name, "logical", 7) == 0;
  const bool is_sum = std::strcmp(name, "sum") == 0;
  decision.reduction.operation = base::reduce_operation(name);
  decision.reduction.shape.scalar =
      pick(random, Scalar::f64, Scalar::f32, Scalar::i32, Scalar::i64);
  decision.reduction.sign = is_sum && may_prove()
                                ? pick(random, Sign::non_negative, Sign::non_positive)
                                : pick(random, Sign::any, Sign::non_negative);
  if (!may_prove() && random.chance(0.3)) return;
  paths::ConditionSpec& condition = decision.condition.emplace();
  condition.scalar = decision.reduction.shape.scalar;
  condition.comparison = is_logical
                             ? Comparison::is_true
                             : pick(random, Comparison::less, Comparison::at_most,
                                    Comparison::greater, Comparison::at_least, Comparison::equal);
}

/// Draws the values of all threads. Each iteration has a random scale, so that sums differ between
/// iterations. For logical operations, a value that decides alone is rare.
void Scene::draw_values(Random& random) {
  const double rare = 0.02 + 0.2 * random.unit();
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const double scale = 0.5 + random.unit();
    auto& of_iteration = values.emplace_back();
    for (const std::uint32_t count : threads) {
      auto& of_cluster = of_iteration.emplace_back();
      for (std::uint32_t thread = 0; thread < count; ++thread) {
        const std::string& name = decision.reduction.operation->name;
        double drawn = random.unit() * scale;
        if (name == "logical_or") drawn = random.chance(rare) ? 1 : 0;
        if (name == "logical_and") drawn = random.chance(rare) ? 0 : 1;
        if (decision.reduction.sign == Sign::any && random.chance(0.5)) drawn = -drawn;
        if (decision.reduction.sign == Sign::non_positive) drawn = -drawn;
        of_cluster.push_back(value(drawn));
      }
    }
  }
}

base::Payload Scene::value(double drawn) const {
  return base::with_scalar(decision.reduction.shape.scalar, [&](auto zero) {
    using T = decltype(zero);
    const double scaled = std::is_integral_v<T> && std::abs(drawn) != 1 ? drawn * 1000 : drawn;
    return base::Payload::of(static_cast<T>(scaled));
  });
}

/// Draws the constant of the condition. The constant is the result of random clusters in a random
/// iteration, so that some results equal the constant.
void Scene::draw_constant(Random& random) {
  if (decision.condition->comparison == Comparison::is_true) return;
  const ClusterSet part =
      random.chance(0.5) ? everyone() : 1 + static_cast<ClusterSet>(random.below(everyone()));
  const base::Payload hit = fold(random.below(iterations), part);
  base::with_scalar(decision.condition->scalar, [&](auto zero) {
    using T = decltype(zero);
    const T constant = hit.read<T>();
    if constexpr (std::is_floating_point_v<T>) {
      decision.condition->constant = static_cast<double>(constant);
    } else {
      decision.condition->constant = static_cast<std::int64_t>(constant);
    }
  });
}

std::uint64_t Scene::contributors(ClusterSet set) const {
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < clusters(); ++c) sum += (set >> c & 1) != 0 ? threads[c] : 0;
  return sum;
}

base::Payload Scene::add(const base::Payload& left, const base::Payload& right) const {
  const auto& operation = *decision.reduction.operation;
  const base::Payload& first = left.empty() ? right : left;
  return base::Payload::filled(first.size(), [&](std::span<std::byte> sum) {
    std::memcpy(sum.data(), first.bytes().data(), sum.size());
    if (!left.empty()) decision.reduction.fold(sum, right.bytes());
    if (operation.normalize) operation.normalize(decision.reduction.shape, sum);
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
  return set != 0 && may_prove() &&
         paths::proves(*decision.condition, decision.reduction.operation->name,
                       decision.reduction.sign, fold(iteration, set).bytes());
}

Condition Scene::expected(std::uint64_t iteration) const {
  if (!decision.condition) return Condition::unchecked;
  return paths::holds(*decision.condition, fold(iteration, everyone()).bytes()) ? Condition::holds
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

std::string Scene::family() const {
  const bool is_pushed = relaxation().transfer == Transfer::push;
  switch (relaxation().kind) {
    case Kind::lagged: return algorithm.all_to_all ? "lagged" : "lagged over a tree";
    case Kind::budget: return "budget";
    case Kind::periodic: return is_pushed ? "periodic, pushed" : "periodic";
    case Kind::exact: return is_pushed ? "exact" : "magpie";
    case Kind::conditional: break;
  }
  if (asks()) return relaxation().count == 1 ? "conditional:demand" : "conditional:subscribe";
  return is_pushed ? "conditional:push" : "conditional";
}

// ---- building of a scene ---------------------------------------------------------------------

namespace {

std::string result_name(std::uint32_t c) { return fmt::format("result.{}", c); }

/// Delays each message at random and keeps the order in each direction. Passes each message to
/// `saw`. From message `fails_from` on, a push arrives as a failed operation, and a request fails
/// in this wrapper.
class Link final : public paths::BlockingWrapper {
 public:
  Link(const Scene& scene, Random& random, std::uint64_t fails_from, Saw saw)
      : scene_(scene), random_(random), fails_from_(fails_from), saw_(std::move(saw)) {}

  bool sees_failed_operations() const override { return true; }
  paths::Result operate(paths::Operation operation, paths::Next next) override {
    const bool fails = operation.sequence >= fails_from_;
    if (saw_ && !operation.failure) saw_(operation);
    if (operation.one_way) return push(std::move(operation), next, fails);
    pass(next, down_);
    if (fails) throw std::runtime_error("injected");
    paths::Result result = next(std::move(operation));
    pass(next, up_);
    return result;
  }

 private:
  paths::Result push(paths::Operation operation, const paths::Next& next, bool fails) {
    if (fails && !operation.failure) {
      operation.payload = {};
      operation.failure = next.deployment().failure("link", operation.path, "injected");
    }
    const Nanos arrives = offer(next, down_);
    runtime::Task passing = next.deployment().services().spawn(
        "link", [operation = std::move(operation), rest = next.detached(), arrives]() mutable {
          rest.deployment().runtime().sleep_until(arrives);
          try {
            rest(std::move(operation));
          } catch (const paths::TravelError&) {  // a push has no waiter to notify of the error
          }
        });
    passing.detach();
    return {};
  }
  void pass(const paths::Next& next, Nanos& last) {
    next.deployment().runtime().sleep_until(offer(next, last));
  }
  Nanos offer(const paths::Next& next, Nanos& last) {
    const Nanos usual(random_.between(0, scene_.link_max.count()));
    const Nanos delay = random_.chance(scene_.stall_chance) ? usual * 10 : usual;
    return last = std::max(last + 1ns, next.deployment().runtime().now() + delay);
  }

  const Scene& scene_;
  Random& random_;
  const std::uint64_t fails_from_;
  const Saw saw_;
  Nanos down_{0}, up_{0};  // arrival time of the last message in each direction
};

}  // namespace

MultiCluster::MultiCluster(const Scene& scene, wrappers::ConditionCheckSwitches switches)
    : scene_(scene), switches_(switches), link_random_(scene.seed, 1) {
  const Scalar scalar = scene.decision.reduction.shape.scalar;
  value_ = pastset::Template({{pastset::Field::Kind::scalar, scalar, 1}});
  if (scene.algorithm.all_to_all) {
    for (std::uint32_t c = 0; c < scene.clusters(); ++c) add_elements(c);
    for (std::uint32_t c = 0; c < scene.clusters(); ++c) add_cluster(c);
    for (std::uint32_t c = 0; c < scene.clusters(); ++c)
      for (std::uint32_t from = 0; from < scene.clusters(); ++from)
        if (from != c) add_transfer(c, from);
  } else {
    add_tree();
  }
  if (scene.fault == Fault::deadline) builder_.set_deadline(5s);
  here_.emplace(builder_);
}

std::string MultiCluster::cache_name(std::uint32_t c, std::uint32_t from) const {
  return c == from ? result_name(c) : fmt::format("cache.{}.{}", c, from);
}

void MultiCluster::add_elements(std::uint32_t c) {
  const auto partial =
      scene_.has_batches() ? paths::batch_template() : paths::partial_template(value_);
  const std::uint64_t kept = scene_.has_batches() ? 0 : 1;
  for (std::uint32_t from = 0; from < scene_.clusters(); ++from) {
    builder_.plan().elements.push_back({cache_name(c, from), 0, partial, 0, kept, {}, {}});
    if (from == c || !scene_.asks()) continue;
    builder_.element(fmt::format("asks.{}.{}", c, from), paths::ask_template());
    builder_.element(fmt::format("asked.{}.{}", from, c), paths::ask_template());
  }
}

std::uint32_t MultiCluster::add_faulty(std::uint32_t c) {
  return builder_.does(fmt::format("faulty.{}", c), [this, c](auto operation, auto next) {
    if (fails(Fault::contribution, c, operation.sequence) &&
        operation.thread == scene_.faulty_thread)
      throw std::runtime_error("injected");
    return next(std::move(operation));
  });
}

std::uint32_t MultiCluster::add_join(std::uint32_t c) {
  return builder_.wrapper(
      "allreduce", fmt::format("sum.{}", c),
      {{"template", value_.text()},
       {"operation", scene_.decision.reduction.operation->name},
       {"contributions", std::string(paths::sign_name(scene_.decision.reduction.sign))}});
}

std::uint32_t MultiCluster::add_refuses(std::uint32_t c) {
  return builder_.does(fmt::format("refuses.{}", c), [this, c](auto operation, auto next) {
    if (fails(Fault::store, c, operation.sequence)) throw std::runtime_error("injected");
    return next(std::move(operation));
  });
}

std::uint32_t MultiCluster::add_check(std::uint32_t c) {
  const auto index = static_cast<std::uint32_t>(builder_.plan().wrappers.size());
  return builder_.made(
      fmt::format("check.{}", c), false, [this, c, index](paths::Deployment& deployment) {
        wrappers::ConditionCheckSettings settings;
        settings.may_prove = scene_.may_prove();
        settings.decision = scene_.decision;
        settings.elements.own = result_name(c);
        settings.ask_for = scene_.relaxation().count;
        for (std::uint32_t from = 0; scene_.algorithm.all_to_all && from < scene_.clusters();
             ++from) {
          settings.elements.all.push_back(cache_name(c, from));
          if (from != c && scene_.asks())
            settings.asks.push_back(fmt::format("asks.{}.{}", c, from));
        }
        return std::make_unique<wrappers::ConditionCheck>(deployment, index, settings, switches_);
      });
}

std::uint32_t MultiCluster::add_late_check(std::uint32_t c) {
  const auto index = static_cast<std::uint32_t>(builder_.plan().wrappers.size());
  return builder_.made(
      fmt::format("check.{}", c), false, [this, c, index](paths::Deployment& deployment) {
        wrappers::LaggedCheckSettings settings;
        settings.decision = scene_.decision;
        settings.rounds = scene_.relaxation().rounds;
        settings.every = scene_.relaxation().every;
        settings.elements.own = result_name(c);
        for (std::uint32_t from = 0; from < scene_.clusters(); ++from)
          settings.elements.all.push_back(cache_name(c, from));
        return std::make_unique<wrappers::LaggedCheck>(deployment, index, settings);
      });
}

void MultiCluster::add_cluster(std::uint32_t c) {
  std::vector<std::uint32_t> way = {add_faulty(c)};
  if (scene_.relaxation().kind == Kind::periodic)
    way.push_back(builder_.wrapper("periodic", fmt::format("periodic.{}", c),
                                   {{"every", std::to_string(scene_.relaxation().rounds)}}));
  way.push_back(add_join(c));
  way.push_back(scene_.has_batches() ? add_late_check(c) : add_check(c));
  way.push_back(add_refuses(c));
  way.push_back(
      builder_.wrapper("store", fmt::format("store.{}", c), {{"element", result_name(c)}}));
  paths_.push_back(builder_.path("graph", scene_.threads[c], way));
}

/// Adds one tree over all clusters, with a wrapper that makes the rounds of each cluster late.
void MultiCluster::add_tree() {
  builder_.element(result_name(0), value_);
  builder_.plan().elements.back().tuple_template = paths::partial_template(value_);
  const std::uint32_t join = add_join(scene_.clusters());
  const std::uint32_t check = add_check(0);
  const std::uint32_t refuses = add_refuses(scene_.faulty_cluster);
  const std::uint32_t store = builder_.wrapper("store", "store", {{"element", result_name(0)}});
  for (std::uint32_t c = 0; c < scene_.clusters(); ++c) {
    std::vector<std::uint32_t> way = {add_faulty(c), add_join(c)};
    way.push_back(builder_.wrapper("lagged", fmt::format("lagged.{}", c),
                                   {{"rounds", std::to_string(scene_.relaxation().rounds)}}));
    if (c > 0) way.push_back(add_link(fmt::format("link.{}", c), Fault::link, c, nullptr));
    way.insert(way.end(), {join, check, refuses, store});
    paths_.push_back(builder_.path("graph", scene_.threads[c], way));
  }
}

std::uint32_t MultiCluster::add_link(const std::string& name, Fault fault,
                                     std::uint32_t faulty_cluster, Saw saw) {
  const bool fails = scene_.fault == fault && scene_.faulty_cluster == faulty_cluster;
  const std::uint64_t fails_from = fails ? scene_.faulty_message() : ~std::uint64_t{0};
  return builder_.made(name, false, [this, fails_from, saw](paths::Deployment&) {
    return std::make_unique<Link>(scene_, link_random_, fails_from, saw);
  });
}

void MultiCluster::add_transfer(std::uint32_t into, std::uint32_t from) {
  const std::string pair = fmt::format("{}.{}", into, from);
  const std::string cache = cache_name(into, from);
  Transferred& count = transferred_[{into, from}];
  const auto link = add_link("link." + pair, Fault::link, into,
                             [&count](const paths::Operation&) { ++count.came; });
  if (scene_.relaxation().transfer == Transfer::pull && !scene_.has_batches()) {
    const auto prefetch = builder_.wrapper("prefetch", "prefetch." + pair, {{"into", cache}});
    const auto observe =
        builder_.wrapper("observe", "observe." + pair, {{"element", result_name(from)}});
    builder_.path("graph", 0, {prefetch, link, observe});
    return;
  }
  Words push = {{"from", result_name(from)}};
  if (scene_.has_batches()) push.emplace_back("every", "true");
  if (scene_.asks()) {
    const std::string asked = fmt::format("asked.{}.{}", from, into);
    push.emplace_back("asks", asked);
    const auto ask_link = add_link("ask_link." + pair, Fault::asks, into,
                                   [&count](const paths::Operation& operation) {
                                     const paths::Ask ask = paths::read_ask(operation.payload);
                                     count.asked += ask.count;
                                     count.asked_in.push_back(ask.from);
                                   });
    add_push("ask." + pair, {{"from", "asks." + pair}}, asked, "failures", ask_link);
  }
  add_push("push." + pair, push, cache, "true", link);
}

void MultiCluster::add_push(const std::string& name, const Words& settings, const std::string& into,
                            const std::string& marks, std::uint32_t link) {
  const auto push = builder_.wrapper("push", name, settings);
  const auto store =
      builder_.wrapper("store", name + ".store", {{"element", into}, {"marks", marks}});
  builder_.path("graph", 0, {push, link, store});
}

bool MultiCluster::fails(Fault fault, std::uint32_t cluster, std::uint64_t iteration) const {
  return scene_.fault == fault && cluster == scene_.faulty_cluster &&
         iteration == scene_.faulty_iteration;
}

// ---- running a scene -------------------------------------------------------------------------

void MultiCluster::run() {
  for (std::uint32_t c = 0; c < scene_.clusters(); ++c)
    answers_.emplace_back(scene_.threads[c], std::vector<Answer>(scene_.iterations));
  here_->run([&] {
    std::vector<runtime::Task> tasks;
    for (std::uint32_t c = 0; c < scene_.clusters(); ++c)
      for (std::uint32_t thread = 0; thread < scene_.threads[c]; ++thread)
        tasks.push_back(here_->spawn([this, c, thread] { run_thread(c, thread); }));
    for (runtime::Task& task : tasks) task.join();
    here_->sleep(5s);  // waits until the last requested tuples have arrived
  });
}

void MultiCluster::run_thread(std::uint32_t c, std::uint32_t thread) {
  for (std::uint64_t iteration = 0; iteration < scene_.iterations; ++iteration) {
    here_->sleep(scene_.work(c, thread, iteration));
    const Nanos began = here_->now();
    Answer& answer = answers_[c][thread][iteration];
    try {
      answer.result =
          here_->move(paths_[c], thread, iteration, scene_.values[iteration][c][thread]);
    } catch (const paths::TravelError& error) {
      answer.error = error.what();
    }
    answer.took = here_->now() - began;
  }
}

}  // namespace relaxation_tests
