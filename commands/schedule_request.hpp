// SPDX-License-Identifier: Apache-2.0
// commands/schedule_request.hpp — parsing of a collective and its schedule from a command line.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/units.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "groups/execution/machines.hpp"
#include "paths/config/overrides.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/plan/plan.hpp"

namespace commands {

/// Options of commands about schedules, as given on the command line.
struct ScheduleOptions {
  std::string file, clusters;  ///< config, or list of clusters; exactly one of the two is set
  std::string collective;
  std::string algorithm;  ///< text such as "stretched:exchange=two,stretch=64"
  std::string size;       ///< size such as "1MiB", or one size per block: "8B,0B,16B"
  std::string element = "1B";
  std::string root;
  std::string host;  ///< host whose steps are printed; "" = all hosts
};

/// Each of these functions adds options that several commands about schedules share. `options` must
/// outlive parsing.
void add_group_options(CLI::App& command, ScheduleOptions& options);
void add_task_options(CLI::App& command, ScheduleOptions& options);
void add_root_option(CLI::App& command, ScheduleOptions& options);
void add_algorithm_option(CLI::App& command, ScheduleOptions& options);

/// The participants of a collective, from a config or from `--clusters`.
struct Participants {
  std::shared_ptr<const paths::Plan> plan;  ///< set only if a config is given
  std::shared_ptr<const collectives::Topology> topology;
  std::optional<pricing::Network> network;  ///< set only if a config is given
  std::vector<std::string> hosts;           ///< names of the hosts, indexed by rank
  /// Names of the clusters, indexed by their number in the topology.
  std::vector<std::string> clusters;
  /// Machines of the participants. Set only if the config lets hosts of a machine share memory.
  std::optional<groups::Machines> machines;
};

struct DeclaredCollective {
  std::string name;
  std::string algorithm;      ///< value of the key `algorithm` in the config
  bool has_schedule = false;  ///< true = a schedule performs the collective; false = wrappers do
  paths::Reduction reduction;
};

/// ScheduleOptions, parsed and checked.
struct ScheduleRequest {
  /// Set if `--collective` names a collective of the config.
  std::optional<DeclaredCollective> declared;
  Participants participants;
  collectives::CollectiveSpec task;
  pricing::Bytes element_bytes = 1;
  const collectives::Algorithm* algorithm = nullptr;  ///< nullptr if no algorithm is given
  collectives::Parameters parameters;
  std::optional<collectives::Rank> host;

  /// Returns the size of `elements` elements. The elements of a barrier are tokens without bytes.
  pricing::Bytes bytes_of(collectives::Count elements) const {
    return task.collective == collectives::Collective::barrier ? 0 : elements * element_bytes;
  }
  /// Returns text such as "allreduce of 1MiB over 8 hosts in 2 clusters (alpha 4, beta 4)".
  std::string task_text() const;
  /// Returns algorithm and parameters as text, for example "stretched:exchange=two,stretch=64".
  std::string schedule_text() const;
  collectives::Program program(collectives::Rank me) const {
    return algorithm->program(task, parameters, me);
  }
};

/// Requirements of a command on its ScheduleOptions.
struct Needed {
  /// Whether the option `--size` is required. If not, its default is one element per participant.
  bool size = false;
  bool algorithm = false;
  /// Whether the command accepts the name of a collective of the config for `--collective`.
  bool may_be_declared = false;
};

Participants read_participants(const ScheduleOptions& options, base::Mistakes& mistakes);
std::optional<collectives::Collective> read_collective(const std::string& word,
                                                       base::Mistakes& mistakes);
/// Throws: ConfigError that lists every mistake: unknown words (with similar known words), sizes
///         beyond 64 bits, and an algorithm that does not support the collective (with the reason).
ScheduleRequest read_request(const ScheduleOptions& options, Needed needed);

/// Returns a schedule as text that read_request() accepts, such as
/// "stretched:exchange=two,stretch=64".
std::string schedule_text(const collectives::Algorithm& algorithm,
                          const collectives::CollectiveSpec& task,
                          const collectives::Parameters& parameters);
/// Returns the text `reason` of a lower bound with the names of hosts and clusters in place of
/// their numbers.
std::string with_names(const std::string& reason, const Participants& all);
/// Prints the collective and the lower bound of its time; returns the bound.
/// Requires: the participants are from a config.
base::Nanos print_task(const ScheduleRequest& request);
/// Returns time / bound as text, for example "1.050"; "" if the bound is 0.
std::string ratio_text(base::Nanos time, base::Nanos bound);
/// Returns a time as text such as "1.234 ms".
std::string milliseconds(base::Nanos time);
/// Reports a mistake that the user made in the command line: adds it to `mistakes`.
void add_mistake(base::Mistakes& mistakes, const std::string& message);

}  // namespace commands
