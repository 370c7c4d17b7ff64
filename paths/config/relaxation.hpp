// SPDX-License-Identifier: Apache-2.0
// paths/config/relaxation.hpp — how far an allreduce of the config may leave its contributors'
// step.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings.hpp"

namespace paths {

/// What `relaxation` and `transfer`, or the word of `algorithm`, say. A value.
struct Relaxation {
  enum class Kind : std::uint8_t { exact, periodic, lagged, conditional, budget };
  /// How a cluster's tuples come to the others.
  enum class Transfer : std::uint8_t {
    pull,    ///< they ask for the newest again and again (Bongo et al. 2004)
    push,    ///< unasked, as MagPIe does (Kielmann et al. 1999)
    demand,  ///< they ask when they are undecided, for `count` at once
  };
  Kind kind = Kind::exact;
  std::uint64_t rounds = 0;  ///< periodic: of which one is checked; lagged, budget: how late
  std::uint64_t every = 1;   ///< budget: rounds told in one message
  Transfer transfer = Transfer::pull;
  std::uint64_t count = 1;  ///< tuples asked for at once

  bool needs_all_to_all() const { return kind == Kind::conditional || kind == Kind::budget; }
  bool is_late() const { return kind == Kind::lagged || kind == Kind::budget; }
  /// None of a cluster's values may be skipped.
  bool tells_batches(bool all_to_all) const {
    return kind == Kind::budget || (kind == Kind::lagged && all_to_all);
  }
};

/// "sequential", "exact" (pushed), "magpie" (the same, pulled), or a relaxation over all_to_all
/// with its parameters: "periodic:50", "lagged:2", "budget:32,16", which those words mean by
/// themselves, too, "conditional:subscribe:8".
struct Algorithm {
  bool all_to_all = true;
  Relaxation relaxation;
};
/// Nothing when it is none; then `wrong` says what was expected.
std::optional<Algorithm> parse_algorithm(std::string_view word, std::string& wrong);

/// Reads the settings `relaxation` and `transfer`, for a collective over that graph. Mistakes go
/// to the reader.
Relaxation read_relaxation(base::MapReader& reader, bool all_to_all);

/// The word that parse_algorithm() reads: of conditional:pull and the like, "conditional".
std::string algorithm_text(const Algorithm& algorithm);

}  // namespace paths
