// SPDX-License-Identifier: Apache-2.0
// collectives/planner/contender.hpp — ways to do one allgather, and what each takes on a network.
#pragma once
#include <string>
#include <vector>

#include "collectives/cost/evaluator.hpp"
#include "collectives/planner/plan.hpp"

namespace planning {

/// A way to do it, how hosts are to execute it, and what that takes.
struct Contender {
  std::string name;
  collectives::Algorithm algorithm;
  collectives::Parameters parameters = {};
  pricing::Execution execution = {};
  std::shared_ptr<const Plan> plan = {};  ///< none: of the library
  std::size_t striping = 0;               ///< streams of a message; 0: what the network says
  Nanos time{0};

  base::Digest digest() const;  ///< of all that hosts do by it
};

/// Of a plan, under its own name.
Contender contender_of(Plan plan, std::string name, const pricing::Execution& execution);

/// A port of each host for sending, held for `overhead` longer, and one for receiving, as the model
/// of ports has it; the steps of plans in order.
pricing::Execution one_port(Nanos overhead);
pricing::Execution one_port_in_order(Nanos overhead);

/// All that Gupta and Vadhiyar 2007 compare, with a port each way, or one for both: the library's
/// allgathers with their own parameters, trees of Mateescu 2005 and ClusteredSA merged, Min³ with
/// declared pools and with those by bandwidth. Throws: std::invalid_argument if the blocks are not
/// those of the network's participants.
std::vector<Contender> rivals_of(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead, bool is_half_duplex = false);

/// Executes all on the network; the fastest first, equal ones as they were.
void compare(std::vector<Contender>& contenders, const pricing::Network& network,
             const collectives::Counts& counts, Bytes element_bytes);

}  // namespace planning
