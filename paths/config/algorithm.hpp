// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithm.hpp — the words that say how a collective is made of paths, described.
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

/// How a cluster's tuples come to the others, as `transfer` says it. A passive description;
/// paths/config/algorithms/all.cpp lists them.
struct TransferWord {
  std::string name;
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< at most one: how many tuples are asked for at once
  std::string with_one = {};               ///< the word that says the same where that number is 1
  bool asks = false;                       ///< a root that cannot decide asks for tuples
  /// Writes the paths on which the tuples of the cluster `from` come to `into`.
  void (*expand)(expansion::CollectiveExpansion&, std::uint32_t into, std::uint32_t from) = nullptr;
};

/// A word of `algorithm`. A passive description; paths/config/algorithms/all.cpp lists them.
struct AlgorithmWord {
  std::string name;
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< whole numbers, which the word has behind a colon
  /// What `relaxation` says of a collective like this: words of one relaxation promise the same
  /// and differ in the graph, or in the transfer that they have without a word for it.
  std::string relaxation;
  std::vector<std::string_view> collectives = {};  ///< kinds that may have it; none: each
  bool over_tree = false;                          ///< may be said beside `graph: tree`
  bool over_all_to_all = false;                    ///< beside `graph: all_to_all`: means it alone
  /// Hosts join what they have by a schedule: the algorithms of collectives/ are words, too.
  bool is_schedule = false;
  std::vector<std::string_view> transfers = {};  ///< that may be said beside it
  std::string_view transfer = {};                ///< which one it has, if none is said
  /// It needs a condition that a part of the contributions can establish.
  bool needs_proof = false;
  void (*expand)(expansion::CollectiveExpansion&) = nullptr;  ///< writes the paths

  bool takes(std::string_view collective_kind) const;
};

/// In the order in which people are told of them; made at the first call, any thread may call.
const std::vector<AlgorithmWord>& algorithm_words();
const std::vector<TransferWord>& transfer_words();

/// What `algorithm`, or `graph`, `relaxation` and `transfer`, say of a collective. A value; the
/// words are those of the lists.
struct Algorithm {
  const AlgorithmWord* word = nullptr;
  bool all_to_all = false;
  std::vector<std::uint64_t> numbers = {};  ///< one for each of the word's settings
  const TransferWord* transfer = nullptr;   ///< none over a tree
  std::uint64_t tuples = 1;                 ///< asked for at once
  std::string schedule = {};  ///< where the word is one: "best", "multilevel:shapes=flat/binomial"

  /// The word's setting of that name; 0 when it has none.
  std::uint64_t number(std::string_view setting) const;
};

/// One tree: what a collective without another word has.
Algorithm sequential_algorithm();

/// Whether collectives of the kind may have one of several algorithms.
bool has_algorithms(std::string_view collective_kind);
/// "sequential, magpie, periodic:EVERY": every word with what stands behind it, for people.
std::vector<std::string> algorithm_forms();
/// "of every allreduce: sequential, ...", the help of the option --algorithm.
std::string algorithm_help();

/// Reads a word with its parameters, such as "lagged:2" or "conditional:subscribe:8"; those that
/// are left out have their fallbacks. Nothing when it is none, or none for collectives of that
/// kind; then `wrong` says what was expected.
std::optional<Algorithm> parse_algorithm(std::string_view word, std::string_view collective_kind,
                                         std::string& wrong);
/// The word that parse_algorithm() reads, the shortest for it: "magpie" for exact:pull.
std::string algorithm_text(const Algorithm& algorithm);

/// Reads the settings `relaxation` and `transfer` of a collective of that kind over that graph.
/// Mistakes go to the reader.
Algorithm read_relaxation(base::MapReader& reader, std::string_view collective_kind,
                          bool all_to_all);

}  // namespace paths
