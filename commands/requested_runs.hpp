// SPDX-License-Identifier: Apache-2.0
// commands/requested_runs.hpp — timed runs of schedules, which the first host requests.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/collective_spec.hpp"
#include "groups/group.hpp"
#include "paths/host/thread.hpp"

namespace commands {

/// The schedule that all hosts run next.
struct RunRequest {
  /// Hosts that take part. The other hosts only wait for the end.
  enum class Part {
    all,
    longest_path,  ///< the hosts of the longest path of the schedule's tree, as a chain
    pair,          ///< the first pair of hosts
    pairs,         ///< all pairs of hosts at the same time
  };
  collectives::Collective collective = collectives::Collective::barrier;
  std::uint64_t count = 0;  ///< number of elements
  std::string schedule;     ///< algorithm and parameters; "" = there is no further run
  base::Nanos expected{0};  ///< predicted time; 0 = unknown
  Part part = Part::all;
  std::uint32_t hosts = 0;  ///< if above 0, only the first `hosts` hosts. Requires: Part::all

  /// Returns the request without the predicted time.
  std::string text() const;
};

/// Returns the ranks of the longest path of the tree that a schedule of the algorithm `tree` uses,
/// from the root to a leaf. If several paths are equally long, returns the last one.
std::vector<collectives::Rank> longest_path(const collectives::CollectiveSpec& spec,
                                            const collectives::Parameters& parameters);

/// Returns the call of a group whose schedule is tuned. Reductions are sums of f64, in any order of
/// summation that a group permits for f64.
groups::Call tuned_call(collectives::Collective collective);
/// Returns a collective with its size, such as "allreduce of 8B". A barrier has no size.
std::string operation_text(collectives::Collective collective, std::uint64_t bytes);

/// Runs schedules on some hosts of a group, all of which begin at the same instant. Each host has
/// one such object. The first host calls run() and then end(); all others call serve().
///
/// Thread-safe: no.
/// Blocks: every call.
/// Throws: as groups::run_clocked() and groups::Group::run() do.
class RequestedRuns {
 public:
  static constexpr std::size_t element_bytes = 8;
  /// Size of the message that names the schedule of the next run.
  static constexpr std::size_t request_bytes = 512;

  /// `hosts` are indexes of Plan::hosts.
  RequestedRuns(paths::Thread& thread, const std::vector<std::uint32_t>& hosts);

  bool is_first() const { return all_.group->rank() == 0; }
  /// Requests a run and takes part in it. Returns the time of the run, or nullopt if the run is
  /// void because a host started too late.
  std::optional<base::Nanos> run(const RunRequest& request);
  /// Ends the calls of serve().
  void end() { tell({}); }
  /// Takes part in the requested runs until the first host calls end().
  void serve();

 private:
  /// Hosts that run a schedule together.
  struct Team {
    std::shared_ptr<const collectives::Topology> topology;
    std::unique_ptr<groups::Group> group;
  };

  void tell(const RunRequest& request);
  RunRequest hear();
  std::optional<base::Nanos> run_once(const RunRequest& request);
  std::vector<collectives::Rank> ranks_for(const RunRequest& request) const;
  Team make_team(const std::vector<collectives::Rank>& ranks, const std::string& name) const;
  /// Returns the team of this host for a request; nullptr if this host takes no part.
  const Team* team_for(const RunRequest& request);

  paths::Thread& thread_;
  const std::vector<std::uint32_t> hosts_;
  Team all_;
  std::map<std::vector<collectives::Rank>, Team> parts_;
};

}  // namespace commands
