// SPDX-License-Identifier: Apache-2.0
// paths/joins/decision.hpp — decision of a round from the values of all clusters.
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

/// Value of one cluster for a round, and the element that contains it.
struct ClusterValue {
  std::string_view element;
  base::Payload value;
};

/// Reduction of a collective and the condition on its result (Bongo et al. 2004, §IV).
struct Decision {
  Reduction reduction;
  std::optional<ConditionSpec> condition;

  /// Combines the values in the given order, which must be the order of the clusters, not the order
  /// of arrival. The result does not depend on earlier calls. Because the order is fixed, all
  /// clusters get the same bits. For the same reason rounding is monotone: a larger value never
  /// gives a smaller result.
  ///
  /// Throws: base::BadValue that names the element whose value could not be combined.
  ///         base::Overflow if the value leaves the range of its type. An overflow proves the
  ///         outcome that a part can prove, because further values of the same sign cannot bring
  ///         the value back into the range.
  base::Payload combine(std::span<const ClusterValue> values) const;
  /// Returns whether `part`, the combined value of a part of the contributions, decides the
  /// condition.
  /// Requires: a condition.
  bool proves(const base::Payload& part) const;
  /// Returns whether `left` is closer than `right` to deciding the condition. Both are combined
  /// values of a part of the contributions.
  bool is_nearer(const base::Payload& left, const base::Payload& right) const;
  /// Returns the result of a round whose condition a part of the contributions has decided. `part`
  /// is the combined value of that part, or of another part of the same round.
  Result proved(base::Payload part, std::uint64_t contributions, std::uint64_t sequence) const;
  Result complete(base::Payload value, std::uint64_t contributions, std::uint64_t sequence) const;

 private:
  std::optional<base::Payload> combine_parts(std::span<const ClusterValue> values) const;
};

/// Reads `condition` for `reduction`. If `may_prove` is true, a condition must be given, and a part
/// of the contributions must be able to decide it. Reports mistakes to the reader.
std::optional<ConditionSpec> read_decided_condition(base::MapReader& reader,
                                                    const Reduction& reduction, bool may_prove);

/// Names of the elements in which the root of a cluster finds the values of a round. `all` has one
/// element for each cluster, in the order of the clusters. `own` is the element for the root's own
/// cluster.
struct ClusterElements {
  std::string own;
  std::vector<std::string> all;
};
/// Reads the settings `result` and `combine`, which name elements of this host. The elements must
/// have the template `expected`.
ClusterElements read_cluster_elements(base::MapReader& reader, const WrapperPlace& place,
                                      const pastset::Template& expected);

/// Returns how many threads of all clusters take part in the collective to which `wrapper` belongs.
std::uint64_t count_contributors(const Plan& plan, std::uint32_t wrapper);

}  // namespace paths
