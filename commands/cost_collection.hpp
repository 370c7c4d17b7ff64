// SPDX-License-Identifier: Apache-2.0
// commands/cost_collection.hpp — measured costs of hosts, collected for the file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "commands/host_measurement.hpp"

namespace commands {

/// The costs of hosts that were measured so far. Frames between clusters are not measured if a
/// slow link would hide their costs. They get the largest costs of all frames that were measured.
///
/// Thread-safe: no.
class CostCollection {
 public:
  void add(const std::string& from, const std::string& to, const FrameFigures& figures);
  /// Adds the costs of folds and copies on a host of that speed.
  void add(const WorkFigures& figures, double speed);

  /// Returns the largest time that the two hosts of a frame of one byte spend on it.
  base::Nanos largest_costs_of_one_byte() const;
  /// Returns the costs for the file. Costs that were not measured are those of `old`. Returns
  /// nothing if neither has costs of frames.
  std::optional<tuning::HostCosts> costs(const std::optional<tuning::HostCosts>& old) const;

 private:
  std::vector<tuning::HostCosts::Link> links_;
  std::optional<WorkFigures> work_;  // on a host of speed 1
};

}  // namespace commands
