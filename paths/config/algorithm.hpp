// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithm.hpp — words by which a config selects the algorithm of a collective.
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
  /// Parameters of the word. A word has at most one parameter: the number of tuples per request.
  std::vector<SettingHelp> settings = {};
  /// Name of the word that means the same as this word with one tuple per request; empty = there is
  /// no such word. For example, `subscribe` with one tuple per request is `demand`.
  std::string with_one = {};
  bool asks = false;  ///< whether a cluster's root requests tuples when it cannot decide a round
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
  /// the same guarantees. Such words differ in the graph or in the default transfer.
  std::string relaxation;
  /// Kinds of collective that support this word; empty = all.
  std::vector<std::string_view> collectives = {};
  bool over_tree = false;        ///< whether the word may be used with `graph: tree`
  bool over_all_to_all = false;  ///< whether the word may be used with `graph: all_to_all`
  /// Whether hosts combine values by a schedule. If so, each name of an algorithm in collectives/
  /// may also be used as a word.
  bool is_schedule = false;
  std::vector<std::string_view> transfers = {};  ///< transfers allowed with this word
  std::string_view transfer = {};                ///< default transfer
  /// Whether the collective must have a condition that a part of the contributions can decide.
  bool needs_proof = false;
  void (*expand)(expansion::CollectiveExpansion&) = nullptr;  ///< writes the collective's paths

  bool takes(std::string_view collective_kind) const;
};

/// Return all words of the settings `algorithm` and `transfer`, in the order in which help texts
/// list them. The first call makes the list. Thread-safe.
const std::vector<AlgorithmWord>& algorithm_words();
const std::vector<TransferWord>& transfer_words();
/// Returns the first word whose `is_schedule` is true; nullptr if there is no such word. This word
/// describes every name of an algorithm in collectives/.
const AlgorithmWord* schedule_word();

/// Algorithm of a collective. A config states it by the setting `algorithm`, or by the settings
/// `graph`, `relaxation` and `transfer`. The members `word` and `transfer` point into
/// algorithm_words() and transfer_words().
struct Algorithm {
  const AlgorithmWord* word = nullptr;
  bool all_to_all = false;
  std::vector<std::uint64_t> numbers = {};  ///< values of the parameters, as in `word->settings`
  /// Transfer between clusters; nullptr if all clusters form one tree, which has no transfers.
  const TransferWord* transfer = nullptr;
  std::uint64_t tuples = 1;   ///< number of tuples per request
  std::string schedule = {};  ///< schedule, such as "best" or "multilevel:shapes=flat/binomial"

  /// Returns the value of the word's parameter `setting`; 0 if the word has no such parameter.
  std::uint64_t number(std::string_view setting) const;
};

/// Returns the default algorithm of a collective, which is one tree.
Algorithm sequential_algorithm();

/// Returns whether collectives of the kind can choose between several algorithms.
bool has_algorithms(std::string_view collective_kind);
/// Returns every word with the names of its parameters, for error messages, such as "sequential,
/// magpie, periodic:EVERY".
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
