// SPDX-License-Identifier: Apache-2.0
// collectives/planner/planners.hpp — list of the planners of allgathers.
#pragma once
#include <functional>
#include <string_view>

#include "collectives/planner/contender.hpp"

namespace planning {

/// The input of a planner: the blocks of an allgather, and the network of its hosts.
struct Question {
  const pricing::Network& network;
  const collectives::Counts& counts;
  Bytes element_bytes = 1;
};

/// A planner described as data. Commands, groups and documentation use only this description, and
/// find it in all_planners().
struct Planner {
  std::string name = {};
  std::string help = {};
  std::vector<collectives::Parameter> parameters = {};
  /// Returns the plans among which plan() chooses. Their predicted times are not computed yet.
  std::function<std::vector<Contender>(const Question&, const collectives::Parameters&)> plans;

  /// Parses "pools=declared,segments=2". Parameters that are not mentioned get their default.
  /// Throws: std::invalid_argument that lists every mistake.
  collectives::Parameters read(const std::string& text) const;
};

const std::vector<Planner>& all_planners();
/// Returns nullptr if no planner has that name.
const Planner* planner_named(std::string_view name);
/// Returns the text about planners in docs/reference/algorithms.md and in the output of
/// `paths algorithms`.
std::string planner_reference();
inline bool plans(std::string_view name) { return planner_named(name) != nullptr; }

/// Returns the best plan of a planner, as an algorithm with its ports and its predicted time. With
/// the same input, the result is the same on every host. The parameter `overhead_ns` is an
/// additional time for which each message occupies the sending port.
/// Cost: Milliseconds for 20 hosts; seconds for 80 hosts if the planner compares many plans, as
///       `min3_plus` does. Callers should keep the result.
/// Throws: std::invalid_argument if `task` is not an allgather of the network's participants.
Contender plan(const Planner& planner, const collectives::Parameters& parameters,
               const collectives::CollectiveSpec& task, Bytes element_bytes,
               const pricing::Network& network);

}  // namespace planning
