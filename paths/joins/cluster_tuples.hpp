// SPDX-License-Identifier: Apache-2.0
// paths/joins/cluster_tuples.hpp — tuples that the roots of clusters exchange.
#pragma once
#include <cstdint>
#include <optional>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// Returns the template of a Partial for contributions of the template `value`: "partial: u64, u64,
/// V, u8, u64, V". The fields are the number of the round (sequence), the number of contributions,
/// and their combined value. Three fields of an exact pair follow: whether there is one (0 or 1),
/// its round, and its value. An exact pair is a round whose complete value is known, and that
/// value.
///
/// Paper: Bongo et al. 2004, §IV: tuples of a result and its sequence. The exact pair is our
///        addition, because a result and its sequence alone prove too little.
pastset::Template partial_template(const pastset::Template& value);
/// Round whose complete value is known.
struct ExactPair {
  std::uint64_t sequence = 0;
  base::Payload value;
};
/// Value that a cluster knows of a round, from a part of all contributions.
struct Partial {
  std::uint64_t sequence = 0;
  std::uint64_t contributions = 0;
  base::Payload value;
  std::optional<ExactPair> last_exact;
};
/// Returns the tuple of `partial`. `value_bytes` is the size of each value.
base::Payload partial_tuple(const Partial& partial, std::size_t value_bytes);
Partial read_partial(const base::Payload& tuple, std::size_t value_bytes);

/// Returns the template of an Ask: "ask: u64, u64". The fields are the first tuple number and the
/// number of tuples.
const pastset::Template& ask_template();
/// Request of a cluster to another one for tuples.
struct Ask {
  std::uint64_t from = 0;
  std::uint64_t count = 1;
};
base::Payload ask_tuple(const Ask& ask);
Ask read_ask(const base::Payload& tuple);

/// Returns the template of a Batch: "batch: u64, u64, bytes". The fields are the sequence of the
/// first round, the contributions to each round, and the values of the parts one after the other.
const pastset::Template& batch_template();
/// Values that a cluster knows of several consecutive rounds.
struct Batch {
  std::uint64_t first = 0;
  std::uint64_t contributions = 0;
  base::Payload values;
};
base::Payload batch_tuple(const Batch& batch);
Batch read_batch(const base::Payload& tuple);

}  // namespace paths
