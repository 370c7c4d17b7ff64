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
  std::size_t striping = 0;               ///< number of streams per message; 0 = Network::striping
  Nanos time{0};

  /// Returns a digest of everything that determines what the hosts do: the algorithm, its
  /// parameters, the plan, the window, the credit, the ports and the striping.
  base::Digest digest() const;
};

/// Returns a contender that executes a plan under the given name.
Contender contender_of(Plan plan, std::string name, const pricing::Execution& execution);

/// Return the execution in the model of ports of Gupta and Vadhiyar 2007: each host has one sending
/// and one receiving port. A message occupies the sending port for an additional time, `overhead`.
/// In the execution of one_port_in_order(), each host also executes its steps strictly in the order
/// of the plan.
pricing::Execution one_port(Nanos overhead);
pricing::Execution one_port_in_order(Nanos overhead);

/// Returns the algorithms and plans that Gupta and Vadhiyar 2007 compare:
/// - the allgathers of the library with their default parameters;
/// - plans from broadcast trees, by Mateescu 2005 and by ClusteredSA;
/// - plans of Min³, with the declared pools (groups of hosts) and with pools by bandwidth. Each
///   host has one port for each direction. If `is_half_duplex`, it has one port for both
///   directions.
/// Throws: std::invalid_argument if `counts` does not have one block for each participant of the
///         network.
/// Paper: Gupta and Vadhiyar 2007.
std::vector<Contender> rivals_of(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead, bool is_half_duplex = false);

/// Predicts the time of all contenders on the network and sorts them, fastest first (stable).
void compare(std::vector<Contender>& contenders, const pricing::Network& network,
             const collectives::Counts& counts, Bytes element_bytes);

}  // namespace planning
