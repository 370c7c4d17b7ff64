// SPDX-License-Identifier: Apache-2.0
// paths/joins/decision.hpp — what the root of a cluster makes of the clusters' values of a round.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "base/settings.hpp"
#include "paths/joins/condition.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/operation.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// A cluster's value of a round, and where it lies.
struct ClusterValue {
  std::string_view element;
  base::Payload value;
};

/// The reduction of a collective and the condition on its result (Bongo et al. 2004, §IV). A value.
struct Decision {
  Reduction reduction;
  std::optional<ConditionSpec> condition;

  /// From scratch and in the order given, which is that of the clusters, whoever came first: that
  /// is what makes the bits of all clusters the same, and rounding monotone. Throws base::BadValue
  /// that says whose value could not be combined. An Overflow is the proof of what a part can
  /// establish, where one can: of values of one sign nothing comes back from beyond the type.
  base::Payload combine(std::span<const ClusterValue> values) const;
  /// Whether a part of the contributions settles the condition. Needs one.
  bool proves(const base::Payload& part) const;
  /// Whether `left` is nearer to settling it than `right`.
  bool is_nearer(const base::Payload& left, const base::Payload& right) const;
  /// The result of a part that does, or of the knowledge that another part did.
  Result proved(base::Payload part, std::uint64_t contributions, std::uint64_t sequence) const;
  /// The result of all contributions.
  Result complete(base::Payload value, std::uint64_t contributions, std::uint64_t sequence) const;

 private:
  std::optional<base::Payload> combine_parts(std::span<const ClusterValue> values) const;
};

/// Reads `condition` for `reduction`; `may_prove` when a part is to settle it. Mistakes go to the
/// reader.
std::optional<ConditionSpec> read_decided_condition(base::MapReader& reader,
                                                    const Reduction& reduction, bool may_prove);

/// The elements in which the root of a cluster finds the values of a round: all clusters', in their
/// order, its own among them.
struct ClusterElements {
  std::string own;
  std::vector<std::string> all;
};
/// Reads `result` and `combine`: elements of this host with that template.
ClusterElements read_cluster_elements(base::MapReader& reader, const WrapperPlace& place,
                                      const pastset::Template& expected);

/// Threads of all clusters that take part in the collective that `wrapper` belongs to.
std::uint64_t count_contributors(const Plan& plan, std::uint32_t wrapper);

}  // namespace paths
