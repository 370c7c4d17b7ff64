// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/search.hpp — a search for the fastest configuration, and its options.
#pragma once
#include <limits>

#include "collectives/tuner/experiment.hpp"

namespace tuner {

/// Runs of some of the hosts, which the search pipeline needs. Like Run, each function returns
/// nullopt for a void run. An empty function means that the caller has no such runs.
struct PartialRuns {
  /// Runs the configuration, which is a tree, on the hosts of its longest path only, as a chain.
  Run on_longest_path = {};
  /// Sends as many bytes as the space is for between pairs of hosts: all pairs at the same time, or
  /// only one of them.
  std::function<std::optional<base::Nanos>(bool are_all)> between_pairs = {};
};

/// Options of all searches. If the comment of an option begins with names of searches, only these
/// searches use the option.
struct Options {
  /// race: a configuration takes part if its predicted time is at most 1 + delta times the least
  /// predicted time of all configurations. Use 1.0 if parameters of the network vary by more than
  /// 20%, or if these parameters are assumed.
  double delta = 0.5;
  /// mgd, smgd, pipeline: number of consecutive lengths without a new best time, after which the
  /// search in a family ends.
  std::size_t patience = 3;
  /// smgd: a family is rejected if its best time exceeds theta times the best time of all families;
  /// `no_threshold` = no family is rejected for this reason.
  double theta = 2;
  /// mgd, smgd, pipeline, golden, exhaustive: number of runs of each configuration.
  /// Paper: 10 (Vadhiyar, Fagg and Dongarra 2004). This number follows from the numbers of runs in
  ///        Table 2 of the paper.
  std::size_t repetitions = 10;
  /// Whether all runs of a configuration take the same time, as on the virtual clock. If true, no
  /// search runs a configuration twice.
  bool is_exact = false;
  std::uint64_t seed = 1;    ///< seed of the random order of runs
  PartialRuns partial = {};  ///< pipeline
  IsCancelled is_cancelled = {};

  std::size_t runs_of_each() const { return is_exact ? 1 : repetitions; }
};
inline constexpr double no_threshold = std::numeric_limits<double>::infinity();

/// A search described as data. Commands and documentation find searches by all_searches(). A
/// cancelled search chooses among the configurations that it has run.
/// Throws: std::invalid_argument if the space has no configurations, or if the search needs
///         predicted times and the space has none; the exceptions of the run.
struct Search {
  std::string name = {};
  std::string help = {};
  std::function<Outcome(const Space&, const Run&, const Options&)> choose;
};

/// Returns all searches, the default search first.
const std::vector<Search>& all_searches();
/// Returns nullptr if no search has that name.
const Search* search_named(std::string_view name);

/// Returns all configurations of a space, in list order.
std::vector<Configuration> configurations_of(const Space& space);

}  // namespace tuner
