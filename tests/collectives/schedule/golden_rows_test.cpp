// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/golden_rows_test.cpp — complete small schedules and trees.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "collectives/schedule/tree.hpp"
#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/schedule/every_schedule.hpp"

using namespace collectives;

namespace {

Schedule schedule(const std::string& name, const CollectiveSpec& task,
                  const std::string& values = "") {
  const Algorithm& algorithm = algorithm_named(name);
  const Parameters parameters = algorithm.read(values);
  INFO(name << ' ' << values);
  REQUIRE(algorithm.why_not(task, parameters).empty());
  REQUIRE(verify(algorithm, task, parameters).mistake == "");
  return schedule_of(algorithm, task, parameters);
}

std::string tree_text(const Tree& tree, const Topology& group) {
  std::string lines;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const Tree::Node node = tree.node(rank);
    if (node.children.empty()) continue;
    lines += fmt::format("{}{}:[", lines.empty() ? "" : " ", rank);
    for (std::size_t child = 0; child < node.children.size(); ++child)
      lines += fmt::format("{}{}", child > 0 ? " " : "", node.children[child].rank);
    lines += "]";
  }
  return lines;
}

/// Returns a site with one machine of 10 processes, and a site with two machines of 5 processes
/// each.
Topology twenty_processes() {
  std::vector<Topology::Path> paths(10, {0, 0});
  paths.insert(paths.end(), 5, {1, 0});
  paths.insert(paths.end(), 5, {1, 1});
  return Topology(paths);
}

}  // namespace

TEST_CASE("golden: broadcast with one sender between two clusters from a root that is not first") {
  const auto steps =
      schedule("modified_van_de_geijn", make_spec(Collective::broadcast, clustered({2, 2}), 4, 1),
               "senders=1,allgather=doubling");
  CHECK(text(steps[0]) == "recv<1 out[2:4]; send>1 out[2:4]; send>1 out[2:4]; recv<1 out[0:2]");
  CHECK(text(steps[1]) ==
        "send>0 out[2:4]; recv<0 fw[2:4]; send>2 out[0:2]; send>3 fw[2:4]; send>0 out[0:2]; "
        "recv<0 out[2:4]");
  CHECK(text(steps[2]) == "recv<1 out[0:2]; send>3 out[0:2]; recv<3 out[2:4]");
  CHECK(text(steps[3]) == "recv<1 out[2:4]; send>2 out[2:4]; recv<2 out[0:2]");
}

TEST_CASE("golden: gather and sum of one segment at a time with scratch for eight") {
  const CollectiveSpec task = make_spec(Collective::reduce, clustered({2}), 20);
  const auto steps = schedule("gather_operate", task, "segment=2");
  CHECK(text(steps[1]).find("sub[16:18]=in[0:2]; send>0 sub[16:18]; sub[18:20]=in[2:4]; ") == 0);
  CHECK(
      text(steps[1]).ends_with("sub[16:18]=in[16:18]; send>0 sub[16:18]; "
                               "sub[18:20]=in[18:20]; send>0 sub[18:20]"));
}

TEST_CASE(
    "golden: the first element of a message passes a hand buffer on each side in each round") {
  const auto steps = schedule("spreading", make_spec(Collective::allgather, clustered({3}), 2));
  CHECK(text(steps[0]) ==
        "out[0:2]=in[0:2]; "
        "hand1[0:1]=out[0:1]; hand0[0:1]=hand1[0:1]; send>1 hand0[0:1]+out[1:2]; "
        "recv<2 hand1[0:1]+out[5:6]; out[4:5]=hand1[0:1]; "
        "hand1[0:1]=out[0:1]; hand0[0:1]=hand1[0:1]; send>2 hand0[0:1]+out[1:2]; "
        "recv<1 hand1[0:1]+out[3:4]; out[2:3]=hand1[0:1]");
}

TEST_CASE("golden: stretched allreduce of one stretch has operands in config order") {
  const auto steps = schedule("stretched", make_spec(Collective::allreduce, clustered({2, 2}), 4));
  CHECK(text(steps[1]) ==
        "send>0 in[0:2]; recv<0 rt0[2:4]; part[2:4]=rt0[2:4] op in[2:4]; send>3 part[2:4]; "
        "recv<3 w1[2:4]; out[2:4]=part[2:4] op w1[2:4]; send>0 out[2:4]; recv<0 out[0:2]");
}

