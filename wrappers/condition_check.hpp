// SPDX-License-Identifier: Apache-2.0
// wrappers/condition_check.hpp — decision of multi-cluster rounds at the root of each cluster.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pastset/any_change.hpp"
#include "pastset/element.hpp"
#include "paths/host/deployment.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "paths/joins/decision.hpp"
#include "paths/joins/root_rounds.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

struct ConditionCheckSettings {
  bool may_prove = false;  ///< true = a round need not wait for all clusters (conditional)
  paths::Decision decision;
  /// Elements with the results of all clusters; empty if one tree covers all threads.
  paths::ClusterElements elements;
  /// Elements through which this cluster requests tuples: one for each other cluster, in the order
  /// of `elements`. Empty if the clusters push tuples without requests.
  std::vector<std::string> asks;
  std::uint64_t ask_for = 1;  ///< number of tuples per request
};

/// Parts of the decision rule that tests can turn off. A test without a part shows why the part is
/// needed.
struct ConditionCheckSwitches {
  /// If false, exact pairs are ignored: any tuple of a later round decides the round, as in Bongo
  /// et al. 2004.
  bool use_exact_pair = true;
  /// If false, a root does not put exact pairs that it received from other roots into its own
  /// tuples.
  bool record_adoption = true;
};

/// Decides rounds of a conditional allreduce at the root of a cluster. In each round, the wrapper
/// first moves a tuple into the cluster's result element: (sequence, contributions, value, last
/// exact pair). An exact pair is the number of a round and the complete value of that round. If the
/// value of its own cluster proves the condition, the wrapper decides the round from this value.
/// Otherwise it waits for values of other clusters, which arrive in elements of its host (caches).
/// The round is decided when the known values prove the condition, or when all values are known.
/// The wrapper combines values in the order of the clusters, so that all clusters compute the same
/// bits.
///
/// If clusters do not push their tuples, the wrapper requests tuples from other clusters when the
/// known values do not decide the round. It assumes that the last known values of other clusters
/// still hold. It asks the fewest clusters whose last known values would decide the round. If even
/// the values of all clusters would not decide the round, it asks all clusters. If the replies do
/// not decide the round, it asks the remaining clusters. It also asks a cluster again if the tuple
/// of that cluster was too old.
///
/// A sum of integers from several clusters may overflow. These integers have equal signs, so
/// partial values can prove only one outcome of the condition. Example: partial sums of
/// non-negative values can prove that `greater` holds. An overflow also proves this outcome. The
/// result of a round with an overflow has only the value of the wrapper's own cluster.
///
/// Why:     A tuple of a later round shows that another root has decided our round, but not how. If
///          partial values decided the round, the outcome is the one that partial values can prove.
///          If the other root combined the values of all clusters, either outcome is possible. Each
///          tuple therefore carries the newest exact pair that its root knows. That root has
///          combined the value of the pair itself, or has adopted the pair from a tuple. If a tuple
///          carries an exact pair of our round, the value of the pair is our result. Otherwise
///          partial values decided our round, and its outcome is the one that partial values can
///          prove.
/// Blocks:  until the round is decided or the host's deadline passes. The caller sleeps between
///          arrivals of tuples. The next round waits until this round is decided.
/// Throws:  TravelError.
/// Paper:   Bongo et al. 2004, §IV.
/// Context: runs in the thread or fiber of the operation that arrives last in its cluster's round.
/// Order:   Rounds must arrive in the order of their sequence numbers. The wrapper decides one
///          round at a time.
/// Failure: If one tree covers all threads, a failure affects only its own round. With several
///          clusters, a failure that precedes the decision is final. Such a failure is a failed
///          contribution, an error or a passed deadline. The wrapper marks the result element with
///          the failure. This round and all later rounds throw the failure. The failure of a thread
///          that starts no further rounds has the same effect. A round may need a tuple of a
///          cluster whose element is marked. The round then first waits for the clusters without a
///          mark, because these may still send a proof. Without a proof, the round throws the error
///          of the marked cluster, and the wrapper marks its own element with this error. If the
///          mark tells that a host was lost, each round without a tuple of that cluster throws the
///          error at once, even if other values could decide the round.
/// Records: one read of each other cluster's cache, for each round that the value of the own
///          cluster does not decide (paths/joins/awaited_values.hpp).
class ConditionCheck final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan.
  ConditionCheck(paths::Deployment& deployment, std::uint32_t wrapper,
                 ConditionCheckSettings settings, ConditionCheckSwitches switches = {});
  ~ConditionCheck() override;
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }

 private:
  struct Seen;
  struct Cluster;
  class Asking;

  paths::Result decide(paths::Operation operation, const paths::Next& next);
  paths::Result wait_for_decision(const paths::Operation& operation, const paths::Partial& own,
                                  paths::StageId stage);
  std::vector<Seen> look(const paths::Partial& own) const;
  Seen look(const Cluster& cluster) const;
  std::optional<paths::Result> decide_from(const std::vector<Seen>& all,
                                           const paths::Operation& operation);
  std::optional<paths::Result> adopt(const std::vector<Seen>& all, std::uint64_t sequence);
  void fail_if_lost(std::uint64_t sequence) const;
  void fail_if_hopeless(const std::vector<Seen>& all, const paths::Operation& operation) const;
  std::optional<base::Payload> combine(const std::vector<Seen>& all,
                                       const paths::Operation& operation) const;
  void set_origin(paths::Result& result, const std::vector<Seen>& all, base::Nanos began,
                  bool has_waited) const;

  paths::Deployment& deployment_;
  const ConditionCheckSettings settings_;
  const ConditionCheckSwitches switches_;
  const std::uint64_t contributors_;  // number of contributors in all clusters
  const std::shared_ptr<pastset::Element> result_;
  std::vector<Cluster> clusters_;  // clusters, in the order of settings_.elements.all
  std::size_t own_ = 0;            // index of our cluster in clusters_
  // Detects changes in the elements of the other clusters.
  std::unique_ptr<pastset::AnyChange> changes_;
  std::optional<paths::ExactPair> last_exact_;  // newest exact pair; only the current round uses it
  paths::RootRounds rounds_;
};

paths::WrapperKind condition_check_kind();

}  // namespace wrappers
