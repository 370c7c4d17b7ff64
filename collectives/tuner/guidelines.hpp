// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/guidelines.hpp — comparison of tuned collectives with combinations of others.
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

/// A collective that takes longer than other collectives that do the same work one after the other.
struct Violation {
  ChosenTime slow;
  std::string instead;  ///< the other collectives, such as "reduce and broadcast"
  base::Nanos time{0};  ///< sum of their times
};

/// Returns the collectives that take more than `margin` times as long as a combination of others,
/// by these guidelines. `s` is a size, and H is the number of hosts.
/// - broadcast(s): scatter(s/H) and allgather(s/H).
/// - scatter(s): broadcast(H s).
/// - gather(s): allgather(s).
/// - reduce(s): allreduce(s).
/// - reduce(s): reduce_scatter(s) and gather(s/H).
/// - allgather(s): gather(s) and broadcast(H s).
/// - allreduce(s): reduce(s) and broadcast(s).
/// - allreduce(s): reduce_scatter(s) and allgather(s/H).
///
/// If a time at exactly a needed size is missing, the time at the next larger size is used, up to
/// twice the size. This is safe because a larger operation takes longer.
/// Paper: Träff, Gropp and Thakur 2010, "Self-consistent MPI performance guidelines".
std::vector<Violation> check_guidelines(const std::vector<ChosenTime>& times, std::size_t hosts,
                                        double margin);

}  // namespace tuner
