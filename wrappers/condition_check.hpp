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
  bool may_prove = false;  ///< relaxation conditional: partial values may decide
  paths::Decision decision;
  paths::ClusterElements elements;  ///< results of all clusters; none for one tree over all threads
  /// Elements through which to request tuples of the other clusters, in their order; empty if
  /// tuples are pushed without requests.
  std::vector<std::string> asks;
  std::uint64_t ask_for = 1;  ///< tuples per request
};

/// Switches for tests that show the purpose of each part of the rule.
struct ConditionCheckSwitches {
  bool use_exact_pair = true;   ///< off: a larger sequence alone decides, as in the paper
  bool record_adoption = true;  ///< off: only values combined here become our exact pair
};

/// Moves (sequence, contributions, value, last exact pair) down into the cluster's result element,
/// then decides. It decides from its own value first. Otherwise it uses those of the other clusters
/// in its host's caches, as they arrive, until the condition is proved or the value is complete. It
/// combines known values in the order of the clusters each time, so that all clusters compute the
/// same bits.
///
/// If it must request tuples, an undecided round immediately asks some clusters, largest last known
/// value first. It asks the fewest that would decide the round if their last known values still
/// held, or all clusters if none would. If their replies leave it undecided, it asks the rest, and
/// again each cluster whose tuple was too old.
///
/// If integers of one sign overflow when clusters are combined, this proves the outcome that a part
/// can establish. The value is then that of the own cluster.
///
/// Why:     A larger sequence alone proves nothing if the program goes on after an exact result,
///          because the other root may have completed our round with our tuple. Each tuple
///          therefore carries the newest round whose full value its root knows, either combined
///          there or adopted from another tuple. A pair for our round is our result. Otherwise a
///          larger sequence means the outcome that a part can establish.
/// Blocks:  until decided or until the host's deadline; it sleeps between arrivals. The next round
///          waits.
/// Throws:  TravelError.
/// Paper:   Bongo et al. 2004, §IV.
/// Context: the operation's, which is that of the last arriver of the whole cluster.
/// Order:   Rounds must arrive in the order of their sequences and are decided one by one.
/// Failure: In one tree over all threads, a failure concerns its round only. Among several
///          clusters, a failed contribution, an error or a deadline before the decision is final:
///          it marks the result element, and this and every later round throws it. The same applies
///          to the failure of a thread that starts no further rounds. A round that needs a later
///          tuple of a marked cluster throws that cluster's error and marks its own element in
///          turn. It first waits for unmarked clusters that may still bring the proof.
/// Records: for each round that its own value does not decide, one read of every other cluster's
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
  const std::uint64_t contributors_;  // contributors of all clusters
  const std::shared_ptr<pastset::Element> result_;
  std::vector<Cluster> clusters_;                // same order as elements.all
  std::size_t own_ = 0;                          // index of our cluster
  std::unique_ptr<pastset::AnyChange> changes_;  // changes of the others' elements
  std::optional<paths::ExactPair> last_exact_;   // exact pair, owned by the current round
  paths::RootRounds rounds_;
};

paths::WrapperKind condition_check_kind();

}  // namespace wrappers
