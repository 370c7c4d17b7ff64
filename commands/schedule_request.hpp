// SPDX-License-Identifier: Apache-2.0
// commands/schedule_request.hpp — the collective, and the schedule of it, that a command line asks
// for.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/units.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "paths/config/overrides.hpp"

namespace commands {

/// As it is written.
struct ScheduleOptions {
  std::string file, clusters;  ///< one of both says who takes part
  std::string collective;
  std::string algorithm;  ///< "stretched:exchange=two,stretch=64"
  std::string size;       ///< "1MiB", or of v-variants one for each block: "8B,0B,16B"
  std::string element = "1B";
  std::string root;
  std::string host;  ///< the only one that is of interest
};

/// Adds what most commands about schedules have. `options` must outlive parsing.
void add_group_options(CLI::App& command, ScheduleOptions& options);
void add_task_options(CLI::App& command, ScheduleOptions& options);
void add_root_option(CLI::App& command, ScheduleOptions& options);
void add_algorithm_option(CLI::App& command, ScheduleOptions& options);

/// Who takes part.
struct Participants {
  std::shared_ptr<const collectives::Topology> topology;
  std::optional<pricing::Network> network;  ///< of a config
  std::vector<std::string> hosts;           ///< names, by rank
  std::vector<std::string> clusters;        ///< names, in the order of the topology
};

/// What is asked for, resolved.
struct ScheduleRequest {
  Participants participants;
  collectives::CollectiveSpec task;
  pricing::Bytes element_bytes = 1;
  const collectives::Algorithm* algorithm = nullptr;  ///< none: not said
  collectives::Parameters parameters;
  std::optional<collectives::Rank> host;

  /// What so many elements are; tokens of a barrier have no bytes.
  pricing::Bytes bytes_of(collectives::Count elements) const {
    return task.collective == collectives::Collective::barrier ? 0 : elements * element_bytes;
  }
  /// "allreduce of 1MiB over 8 hosts in 2 clusters (alpha 4, beta 4)".
  std::string task_text() const;
  /// "stretched:exchange=two,stretch=64".
  std::string schedule_text() const;
  collectives::Program program(collectives::Rank me) const {
    return algorithm->program(task, parameters, me);
  }
};

/// What of it must be said.
struct Needed {
  bool size = false;  ///< else an element for each participant
  bool algorithm = false;
};

Participants read_participants(const ScheduleOptions& options, base::Mistakes& mistakes);
std::optional<collectives::Collective> read_collective(const std::string& word,
                                                       base::Mistakes& mistakes);
/// Throws: ConfigError naming everything that is wrong: words that nobody knows, with the near
/// match; sizes beyond 64 bits; an algorithm that cannot do it, with the reason.
ScheduleRequest read_request(const ScheduleOptions& options, Needed needed);

/// "stretched:exchange=two,stretch=64", as read_request() takes it.
std::string schedule_text(const collectives::Algorithm& algorithm,
                          const collectives::CollectiveSpec& task,
                          const collectives::Parameters& parameters);
/// The reason of a bound, which counts hosts, with the names that the config has for them.
std::string with_names(const std::string& reason, const Participants& all);
/// "1.234 ms".
std::string milliseconds(base::Nanos time);
/// A mistake on the command line.
void add_mistake(base::Mistakes& mistakes, const std::string& message);

}  // namespace commands
