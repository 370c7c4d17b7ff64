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
  bool may_prove = false;  ///< relaxation `conditional`: values of some clusters may decide a round
  paths::Decision decision;
  /// Results of all clusters; empty if one tree covers all threads.
  paths::ClusterElements elements;
  /// For each other cluster, in the order of `elements`: the element through which this cluster
  /// requests its tuples. Empty if the clusters push tuples without requests.
  std::vector<std::string> asks;
  std::uint64_t ask_for = 1;  ///< number of tuples that one request asks for
};

/// Switches for tests. Each test turns one part of the rule off and shows why it is needed.
struct ConditionCheckSwitches {
  bool use_exact_pair = true;   ///< false: a tuple of a later round alone decides, as in the paper
  bool record_adoption = true;  ///< false: only values combined here become our exact pair
};

/// Decides rounds of a conditional allreduce at the root of a cluster. It moves (sequence,
/// contributions, value, last exact pair) into the cluster's result element. An exact pair is a
/// round and its complete value. Then it decides the round, from its own value if possible.
/// Otherwise it also uses the values of other clusters, as they arrive in its host's caches. It
/// stops when the condition is proved or the value is complete. Each time, it combines the known
/// values in the order of the clusters, so that all clusters compute the same bits.
///
/// If tuples must be requested, an undecided round immediately asks some clusters, those with the
/// largest last known values first. It assumes that these values still hold, and asks the fewest
/// clusters that would then decide the round. If not even the values of all clusters would decide
/// it, it asks all. If the replies do not decide the round, it asks the remaining clusters. It also
/// asks again each cluster whose tuple was too old.
///
/// Integers of equal sign may overflow when clusters are combined. Each condition has one outcome
/// that partial values can prove, such as `holds` for `greater` and non-negative values. An
/// overflow proves this outcome. The result is then the value of the own cluster.
///
/// Why:     The program may continue after an exact result. A tuple of a later round from another
///          root then proves nothing: that root may have completed our round with our tuple. Each
///          tuple therefore carries the newest exact pair that its root knows. The root has
///          combined the pair's value itself, or adopted the pair from another tuple. If a tuple
///          carries an exact pair for our round, the pair is our result. Otherwise the other root
///          passed our round without its complete value. Our round then has the only outcome that
///          partial values can prove.
/// Blocks:  until the round is decided or the host's deadline passes; it sleeps between arrivals of
///          tuples. The next round waits until this one is decided.
/// Throws:  TravelError.
/// Paper:   Bongo et al. 2004, §IV.
/// Context: that of the last operation of the cluster to arrive in the round.
/// Order:   Rounds must arrive in the order of their sequences and are decided one by one.
/// Failure: If one tree covers all threads, a failure affects only its own round. With several
///          clusters, a failed contribution, an error or a deadline before the decision is final:
///          it marks the result element, and this round and all later rounds throw it. The failure
///          of a thread that starts no further rounds has the same effect. A round may need a later
///          tuple of a cluster whose element is marked. The round then throws that cluster's error
///          and marks its own cluster's element with this error. Before that, the round waits for
///          clusters without a mark that may still send the proof.
/// Records: for each round that its own value does not decide, one read of each other cluster's
///          cache (paths/joins/awaited_values.hpp).
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
  std::optional<paths::Result> decide_from(const std::vector<Seen>& all,
                                           const paths::Operation& operation);
  std::optional<paths::Result> adopt(const std::vector<Seen>& all, std::uint64_t sequence);
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
  std::vector<Cluster> clusters_;                // in the order of elements.all
  std::size_t own_ = 0;                          // index of our cluster in clusters_
  std::unique_ptr<pastset::AnyChange> changes_;  // changes of the elements of the other clusters
  std::optional<paths::ExactPair> last_exact_;   // used by the current round only
  paths::RootRounds rounds_;
};

paths::WrapperKind condition_check_kind();

}  // namespace wrappers
