// SPDX-License-Identifier: Apache-2.0
// paths/joins/cluster_tuples.hpp — what the roots of clusters tell and ask each other.
#pragma once
#include <cstdint>
#include <optional>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// What a cluster tells of a round (Bongo et al. 2004, §IV: the result with its sequence; the exact
/// pair is ours, because the sequence alone proves too little), for contributions of `value`'s
/// template: "partial: u64, u64, V, u8, u64, V" — sequence, contributions, the part's value,
/// whether there is an exact pair (0 or 1), its sequence, its value.
pastset::Template partial_template(const pastset::Template& value);
/// A round whose full value is known.
struct ExactPair {
  std::uint64_t sequence = 0;
  base::Payload value;
};
struct Partial {
  std::uint64_t sequence = 0;
  std::uint64_t contributions = 0;
  base::Payload value;
  std::optional<ExactPair> last_exact;
};
/// `value_bytes`: the size of every value.
base::Payload partial_tuple(const Partial& partial, std::size_t value_bytes);
Partial read_partial(const base::Payload& tuple, std::size_t value_bytes);

/// What a cluster asks another one for: "ask: u64, u64" — tuples from that number on, how many.
const pastset::Template& ask_template();
struct Ask {
  std::uint64_t from = 0;
  std::uint64_t count = 1;
};
base::Payload ask_tuple(const Ask& ask);
Ask read_ask(const base::Payload& tuple);

/// What a cluster tells of several rounds in a row: "batch: u64, u64, bytes" — the first round's
/// sequence, contributions to each round, the parts' values one after the other.
const pastset::Template& batch_template();
struct Batch {
  std::uint64_t first = 0;
  std::uint64_t contributions = 0;
  base::Payload values;
};
base::Payload batch_tuple(const Batch& batch);
Batch read_batch(const base::Payload& tuple);

}  // namespace paths
