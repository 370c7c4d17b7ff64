// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithm.hpp — words for algorithms of collectives made of paths.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

namespace expansion {
class ClusterTransfers;
class CollectiveExpansion;
}  // namespace expansion

/// Description of a word of the setting `transfer`, which selects how tuples of a cluster reach the
/// other clusters. paths/config/algorithms/all.cpp lists all words.
struct TransferWord {
  std::string name;
  std::string help;  ///< one sentence
  /// Parameters of the word. At most one: the number of tuples per request.
  std::vector<SettingHelp> settings = {};
  /// Name of the word that means the same as this word with one tuple per request; empty = none.
  /// For example, `subscribe` with one tuple per request is `demand`.
  std::string with_one = {};
  bool asks = false;  ///< whether a root requests tuples when it cannot decide a round
  /// Writes the paths that carry tuples from the cluster `from` to the cluster `into`.
  void (*expand)(expansion::ClusterTransfers&, std::uint32_t into, std::uint32_t from) = nullptr;
};

/// Description of a word of the setting `algorithm`. paths/config/algorithms/all.cpp lists all
/// words.
struct AlgorithmWord {
  std::string name;
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< parameters of the word: whole numbers after a colon
  /// Value of the setting `relaxation` that the word implies. Words with the same relaxation give
  /// the same guarantees. They differ in the graph or in the default transfer.
  std::string relaxation;
  /// Kinds of collective that support this word; empty = all.
  std::vector<std::string_view> collectives = {};
  bool over_tree = false;        ///< whether the word is allowed together with `graph: tree`
  bool over_all_to_all = false;  ///< whether it is allowed together with `graph: all_to_all`
  /// Whether hosts combine values by a schedule. The names of the algorithms in collectives/ are
  /// then valid words, too.
  bool is_schedule = false;
  std::vector<std::string_view> transfers = {};  ///< transfers allowed with this word
  std::string_view transfer = {};                ///< default transfer
  /// Whether the collective must have a condition that a part of the contributions can decide.
  bool needs_proof = false;
  void (*expand)(expansion::CollectiveExpansion&) = nullptr;  ///< writes the collective's paths

  bool takes(std::string_view collective_kind) const;
};

/// Return all words, in the order in which help texts list them. The first call makes the list.
/// Thread-safe.
const std::vector<AlgorithmWord>& algorithm_words();
const std::vector<TransferWord>& transfer_words();
/// Returns the word whose `is_schedule` is true; nullptr if there is none. This one word describes
/// every name of a schedule.
const AlgorithmWord* schedule_word();

/// Algorithm of a collective. A config states it by the setting `algorithm`, or by the settings
/// `graph`, `relaxation` and `transfer`. Points into algorithm_words() and transfer_words().
struct Algorithm {
  const AlgorithmWord* word = nullptr;
  bool all_to_all = false;
  std::vector<std::uint64_t> numbers = {};  ///< value of each parameter (setting) of the word
  /// Transfer between the clusters. Nullptr if all clusters form one tree, which has no transfers.
  const TransferWord* transfer = nullptr;
  std::uint64_t tuples = 1;   ///< number of tuples per request
  std::string schedule = {};  ///< schedule, such as "best" or "multilevel:shapes=flat/binomial"

  /// Returns the value of the word's setting of that name; 0 if the word has no such setting.
  std::uint64_t number(std::string_view setting) const;
};

/// Returns the default algorithm of a collective, which is one tree.
Algorithm sequential_algorithm();

/// Returns whether collectives of the kind can choose between several algorithms.
bool has_algorithms(std::string_view collective_kind);
/// Returns every word with its parameters, for messages, such as "sequential, magpie,
/// periodic:EVERY".
std::vector<std::string> algorithm_forms();
/// Returns the help text of the command-line option --algorithm, such as "of every allreduce:
/// sequential, ...".
std::string algorithm_help();

/// Reads a word with its parameters, such as "lagged:2" or "conditional:subscribe:8". Missing
/// parameters get their defaults. If the word is unknown, or collectives of the kind
/// `collective_kind` do not support it, returns nothing and sets `wrong` to a description of the
/// expected text.
std::optional<Algorithm> parse_algorithm(std::string_view word, std::string_view collective_kind,
                                         std::string& wrong);
/// Returns the shortest text that parse_algorithm() reads as this algorithm. For example, the text
/// for "exact:pull" is "magpie".
std::string algorithm_text(const Algorithm& algorithm);

/// Reads the settings `relaxation` and `transfer` of a collective of the kind `collective_kind`.
/// `all_to_all` is true if the collective has `graph: all_to_all`. Reports mistakes to the reader.
Algorithm read_relaxation(base::MapReader& reader, std::string_view collective_kind,
                          bool all_to_all);

}  // namespace paths
