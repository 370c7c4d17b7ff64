// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/mistakes_test.cpp — reports of wrong schedules and of bad input.
#include <catch2/catch.hpp>
#include <limits>

#include "collectives/schedule/tree.hpp"
#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/schedule/every_schedule.hpp"
#include "tests/collectives/schedule/proofs.hpp"

using namespace collectives;
using Catch::Matchers::Contains;

namespace {

constexpr Range one{0, 1};
constexpr Buffer scratch{Storage::folded, 1};

/// Returns the mistake in a schedule that must broadcast one element from rank 0 to rank 1. `fill`
/// adds the steps of both ranks.
template <class Fill>
std::string mistake_of(Fill fill) {
  Schedule schedule(2);
  fill(schedule[0], schedule[1]);
  return verify(make_spec(Collective::broadcast, clustered({2}), 1), schedule).mistake;
}

}  // namespace

TEST_CASE("verifier: a mistake names the participant and the step and its text") {
  CHECK(mistake_of([](Steps& root, Steps& other) {
          root.send(1, Block{out, one});
          other.receive(0, Block{out, one});
        }) == "");
  CHECK(mistake_of([](Steps& root, Steps&) {
          root.send(1, Block{out, one});
        }) == "participant 0 sent messages to 1 on channel 0 that are never received: 1");
  CHECK(mistake_of([](Steps& root, Steps& other) {
          root.send(1, Block{out, one}, 1);
          other.receive(0, Block{out, one});
        }) == "participant 1, step 0, recv<0 out[0:1]: waits forever");
  CHECK(mistake_of([](Steps& root, Steps& other) {
          root.send(1, Block{out, one});
          other.receive(0, Block{out, {0, 2}});
        }) == "participant 1, step 0, recv<0 out[0:2]: arrives with 1 elements");
  CHECK(mistake_of([](Steps& root, Steps&) {
          root.send(0, Block{out, one});
        }) == "participant 0, step 0, send>0 out[0:1]: is a message to itself");
  CHECK(mistake_of([](Steps& root, Steps&) {
          root.send(1, Block{scratch, one});
        }) == "participant 0, step 0, send>1 f1[0:1]: reads f1[0], which is undefined");
  CHECK(mistake_of([](Steps& root, Steps&) {
          root.copy({in, one}, {out, one});
        }) == "participant 0, step 0, in[0:1]=out[0:1]: writes `in`");
  CHECK(mistake_of([](Steps& root, Steps&) {
          root.copy({scratch, one}, {out, one});
        }) == "participant 0 never reads f1[0]");
  CHECK(mistake_of([](Steps&, Steps&) {}) == "out[0] of participant 1 was never written");
}

TEST_CASE("verifier: a known schedule is still compared with its declared order") {
  const auto group = clustered({4});
  const Algorithm& honest = algorithm_named("tree");
  Algorithm boasting = honest;
  boasting.order = [](const CollectiveSpec&, const Parameters&) { return Order::canonical; };
  const CollectiveSpec task = make_spec(Collective::reduce, group, 3);
  Proofs proofs(group);
  CHECK(proofs.mistake(honest, task, honest.read("shape=binomial")) == "");
  CHECK(proofs.mistake(honest, task, honest.read("shape=knomial,arity=2")) == "");
  CHECK(proofs.mistake(boasting, task, honest.read("shape=binomial")) ==
        "sums up one grouping, in order, and declares canonical");
  CHECK(proofs.schedules() == 3);
  CHECK(proofs.verified() == 1);
  // A proof for one length of vectors must not be accepted for another length.
  CHECK(proofs.mistake(honest, make_spec(Collective::reduce, group, 4), honest.read("")) == "");
  CHECK(proofs.verified() == 2);
}

TEST_CASE("verifier: a wrong schedule is reported each time") {
  const auto group = clustered({2});
  Algorithm silent = algorithm_named("tree");
  silent.program = [](const CollectiveSpec&, const Parameters&, Rank) {
    return Program(1, [](Count, Steps&) {});
  };
  const CollectiveSpec task = make_spec(Collective::broadcast, group, 1);
  Proofs proofs(group);
  for (int time = 0; time < 2; ++time)
    CHECK(proofs.mistake(silent, task, silent.read("")) ==
          "out[0] of participant 1 was never written");
}

TEST_CASE("verifier: a schedule that ends only because sends are buffered is refused") {
  const CollectiveSpec task = make_spec(Collective::allgather, clustered({2}), 1);
  Schedule schedule(2);
  for (Rank me = 0; me < 2; ++me) {
    // Each participant waits for the second message of the other before it sends its first message.
    const Rank other = 1 - me;
    schedule[me].copy({scratch, one}, {in, one});
    schedule[me].send(other, Block{scratch, one});
    schedule[me].receive(other, Block{scratch, one});
    schedule[me].copy({out, {other, 1}}, {scratch, one});
    schedule[me].copy({out, {me, 1}}, {in, one});
  }
  CHECK(verify(task, schedule).mistake == "blocks forever without buffers");
}

TEST_CASE("verifier: an exchange needs a window of two and a chain a window of one") {
  const auto window = [](const char* name, Collective collective, const char* values) {
    const Algorithm& algorithm = algorithm_named(name);
    return verify(algorithm, make_spec(collective, clustered({8}), 8), algorithm.read(values))
        .least_window;
  };
  CHECK(window("tree", Collective::broadcast, "shape=chain,segment=1") == 1);
  CHECK(window("ring", Collective::allgather, "") == 2);
  CHECK(window("direct", Collective::allgather, "") == 2);
}

