// SPDX-License-Identifier: Apache-2.0
// paths/joins/combiner.hpp — check and combination of the contributions of a round.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "paths/joins/reduction.hpp"
#include "paths/joins/round.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Smallest size in bytes of a large contribution. Waiting threads help to combine large
/// contributions. A large contribution is freed as soon as it is combined.
inline constexpr std::size_t shared_fold_bytes = 1 << 20;

/// Checks the contributions of a join and combines them in the order of their slots. The fixed
/// order gives a result the same bits in every run.
///
/// Thread-safe.
class Combiner {
 public:
  /// `index` is the index of `join` in the plan. `mutex` is the mutex of the join, which guards the
  /// join's rounds. If `is_by_last` is true, the last contributor to arrive combines all
  /// contributions.
  Combiner(const HostView& view, const Wrapper& join, std::uint32_t index,
           std::optional<Reduction> reduction, bool is_by_last, runtime::Mutex& mutex);

  /// Checks the value of a contribution. If the value must not be combined, replaces it by
  /// a failure that names the contributor.
  void check(Operation& contribution) const;
  /// Returns whether combine() takes little time and never waits.
  bool is_short() const;
  /// Combines all contributions of a round into `operation`, the operation of the round's leader.
  ///
  /// Blocks: until helping threads have combined the parts that they have begun.
  /// Requires: the round has a leader.
  /// Throws: TravelError if a value must not be combined.
  void combine(Round& round, Operation& operation) const;
  /// Returns a failure that names the first contribution whose value must not be combined; nullptr
  /// if all values may be combined.
  Failure first_wrong(std::span<const Contribution> contributions, std::uint64_t sequence) const;

  /// Returns whether the calling OS thread can help to combine the round. OS threads that run
  /// service contexts do not help.
  /// Requires: mutex_ held.
  bool can_help(const Round& round) const;
  /// Combines parts of the contributions until other threads have begun all remaining parts.
  /// Requires: mutex_ not held.
  void help(Round& round) const;

 private:
  base::Sign sign_of(std::uint32_t path, std::uint64_t contributions) const;
  Failure refused(std::uint32_t slot, std::uint32_t path, std::uint64_t sequence,
                  const std::string& why) const;
  base::Payload fold_whole(const Round& round, const Operation& operation) const;
  std::optional<base::Payload> fold(Round& round) const;
  std::optional<base::Payload> fold_alone(const Round& round) const;
  bool fold_part(const Round& round, std::span<std::byte> to, std::size_t at) const;

  const HostView& view_;
  const Wrapper& join_;
  const std::uint32_t index_;
  const std::optional<Reduction> reduction_;
  const std::size_t bytes_;  // size of a contribution in bytes; 0 without a reduction
  /// Whether values are checked while they are combined instead of on arrival. The later check is
  /// permitted if the combination reads every value, and if no contributor continues before the
  /// combination has ended.
  const bool checks_in_fold_;
  runtime::Mutex& mutex_;
};

}  // namespace paths
