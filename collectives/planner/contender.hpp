// SPDX-License-Identifier: Apache-2.0
// collectives/planner/contender.hpp — alternatives for one allgather, and their predicted times.
#pragma once
#include <string>
#include <vector>

#include "collectives/cost/evaluator.hpp"
#include "collectives/planner/plan.hpp"

namespace planning {

/// An algorithm for an allgather, its execution parameters, and its predicted time.
struct Contender {
  std::string name;
  collectives::Algorithm algorithm;
  collectives::Parameters parameters = {};
  pricing::Execution execution = {};
  std::shared_ptr<const Plan> plan = {};  ///< nullptr = algorithm of the library
  std::size_t striping = 0;               ///< streams of a message; 0 = value of the network
  Nanos time{0};

  base::Digest digest() const;  ///< digest of everything that determines what hosts do
};

/// Returns a contender that executes a plan under the given name.
Contender contender_of(Plan plan, std::string name, const pricing::Execution& execution);

/// Returns an execution with one sending and one receiving port per host, as in the paper's model
/// of ports. A message holds the sending port for an additional `overhead`. With
/// one_port_in_order(), each host also executes the steps of a plan strictly in order.
pricing::Execution one_port(Nanos overhead);
pricing::Execution one_port_in_order(Nanos overhead);

/// Returns the alternatives that the paper compares:
/// - the library's allgathers with their default parameters;
/// - merged trees of Mateescu 2005 and of ClusteredSA;
/// - Min³ with declared pools and with pools by bandwidth. Hosts have one port for each direction,
///   or one for both with half duplex.
/// Throws: std::invalid_argument if the blocks are not those of the network's participants.
/// Paper: Gupta and Vadhiyar 2007.
std::vector<Contender> rivals_of(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead, bool is_half_duplex = false);

/// Predicts the time of all contenders on the network and sorts them, fastest first (stable).
void compare(std::vector<Contender>& contenders, const pricing::Network& network,
             const collectives::Counts& counts, Bytes element_bytes);

}  // namespace planning
