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

  /// Combines the values in the given order. The result does not depend on earlier calls.
  ///
  /// Why: the fixed order gives all clusters the same bits. It also makes rounding monotone: a
  ///      larger value of a cluster never gives a smaller result.
  /// Requires: `values` has the order of the clusters, not the order of arrival.
  /// Throws: base::BadValue that names the element whose value could not be combined.
  ///         base::Overflow if the combined value leaves the range of its type. An overflow proves
  ///         the outcome of provable_outcome(), because further values of the same sign cannot
  ///         bring the combined value back into the range.
  base::Payload combine(std::span<const ClusterValue> values) const;
  /// Returns whether `part` decides the condition. `part` is the combined value of a part of the
  /// contributions.
  /// Requires: `condition` is set.
  bool proves(const base::Payload& part) const;
  /// Returns whether `left` is closer than `right` to deciding the condition. `left` and `right`
  /// are each the combined value of a part of the contributions.
  bool is_nearer(const base::Payload& left, const base::Payload& right) const;
  /// Returns the result of a round whose condition was decided by a part of the contributions. The
  /// payload of the result is `part`: the combined value of any part of the round's contributions.
  Result proved(base::Payload part, std::uint64_t contributions, std::uint64_t sequence) const;
  Result complete(base::Payload value, std::uint64_t contributions, std::uint64_t sequence) const;

 private:
  std::optional<base::Payload> combine_parts(std::span<const ClusterValue> values) const;
};

/// Reads the setting `condition` for `reduction`. If `may_prove` is true, the setting must be
/// present, and a part of the contributions must be able to decide the condition. Reports mistakes
/// to the reader.
std::optional<ConditionSpec> read_decided_condition(base::MapReader& reader,
                                                    const Reduction& reduction, bool may_prove);

/// Names of the elements from which the root of a cluster reads the values of a round. `all` has
/// the name of one element for each cluster, in the order of the clusters. `own` is the name of the
/// element for the root's own cluster.
struct ClusterElements {
  std::string own;
  std::vector<std::string> all;
};
/// Reads the settings `result` and `combine`, which name elements of this host. Reports an element
/// of another template than `expected` to the reader.
ClusterElements read_cluster_elements(base::MapReader& reader, const WrapperPlace& place,
                                      const pastset::Template& expected);

/// Returns the number of threads, in all clusters, that take part in the collective of `wrapper`.
std::uint64_t count_contributors(const Plan& plan, std::uint32_t wrapper);

}  // namespace paths
