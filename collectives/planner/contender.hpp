// SPDX-License-Identifier: Apache-2.0
// collectives/planner/contender.hpp — algorithms and plans that compete for one allgather, with
// their predicted times.
#pragma once
#include <string>
#include <vector>

#include "collectives/cost/evaluator.hpp"
#include "collectives/planner/plan.hpp"

namespace planning {

/// An algorithm or a plan for an allgather, how it is executed, and its predicted time.
struct Contender {
  std::string name;
  collectives::Algorithm algorithm;
  collectives::Parameters parameters = {};
  pricing::Execution execution = {};
  std::shared_ptr<const Plan> plan = {};  ///< the plan; nullptr for an algorithm of the library
  std::size_t striping = 0;               ///< streams per message; 0 = Network::striping
  Nanos time{0};

  /// Returns a digest of everything that determines what the hosts do.
  base::Digest digest() const;
};

/// Returns a contender that executes a plan under the given name.
Contender contender_of(Plan plan, std::string name, const pricing::Execution& execution);

/// Returns the execution in the paper's model of ports: each host has one sending and one receiving
/// port. A message occupies the sending port for an additional time, `overhead`. With
/// one_port_in_order(), each host also executes its steps strictly in the order of the plan.
pricing::Execution one_port(Nanos overhead);
pricing::Execution one_port_in_order(Nanos overhead);

/// Returns the algorithms and plans that the paper compares:
/// - the allgathers of the library with their default parameters;
/// - plans from broadcast trees, by Mateescu 2005 and by ClusteredSA;
/// - plans of Min³, with the declared pools (groups of hosts) and with pools by bandwidth. Hosts
///   have one port for each direction. With half duplex, they have one port for both.
/// Throws: std::invalid_argument if the blocks are not those of the network's participants.
/// Paper: Gupta and Vadhiyar 2007.
std::vector<Contender> rivals_of(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead, bool is_half_duplex = false);

/// Predicts the time of all contenders on the network and sorts them, fastest first (stable).
void compare(std::vector<Contender>& contenders, const pricing::Network& network,
             const collectives::Counts& counts, Bytes element_bytes);

}  // namespace planning
