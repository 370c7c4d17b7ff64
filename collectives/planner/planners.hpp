// SPDX-License-Identifier: Apache-2.0
// collectives/planner/planners.hpp — the list of all that plan allgathers for a network.
#pragma once
#include <functional>
#include <string_view>

#include "collectives/planner/contender.hpp"

namespace planning {

/// What a planner is asked: blocks on a network.
struct Question {
  const pricing::Network& network;
  const collectives::Counts& counts;
  Bytes element_bytes = 1;
};

/// One that plans, described as data. What is made of planners (commands, choices of groups, docs)
/// goes through the list of them.
struct Planner {
  std::string name = {};
  std::string help = {};
  std::vector<collectives::Parameter> parameters = {};
  /// What it has to choose from, not compared yet.
  std::function<std::vector<Contender>(const Question&, const collectives::Parameters&)> plans;

  /// Values for all parameters from "pools=declared,segments=2"; what is not said is by itself.
  /// Throws: std::invalid_argument naming everything that is wrong.
  collectives::Parameters read(const std::string& text) const;
};

const std::vector<Planner>& all_planners();
/// Null if none has that name.
const Planner* planner_named(std::string_view name);
/// What docs/algorithms.md and `paths algorithms` show of them.
std::string planner_reference();
inline bool plans(std::string_view name) { return planner_named(name) != nullptr; }

/// Its plan, as an algorithm with the ports that it is meant for and what it takes on the network:
/// the same on every host that asks the same. `overhead_ns` of a message is what its sender's port
/// is held longer for.
/// Cost:    milliseconds for 20 hosts, seconds for 80 where it compares (min3_plus): to be kept.
/// Throws:  std::invalid_argument if that is no allgather of the network's participants.
Contender plan(const Planner& planner, const collectives::Parameters& parameters,
               const collectives::CollectiveSpec& task, Bytes element_bytes,
               const pricing::Network& network);

}  // namespace planning
