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
/// contributions, and the combined value of these contributions. The u8 is 1 if the tuple contains
/// an ExactPair; otherwise 0. The last two fields are the number and the value in the ExactPair.
///
/// Paper: Bongo et al. 2004, §IV: a tuple is a result and its sequence. The ExactPair is our
///        addition. With it, the other clusters can decide a condition more often.
pastset::Template partial_template(const pastset::Template& value);
/// The number of a round whose complete value is known, and this complete value.
struct ExactPair {
  std::uint64_t sequence = 0;
  base::Payload value;
};
/// What a cluster knows of the value of a round: the combination of a part of the contributions.
struct Partial {
  std::uint64_t sequence = 0;
  std::uint64_t contributions = 0;
  base::Payload value;
  std::optional<ExactPair> last_exact;
};
/// Returns the tuple of `partial`. `value_bytes` is the size of each value.
base::Payload partial_tuple(const Partial& partial, std::size_t value_bytes);
Partial read_partial(const base::Payload& tuple, std::size_t value_bytes);

/// Returns the template of an Ask: "ask: u64, u64". The fields are the number of the first tuple
/// that is requested, and the count of requested tuples.
const pastset::Template& ask_template();
/// The message by which a cluster requests tuples of another cluster.
struct Ask {
  std::uint64_t from = 0;
  std::uint64_t count = 1;
};
base::Payload ask_tuple(const Ask& ask);
Ask read_ask(const base::Payload& tuple);

/// Returns the template of a Batch: "batch: u64, u64, bytes". The first field is the sequence of
/// the first round. The second field is the number of contributions to each round. The bytes are
/// the values of all rounds, one after the other.
const pastset::Template& batch_template();
/// What a cluster knows of the values of several consecutive rounds.
struct Batch {
  std::uint64_t first = 0;
  std::uint64_t contributions = 0;
  base::Payload values;
};
base::Payload batch_tuple(const Batch& batch);
Batch read_batch(const base::Payload& tuple);

}  // namespace paths
