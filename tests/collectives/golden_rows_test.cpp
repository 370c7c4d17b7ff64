// SPDX-License-Identifier: Apache-2.0
// tests/collectives/golden_rows_test.cpp — schedules and trees written out, and what they cost.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "collectives/tree.hpp"
#include "collectives/verifier.hpp"
#include "tests/collectives/every_schedule.hpp"

using namespace collectives;

namespace {

Schedule schedule(const std::string& name, const Task& task, const std::string& values = "") {
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

/// 10 | 5 + 5: one machine at one site, two at the other.
Topology twenty_processes() {
  std::vector<Topology::Path> paths(10, {0, 0});
  paths.insert(paths.end(), 5, {1, 0});
  paths.insert(paths.end(), 5, {1, 1});
  return Topology(paths);
}

}  // namespace

TEST_CASE("golden: a reduce to a root that is not the first keeps the order of the config") {
  const auto steps =
      schedule("multilevel", make_task(Collective::reduce, clustered({2, 2}), 1, 3), "shapes=flat");
  CHECK(text(steps[3]) ==
        "recv<0 t0[0:1]; recv<2 t2[0:1]; f1[0:1]=t2[0:1] op in[0:1]; out[0:1]=t0[0:1] op f1[0:1]");
}

TEST_CASE("golden: the tree of 20 processes at two sites, roots 0 and 17") {
  const Topology group = twenty_processes();
  const std::vector<Shape> shapes{{.name = "flat"}, {.name = "binomial"}};
  CHECK(tree_text(Tree(group, shapes, 0), group) ==
        "0:[10 8 4 2 1] 2:[3] 4:[6 5] 6:[7] 8:[9] 10:[15 14 12 11] 12:[13] 15:[19 17 16] 17:[18]");
  CHECK(tree_text(Tree(group, shapes, 17), group) ==
        "0:[8 4 2 1] 2:[3] 4:[6 5] 6:[7] 8:[9] 10:[14 12 11] 12:[13] 17:[0 10 16 19 18] 19:[15]");
}
