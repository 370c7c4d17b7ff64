// SPDX-License-Identifier: Apache-2.0
// groups/calls/call.hpp — arguments that one member passes to an operation of its group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "base/payload.hpp"
#include "base/reduce.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/collective_spec.hpp"
#include "groups/calls/member_arrays.hpp"

namespace pastset {
class Element;
}

namespace groups {

class Selector;

/// Name that Group::last_algorithm() returns for an operation in memory that the hosts of one
/// machine share. Such an operation uses no algorithm.
inline constexpr std::string_view shared_memory_name = "shared_memory";
/// Name that Group::last_algorithm() returns for such an operation if each member read the values
/// directly from the mapped arrays (Group::mapped_array) of the others.
inline constexpr std::string_view mapped_arrays_name = "shared_memory:mapped";

/// Arguments that one member passes to an operation of its group. One element of an array is a
/// scalar, or a pair of a scalar and a location.
struct Call {
  collectives::Collective collective = collectives::Collective::barrier;
  std::span<const std::byte> in = {};
  std::span<std::byte> out = {};
  /// Places of `in` and `out`, which Group::run() and Group::start() find. Set if and only if this
  /// member has made mapped arrays.
  std::optional<MappedPlaces> places = {};
  base::Scalar scalar = base::Scalar::u8;
  std::string operation = {};  ///< name of a base::ReduceOperation; reductions only
  base::Values values = base::Values::checked;
  std::uint32_t root = 0;  ///< rank of the root member
  /// Element counts. A collective without blocks has one count: the size of the vector. A
  /// collective with blocks has one count for each member's block. An alltoall has one count for
  /// each pair of members, ordered by source, then by target. If there is only one count, it
  /// applies to all blocks.
  std::vector<std::uint64_t> counts = {};
  /// Name of the schedule. "best": the schedule with the least predicted time. "tuned": the
  /// schedule that the config's table of decisions names; the same as "best" if the table has no
  /// row for this operation.
  std::string algorithm = "tuned";
  /// If true, the algorithms "best" and "tuned" consider only schedules whose sums are, bit for
  /// bit, the sums of one fixed tree. The tree combines the hosts within each cluster first, then
  /// the clusters.
  bool is_canonical = false;
  /// Maximum number of unfinished schedule steps that a host considers at a time. 0 = 256, or the
  /// number of hosts if that is larger. Members may have different limits.
  /// Throws: UsageError if the schedule needs a larger limit; the text names the smallest
  ///         sufficient limit. Any limit is accepted if messages can be sent by credit (room in the
  ///         receiver's inbox) in place of grants. This requires an inbox of more than 0 bytes and
  ///         no limit on received messages in `ports`.
  std::size_t window = 0;
  /// Limits on simultaneous messages of a host. `receiving` limits the messages that the host
  /// receives. `sending` limits the messages that it sends, and applies only if `are_in_order`. 0 =
  /// as many as the schedule allows. A schedule of `paths plan` contains limits of its own, which
  /// replace this member.
  pricing::Ports ports = {};
  /// Whether the arrays hold values. If false, the arrays only give sizes, and several members may
  /// share one array. Operations then read, fold and copy nothing, and results are undefined. With
  /// false, a run on the virtual clock can measure operations whose values would not fit in memory.
  /// Paper: Degomme et al. 2017 (shared allocations in simulators).
  bool has_values = true;
  /// Selector that uses the files that the group has taken (Group::take_links); nullptr = the
  /// selector of the config. Group sets this field.
  std::shared_ptr<Selector> selector = {};
  /// Element whose newest tuple is used as input instead of `in`; for the root of a broadcast,
  /// instead of `out` (groups/tuples.hpp). nullptr = use the arrays.
  const pastset::Element* from = nullptr;
  base::Payload tuple = {};  ///< tuple that was read from `from`
  /// Element that receives the result as a tuple, instead of `out`; nullptr = use the array.
  pastset::Element* into = nullptr;
  std::uint64_t into_count = 0;             ///< number of values in the tuple for `into`
  std::shared_ptr<base::Buffer> made = {};  ///< memory of the tuple for `into`; null if not needed
};

/// The calls that the members on one host pass to one operation, ordered by the members' places
/// (Layout). nullptr = the member has not arrived yet.
using Calls = std::vector<std::shared_ptr<const Call>>;
/// Returns a pointer that does not own the call.
inline std::shared_ptr<const Call> borrowed(const Call& call) {
  return {std::shared_ptr<const Call>(), &call};
}

}  // namespace groups
