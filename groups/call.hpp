// SPDX-License-Identifier: Apache-2.0
// groups/call.hpp — arguments that one member passes to an operation of its group.
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

/// Arguments that one member passes to an operation of its group. An element is a scalar, or a pair
/// of a scalar and a location.
struct Call {
  collectives::Collective collective = collectives::Collective::barrier;
  std::span<const std::byte> in = {};
  std::span<std::byte> out = {};
  base::Scalar scalar = base::Scalar::u8;
  std::string operation = {};  ///< name of a base::ReduceOperation; reductions only
  base::Values values = base::Values::checked;
  std::uint32_t root = 0;  ///< rank of the root member
  /// Element counts: one for a whole vector, one for each member's block, or, for an alltoall, one
  /// for each pair, by source and then by target. A single number means that all blocks are alike.
  std::vector<std::uint64_t> counts = {};
  std::string algorithm = "best";
  /// Whether "best" is limited to schedules whose sums have the same bits as those of one tree:
  /// first over hosts, then over clusters.
  bool is_canonical = false;
  /// Unfinished schedule steps that a host admits at once; 0 = 256, or the number of hosts if that
  /// is larger. Members need not agree on it.
  /// Throws: UsageError, naming the smallest window, if the schedule needs a larger one and credit
  ///         cannot replace it (the inbox is 0 bytes, or receiving ports are limited).
  std::size_t window = 0;
  /// Number of messages that a host requests at once and, if steps take ports in order, sends at
  /// once; 0 = as many as its schedule allows. A plan brings its own ports.
  pricing::Ports ports = {};
  /// Whether the arrays hold values. If false, arrays give only their sizes and several members may
  /// share one: operations read, fold and copy nothing, and results are undefined. This measures
  /// operations on the virtual clock whose values would not fit in memory.
  /// Paper: Degomme et al. 2017 (shared allocations in simulators).
  bool has_values = true;
  /// Link properties that the choice of schedules uses; nullptr = those of the config. A Group sets
  /// it.
  std::shared_ptr<Selector> selector = {};
  /// Element whose newest tuple replaces `in`, and the root's `out` of a broadcast
  /// (groups/tuples.hpp); nullptr = use the arrays. `tuple` holds that tuple.
  const pastset::Element* from = nullptr;
  base::Payload tuple = {};
  /// Element that receives the result as a tuple of `into_count` values and replaces `out`; nullptr
  /// = use the array. `made` is the tuple's buffer if this member receives a result.
  pastset::Element* into = nullptr;
  std::uint64_t into_count = 0;
  std::shared_ptr<base::Buffer> made = {};
};

}  // namespace groups
