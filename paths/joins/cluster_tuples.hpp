// SPDX-License-Identifier: Apache-2.0
// paths/joins/cluster_tuples.hpp — tuples that the roots of clusters exchange.
#pragma once
#include <cstdint>
#include <optional>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// Returns the template of a Partial for contributions of the template V: "partial: u64, u64, V,
/// u8, u64, V". The first three fields are the number of a round (sequence), the number of
/// contributions, and their combined value. The last two are an exact pair: a round whose complete
/// value is known, and that value. The u8 before them is 1 if there is such a pair, 0 if not.
///
/// Paper: Bongo et al. 2004, §IV: tuples of a result and its sequence. The exact pair is our
///        addition. Without it, the other clusters can prove too little.
pastset::Template partial_template(const pastset::Template& value);
/// A round whose complete value is known, and that value.
struct ExactPair {
  std::uint64_t sequence = 0;
  base::Payload value;
};
/// The value of a round as far as a cluster knows it: the combination of a part of the
/// contributions.
struct Partial {
  std::uint64_t sequence = 0;
  std::uint64_t contributions = 0;
  base::Payload value;
  std::optional<ExactPair> last_exact;
};
/// Returns the tuple of `partial`. `value_bytes` is the size of each value.
base::Payload partial_tuple(const Partial& partial, std::size_t value_bytes);
Partial read_partial(const base::Payload& tuple, std::size_t value_bytes);

/// Returns the template of an Ask: "ask: u64, u64". The fields are the number of the first
/// requested tuple, and the count of requested tuples.
const pastset::Template& ask_template();
/// The message by which a cluster requests tuples of another cluster.
struct Ask {
  std::uint64_t from = 0;
  std::uint64_t count = 1;
};
base::Payload ask_tuple(const Ask& ask);
Ask read_ask(const base::Payload& tuple);

/// Returns the template of a Batch: "batch: u64, u64, bytes". The fields are the sequence of the
/// first round, the number of contributions to each round, and one value per round, one after the
/// other.
const pastset::Template& batch_template();
/// The values of several consecutive rounds as far as a cluster knows them.
struct Batch {
  std::uint64_t first = 0;
  std::uint64_t contributions = 0;
  base::Payload values;
};
base::Payload batch_tuple(const Batch& batch);
Batch read_batch(const base::Payload& tuple);

}  // namespace paths
