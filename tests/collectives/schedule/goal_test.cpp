// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/goal_test.cpp — exported GOAL files, read back by an independent
// parser.
#include "collectives/schedule/goal.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "collectives/algorithms/all.hpp"

using namespace collectives;

namespace {

struct Node {
  std::string verb;
  Count bytes = 0;
  Rank peer = 0;
  Count tag = 0;
  std::set<std::size_t> requires_done;
};
using Graph = std::vector<std::vector<Node>>;  // indexed by rank, then by label

std::string next_word(std::istream& text) {
  std::string word;
  text >> word;
  return word;
}

std::size_t label(const std::string& word) {
  REQUIRE(word.starts_with("l"));
  return std::stoul(word.substr(1));
}

/// Parses the language of LogGOPSim's txt2bin. A label must appear before the nodes that require
/// it.
Graph parse(const std::string& written) {
  std::istringstream text(written);
  REQUIRE(next_word(text) == "num_ranks");
  Graph graph(std::stoul(next_word(text)));
  for (std::size_t rank = 0; rank < graph.size(); ++rank) {
    REQUIRE(next_word(text) == "rank");
    REQUIRE(next_word(text) == std::to_string(rank));
    REQUIRE(next_word(text) == "{");
    std::vector<Node>& nodes = graph[rank];
    for (std::string word = next_word(text); word != "}"; word = next_word(text)) {
      const std::size_t number = label(word);
      const std::string verb = next_word(text);
      if (verb == "requires") {
        REQUIRE(number < nodes.size());
        const std::size_t earlier = label(next_word(text));
        REQUIRE(earlier < number);
        CHECK(nodes[number].requires_done.insert(earlier).second);
        continue;
      }
      REQUIRE(word.ends_with(":"));
      REQUIRE(number == nodes.size());
      Node node{verb, 0, 0, 0, {}};
      const std::string size = next_word(text);
      node.bytes = std::stoul(size);
      if (verb != "calc") {
        REQUIRE(size.ends_with("b"));
        REQUIRE(next_word(text) == (verb == "send" ? "to" : "from"));
        node.peer = static_cast<Rank>(std::stoul(next_word(text)));
        REQUIRE(next_word(text) == "tag");
        node.tag = std::stoul(next_word(text));
      }
      nodes.push_back(node);
    }
  }
  CHECK(next_word(text).empty());
  return graph;
}

Graph exported(const Algorithm& algorithm, const CollectiveSpec& task,
               const Parameters& parameters) {
  std::ostringstream text;
  write_goal(text, algorithm, task, parameters, 8);
  return parse(text.str());
}

bool writes(const Step& step, std::size_t block) {
  return step.action == Action::receive || (step.action != Action::send && block == 0);
}

/// Returns whether two steps of a participant must keep their order, because they share cells and
/// one of the two steps writes these cells.
bool conflict(const Step& one, const Step& other) {
  for (std::size_t left = 0; left < one.blocks.size(); ++left)
    for (std::size_t right = 0; right < other.blocks.size(); ++right)
      if (one.blocks[left].buffer == other.blocks[right].buffer &&
          overlap(one.blocks[left].cells, other.blocks[right].cells).count > 0 &&
          (writes(one, left) || writes(other, right)))
        return true;
  return false;
}

/// Returns, for each node, all nodes that must end before it, directly or indirectly.
std::vector<std::set<std::size_t>> all_before(const std::vector<Node>& nodes) {
  std::vector<std::set<std::size_t>> before(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const std::size_t earlier : nodes[node].requires_done) {
      before[node].insert(earlier);
      before[node].insert(before[earlier].begin(), before[earlier].end());
    }
  return before;
}

/// Checks that requirements order any two steps that conflict, and that no requirement orders two
/// steps that do not conflict.
void check_requirements(const Steps& steps, const std::vector<Node>& nodes) {
  REQUIRE(steps.size() == nodes.size());
  const auto before = all_before(nodes);
  for (std::size_t later = 0; later < nodes.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const bool must = conflict(steps[earlier], steps[later]);
      if (must) CHECK(before[later].contains(earlier));
      if (nodes[later].requires_done.contains(earlier)) CHECK(must);
    }
}

/// Checks that the k-th message sent on a channel has the bytes and the tag of the k-th message
/// received on it. No other message between the same two participants may have that tag.
void check_messages(const Schedule& schedule, const Graph& graph) {
  using Channel = std::tuple<Rank, Rank, collectives::Channel>;
  std::map<Channel, std::vector<std::pair<Count, Count>>> sent, received;
  std::map<std::pair<Rank, Rank>, std::set<Count>> tags;
  for (Rank rank = 0; rank < schedule.size(); ++rank)
    for (std::size_t index = 0; index < schedule[rank].size(); ++index) {
      const Step step = schedule[rank][index];
      const Node& node = graph[rank][index];
      if (!step.is_message()) {
        CHECK(node.verb == "calc");
        continue;
      }
      CHECK(node.peer == step.peer);
      const bool is_send = step.action == Action::send;
      CHECK(node.verb == (is_send ? "send" : "recv"));
      if (is_send) {
        sent[{rank, step.peer, step.channel}].emplace_back(node.bytes, node.tag);
        CHECK(tags[{rank, step.peer}].insert(node.tag).second);
      } else {
        received[{step.peer, rank, step.channel}].emplace_back(node.bytes, node.tag);
      }
    }
  CHECK(sent == received);
}

}  // namespace

TEST_CASE("goal: the export of every algorithm has its messages and requires its hazards") {
  const auto group = std::make_shared<const Topology>(Topology::clustered({3, 2, 3}));
  for (const Collective collective : all_collectives)
    for (const Algorithm& algorithm : all_algorithms()) {
      const CollectiveSpec task =
          make_spec(collective, group, collective == Collective::alltoall ? 1 : 5);
      const Parameters parameters = algorithm.read("");
      if (!algorithm.does(collective) || !algorithm.why_not(task, parameters).empty()) continue;
      INFO(algorithm.name << ' ' << name_of(collective));
      const Schedule schedule = schedule_of(algorithm, task, parameters);
      const Graph graph = exported(algorithm, task, parameters);
      REQUIRE(graph.size() == schedule.size());
      check_messages(schedule, graph);
      for (Rank rank = 0; rank < schedule.size(); ++rank)
        check_requirements(schedule[rank], graph[rank]);
    }
}

TEST_CASE("goal: elements count as bytes and the token of a barrier as one byte") {
  const auto group = std::make_shared<const Topology>(Topology::clustered({2}));
  const Algorithm& tree = algorithm_named("tree");
  const Graph broadcast =
      exported(tree, make_spec(Collective::broadcast, group, 3), tree.read("segment=2"));
  REQUIRE(broadcast[0].size() == 2);
  CHECK(broadcast[0][0].bytes == 16);
  CHECK(broadcast[0][1].bytes == 8);
  CHECK(exported(tree, make_spec(Collective::barrier, group, 0), tree.read(""))[1][0].bytes == 1);
}

TEST_CASE("goal: bytes beyond 64 bits are refused") {
  const auto group = std::make_shared<const Topology>(Topology::clustered({2}));
  const Algorithm& tree = algorithm_named("tree");
  const CollectiveSpec task = make_spec(Collective::broadcast, group, Count{1} << 62);
  std::ostringstream text;
  CHECK_THROWS_AS(write_goal(text, tree, task, tree.read(""), 8), std::invalid_argument);
}
