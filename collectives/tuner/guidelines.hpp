// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/guidelines.hpp — comparison of each tuned collective with sequences of other
// collectives.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/tuner/decision_table.hpp"

namespace tuner {

/// Measured time of the schedule that tuning has chosen for one collective and size.
struct ChosenTime {
  collectives::Collective collective = collectives::Collective::barrier;
  Bytes bytes = 0;
  base::Nanos time{0};
};

/// A collective that takes longer than a sequence of other collectives with the same effect.
struct Violation {
  ChosenTime slow;
  std::string instead;  ///< the other collectives, such as "reduce and broadcast"
  base::Nanos time{0};  ///< sum of the times of the other collectives
};

/// Returns the collectives that take more than `margin` times as long as other collectives with the
/// same effect. Each line of this list is a guideline: a collective, and the other collectives that
/// have the same effect. s is a size, and H is the number of hosts:
/// - broadcast(s): scatter(s/H) and allgather(s/H).
/// - scatter(s): broadcast(H s).
/// - gather(s): allgather(s).
/// - reduce(s): allreduce(s).
/// - reduce(s): reduce_scatter(s) and gather(s/H).
/// - allgather(s): gather(s) and broadcast(H s).
/// - allreduce(s): reduce(s) and broadcast(s).
/// - allreduce(s): reduce_scatter(s) and allgather(s/H).
///
/// If `times` has no time for the size that a guideline needs, the time for the next larger size is
/// used, if that is at most twice the needed size. This use causes no false violation, because a
/// larger operation takes longer.
/// Paper: Träff, Gropp and Thakur 2010, "Self-consistent MPI performance guidelines".
std::vector<Violation> check_guidelines(const std::vector<ChosenTime>& times, std::size_t hosts,
                                        double margin);

}  // namespace tuner
