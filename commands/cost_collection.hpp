// SPDX-License-Identifier: Apache-2.0
// commands/cost_collection.hpp — measured costs of hosts, collected for an output file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "commands/host_measurement.hpp"

namespace commands {

/// The costs of hosts that `paths measure` has measured so far. The costs of frames between two
/// clusters are not measured if a slow link would hide these costs. Frames between such clusters
/// get the largest costs of all measured frames.
///
/// Thread-safe: no.
class CostCollection {
 public:
  void add(const std::string& from, const std::string& to, const FrameFigures& figures);
  /// Adds the costs of folds and copies, measured on a host of speed `speed`.
  void add(const WorkFigures& figures, double speed);

  /// Returns the time that sender and receiver together spend on a frame of one byte: the largest
  /// such time of all measured pairs of clusters.
  base::Nanos largest_costs_of_one_byte() const;
  /// Returns the costs for the output file. Costs that were not measured are taken from `old`.
  /// Returns nullopt if no costs of frames were measured and `old` is empty.
  std::optional<tuning::HostCosts> costs(const std::optional<tuning::HostCosts>& old) const;

 private:
  std::vector<tuning::HostCosts::Link> links_;
  std::optional<WorkFigures> work_;  // costs of folds and copies on a host of speed 1
};

}  // namespace commands
