// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithm.hpp — descriptions of the algorithm words for collectives made of paths.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

namespace expansion {
class CollectiveExpansion;
}

/// Description of a word of `transfer`: how tuples of a cluster reach the others. Passive;
/// paths/config/algorithms/all.cpp lists them.
struct TransferWord {
  std::string name;
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< none, or one: tuples per request
  std::string with_one = {};               ///< equivalent word if that number is 1
  bool asks = false;                       ///< a root that cannot decide requests tuples
  /// Writes the paths that carry tuples from the cluster `from` to the cluster `into`.
  void (*expand)(expansion::CollectiveExpansion&, std::uint32_t into, std::uint32_t from) = nullptr;
};

/// Description of a word of `algorithm`. Passive; paths/config/algorithms/all.cpp lists them.
struct AlgorithmWord {
  std::string name;
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< whole numbers that follow the word after a colon
  /// Value of `relaxation` for such a collective. Words of one relaxation promise the same, and
  /// differ in the graph or in their default transfer.
  std::string relaxation;
  std::vector<std::string_view> collectives = {};  ///< kinds that may have it; empty: each
  bool over_tree = false;                          ///< allowed together with `graph: tree`
  bool over_all_to_all = false;  ///< allowed with `graph: all_to_all`, which selects it
  /// Whether hosts combine values by a schedule. The algorithms of collectives/ are also words.
  bool is_schedule = false;
  std::vector<std::string_view> transfers = {};  ///< transfers allowed with this word
  std::string_view transfer = {};                ///< default transfer
  /// Whether it needs a condition that a part of the contributions can establish.
  bool needs_proof = false;
  void (*expand)(expansion::CollectiveExpansion&) = nullptr;  ///< writes the paths

  bool takes(std::string_view collective_kind) const;
};

/// Returns the words in the order of presentation, made at the first call. Thread-safe.
const std::vector<AlgorithmWord>& algorithm_words();
const std::vector<TransferWord>& transfer_words();

/// Algorithm of a collective, from `algorithm` or from `graph`, `relaxation` and `transfer`. A
/// value; its words are those of the lists.
struct Algorithm {
  const AlgorithmWord* word = nullptr;
  bool all_to_all = false;
  std::vector<std::uint64_t> numbers = {};  ///< one for each of the word's settings
  const TransferWord* transfer = nullptr;   ///< null over a tree
  std::uint64_t tuples = 1;                 ///< tuples per request
  std::string schedule = {};  ///< schedule words: "best", "multilevel:shapes=flat/binomial"

  /// Returns the word's setting of that name; 0 if it has none.
  std::uint64_t number(std::string_view setting) const;
};

/// Returns the default algorithm of a collective: one tree.
Algorithm sequential_algorithm();

/// Returns whether collectives of the kind can choose between several algorithms.
bool has_algorithms(std::string_view collective_kind);
/// Returns every word with its parameters, for messages: "sequential, magpie, periodic:EVERY".
std::vector<std::string> algorithm_forms();
/// Returns the help of the option --algorithm: "of every allreduce: sequential, ...".
std::string algorithm_help();

/// Reads a word with its parameters, such as "lagged:2" or "conditional:subscribe:8". Missing
/// parameters have their defaults. Returns nothing for an unknown word, or one that collectives of
/// that kind do not support; `wrong` then describes the expected text.
std::optional<Algorithm> parse_algorithm(std::string_view word, std::string_view collective_kind,
                                         std::string& wrong);
/// Returns the shortest word that parse_algorithm() reads as this algorithm: "magpie" for
/// exact:pull.
std::string algorithm_text(const Algorithm& algorithm);

/// Reads the settings `relaxation` and `transfer` of a collective of that kind over that graph.
/// Reports mistakes to the reader.
Algorithm read_relaxation(base::MapReader& reader, std::string_view collective_kind,
                          bool all_to_all);

}  // namespace paths