TEST_CASE("algorithms: an unknown name is reported with the nearest name") {
  CHECK_THROWS_WITH(algorithm_named("streched"), Contains("did you mean 'stretched'?"));
}

TEST_CASE("algorithms: all mistakes in parameters are reported at once") {
  const Algorithm& tree = algorithm_named("tree");
  CHECK_THROWS_WITH(tree.read("shape=binomal,arity=1,segments=4"),
                    Contains("did you mean 'binomial'?") &&
                        Contains("arity: expected a number from 2 on, found '1'") &&
                        Contains("did you mean 'segment'?"));
  CHECK_THROWS_WITH(tree.read("segment=18446744073709551616"),
                    Contains("expected a number from 0 on, found '18446744073709551616'"));
  CHECK(tree.read("").text() == "arity=2,latency=4,segment=0,shape=binomial");
}

TEST_CASE("algorithms: an unsupported task is refused with the reason") {
  const auto why_not = [](const char* name, const CollectiveSpec& task) {
    const Algorithm& algorithm = algorithm_named(name);
    return algorithm.why_not(task, algorithm.read(""));
  };
  CHECK(why_not("ring", make_spec(Collective::scan, clustered({4}), 1)) == "ring is no scan");
  CHECK(why_not("tree", make_spec(Collective::reduce, clustered({4}), 1, 4)) ==
        "there is no participant 4: they are 0 to 3");
  CHECK(why_not("doubling", make_spec(Collective::allgather, clustered({3}), 1)) ==
        "doubling needs as many participants as a power of two, not 3");
  CHECK(why_not("farfirst", make_spec(Collective::broadcast, clustered({4, 3}), 1)) ==
        "doubling needs clusters of as many participants as a power of two; 1 has 3");
  const Algorithm& modified = algorithm_named("modified_van_de_geijn");
  CHECK(modified.why_not(make_spec(Collective::broadcast, clustered({2, 2, 2}), 1),
                         modified.read("senders=1/2,limiting=halving")) ==
        "halving needs one number of senders for all pairs of clusters");
  CHECK(why_not("gather_operate", make_spec(Collective::reduce, clustered({4}), Count{1} << 62)) ==
        "the vectors of all have together more elements than 64 bits can hold");
}

TEST_CASE("tasks: counts whose total exceeds 64 bits are refused") {
  const Count most = std::numeric_limits<Count>::max();
  CHECK_THROWS_AS(Counts::each(most / 2, 3), std::invalid_argument);
  CHECK_THROWS_AS(Counts::listed({most, 1}), std::invalid_argument);
  CHECK(Counts::listed({most - 1, 1}).total() == most);
}

TEST_CASE("schedules: elements are counted in 64 bits") {
  const Count huge = Count{3} << 40;
  const CollectiveSpec task = make_spec(Collective::broadcast, clustered({2, 2}), huge);
  const Algorithm& stretched = algorithm_named("stretched");
  const Parameters parameters = stretched.read("stretch=1048576");
  const Program program = stretched.program(task, parameters, 1);
  REQUIRE(program.portions() == huge / 1048576);
  Steps steps;
  program.append(program.portions() - 1, steps);
  CHECK(text(steps[0]) == "recv<0 out[3298533834752:3298534883328] #3145727");
}

TEST_CASE("topology: levels with a single group are removed") {
  const Topology group({{0, 0}, {0, 0}, {1, 0}, {1, 1}, {1, 1}});
  CHECK(group.depth() == 2);
  CHECK(group.clusters() == 2);
  const Topology second({{0, 0}, {1, 0}});
  CHECK(second.depth() == 1);
  CHECK(second.clusters() == 2);
  CHECK(Topology({{0, 0}, {0, 0}}).depth() == 0);
  CHECK_THROWS_WITH(Topology({{0}, {0, 1}}), Contains("for participant 1"));
  CHECK_THROWS_AS(Topology(std::vector<Topology::Path>{}), std::invalid_argument);
}

TEST_CASE("topology: groups of hosts inside one cluster are not clusters") {
  const Topology one({{1, 0}, {1, 1}, {1, 1}});
  CHECK(one.clusters() == 1);
  CHECK(one.cluster(0).size() == 3);
  CHECK(one.index_in_cluster(2) == 2);
  CHECK(one.depth() == 2);
  CHECK(one.groups(2) == 2);
}

TEST_CASE("topology: clusters of one host each are clusters") {
  CHECK(Topology::clustered({1, 1, 1}).clusters() == 3);
  CHECK(Topology::clustered({3}).clusters() == 1);
}

TEST_CASE("trees: the postal tree of a latency of three sends grows like its recurrence") {
  // Bar-Noy and Kipnis 1994: f(t) = f(t-1) + f(t-3) nodes are reached at time t: 1, 1, 1, 2, 3, 4,
  // 6 and 9 at times 0 to 7.
  const Shape shape{.name = "postal", .latency = 3};
  std::vector<std::size_t> reached(9, 0);
  std::size_t latest = 0;
  for (std::size_t node = 1; node < 9; ++node) {
    const Shape::Node parent = shape.node(9, shape.node(9, node).parent);
    const auto order = std::find(parent.children.begin(), parent.children.end(), node);
    reached[node] =
        reached[shape.node(9, node).parent] + 3 + std::size_t(order - parent.children.begin());
    latest = std::max(latest, reached[node]);
  }
  CHECK(latest == 7);
  CHECK(std::count_if(reached.begin(), reached.end(), [](auto at) { return at <= 5; }) == 4);
}
