// SPDX-License-Identifier: Apache-2.0
// groups/call.hpp — what one member wants of one operation of its group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/payload.hpp"
#include "base/reduce.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/collective_spec.hpp"

namespace pastset {
class Element;
}

namespace groups {

class Selector;

/// Arguments of an operation. Elements are scalars, or pairs of a scalar and a location.
struct Call {
  collectives::Collective collective = collectives::Collective::barrier;
  std::span<const std::byte> in = {};
  std::span<std::byte> out = {};
  base::Scalar scalar = base::Scalar::u8;
  std::string operation = {};  ///< of a reduction: the name of a base::ReduceOperation
  base::Values values = base::Values::checked;
  std::uint32_t root = 0;  ///< a member's rank
  /// Elements: of the vector; of each member's block, one number if they are alike; of alltoall of
  /// each pair's, by sources and then by targets, one number if they are alike.
  std::vector<std::uint64_t> counts = {};
  std::string algorithm = "best";
  /// The best one may only be of those that give sums the bits of one tree: hosts, then clusters.
  bool is_canonical = false;
  /// Unfinished steps of its schedule that a host admits at once; 0: 256, or as many as hosts. A
  /// smaller one than the schedule needs is a UsageError that names the least, if no credit can
  /// make up for it: with an inbox of 0, or with receiving ports. Members need not agree on it.
  std::size_t window = 0;
  /// How many messages a host asks for at once, and, where steps take ports in order, sends; 0: as
  /// many as its schedule lets it. Plans bring their own.
  pricing::Ports ports = {};
  /// Else arrays are lent for their sizes alone, and may be everybody's: nothing is read, folded or
  /// copied, and what comes is not defined. For what operations take on the virtual clock where
  /// values would be too large (as shared allocations of simulators are: Degomme et al. 2017).
  bool has_values = true;
  /// What links are believed to be, for who chooses and plans; null: what the config says. A Group
  /// sets it.
  std::shared_ptr<Selector> selector = {};
  /// In place of `in`, and of the root's `out` of a broadcast (groups/tuples.hpp), and the tuple.
  const pastset::Element* from = nullptr;
  base::Payload tuple = {};
  /// In place of `out`, for so many values; and the tuple in the making, of a member that gets one.
  pastset::Element* into = nullptr;
  std::uint64_t into_count = 0;
  std::shared_ptr<base::Buffer> made = {};
};

}  // namespace groups