TEST_CASE("golden: stretched broadcast deals blocks anew in the second stretch") {
  const auto steps =
      schedule("stretched", make_spec(Collective::broadcast, clustered({2, 2}), 4), "stretch=2");
  CHECK(text(steps[0]) == "send>1 out[0:2]; send>1 out[2:4] #1");
  CHECK(text(steps[1]) ==
        "recv<0 out[0:2]; send>2 out[0:1]; send>3 out[1:2]; recv<0 out[2:4] #1; "
        "send>3 out[2:3] #1; send>2 out[3:4] #1");
  CHECK(text(steps[2]) ==
        "recv<1 out[0:1]; send>3 out[0:1]; recv<3 out[1:2]; recv<1 out[3:4] #1; "
        "send>3 out[3:4] #1; recv<3 out[2:3] #1");
  CHECK(text(steps[3]) ==
        "recv<1 out[1:2]; send>2 out[1:2]; recv<2 out[0:1]; recv<1 out[2:3] #1; "
        "send>2 out[2:3] #1; recv<2 out[3:4] #1");
}

TEST_CASE("verifier: stretched allreduce over 66 clusters of one host needs a window of 66") {
  const CollectiveSpec task =
      make_spec(Collective::allreduce, clustered(std::vector<std::size_t>(66, 1)), 66);
  const Algorithm& stretched = algorithm_named("stretched");
  CHECK(verify(stretched, task, stretched.read("")).least_window == 66);
}

TEST_CASE("golden: a reduce to a root that is not first keeps the config order") {
  const auto steps =
      schedule("multilevel", make_spec(Collective::reduce, clustered({2, 2}), 1, 3), "shapes=flat");
  CHECK(text(steps[3]) ==
        "recv<0 t0[0:1]; recv<2 t2[0:1]; f1[0:1]=t2[0:1] op in[0:1]; out[0:1]=t0[0:1] op f1[0:1]");
}

TEST_CASE("golden: tree of 20 processes at two sites with roots 0 and 17") {
  const Topology group = twenty_processes();
  const std::vector<Shape> shapes{{.name = "flat"}, {.name = "binomial"}};
  CHECK(tree_text(Tree(group, shapes, 0), group) ==
        "0:[10 8 4 2 1] 2:[3] 4:[6 5] 6:[7] 8:[9] 10:[15 14 12 11] 12:[13] 15:[19 17 16] 17:[18]");
  CHECK(tree_text(Tree(group, shapes, 17), group) ==
        "0:[8 4 2 1] 2:[3] 4:[6 5] 6:[7] 8:[9] 10:[14 12 11] 12:[13] 17:[0 10 16 19 18] 19:[15]");
}

TEST_CASE("tree: a level without a shape has no effect on the tree") {
  const Topology both = twenty_processes();
  const Topology machines = Topology::clustered({10, 5, 5});
  const Topology sites = Topology::clustered({10, 10});
  const Topology neither = Topology::clustered({20});
  const Shape flat{.name = "flat"}, binomial{.name = "binomial"}, none{.name = "none"};
  for (Rank root = 0; root < both.size(); ++root) {
    const auto text = [&](std::vector<Shape> shapes, const Topology& group) {
      return tree_text(Tree(group, std::move(shapes), root), group);
    };
    CHECK(text({none, flat, binomial}, both) == text({flat, binomial}, machines));
    CHECK(text({flat, none, binomial}, both) == text({flat, binomial}, sites));
    CHECK(text({none, none, binomial}, both) == text({binomial}, neither));
  }
  const CollectiveSpec task =
      make_spec(Collective::broadcast, std::make_shared<const Topology>(both), 1);
  const Algorithm& multilevel = algorithm_named("multilevel");
  CHECK(multilevel.why_not(task, multilevel.read("shapes=flat/none")) ==
        "shapes: expected a shape for the innermost level, found none");
}
