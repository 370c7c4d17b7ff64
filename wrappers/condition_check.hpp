// SPDX-License-Identifier: Apache-2.0
// wrappers/condition_check.hpp — decides a round of several clusters at the root of one of them.
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
  bool may_prove = false;  ///< relaxation conditional: a part may decide, if it can
  paths::Decision decision;
  paths::ClusterElements elements;  ///< all clusters' results, or none for a tree over all threads
  /// Where to ask the other clusters for tuples, in their order; none when they come unasked.
  std::vector<std::string> asks;
  std::uint64_t ask_for = 1;  ///< how many tuples at once
};

/// For tests, which show what each part of the rule is for.
struct ConditionCheckSwitches {
  bool use_exact_pair = true;   ///< off: a larger sequence alone decides, as in the paper
  bool record_adoption = true;  ///< off: only values combined here become our exact pair
};

/// Moves (sequence, contributions, value, last exact pair) down into the cluster's result element,
/// then decides: from its own value; then from those of the other clusters, in its host's caches,
/// as they arrive, until the condition is proved or the value complete. Known values are always
/// combined again in the order of the clusters, so that all clusters compute the same bits.
///
/// Where it has to ask for tuples, an undecided round at once asks the fewest clusters that would
/// decide it if their last known values still held, largest first; all, if none would. When those
/// have answered and it is still undecided, it asks the rest, and again whose tuple was too old.
///
/// Integers of one sign that overflow as clusters are combined prove what a part can establish;
/// the value is then the own cluster's.
///
/// Why:     Bongo et al. 2004, §IV. A larger sequence alone proves nothing when the program goes on
///          after an exact result, because the other root may have completed our round with our
///          tuple; so each tuple carries the newest round whose full value its root knows, combined
///          there or adopted from another's tuple. A pair for our round is our result. Otherwise a
///          larger sequence means the outcome that a part can establish.
/// Context: the operation's, which is that of the last arriver of the whole cluster.
/// Blocks:  until decided or the host's deadline; sleeps between arrivals. The next round waits.
/// Order:   rounds must come in the order of their sequences and are decided one by one.
/// Failure: of one tree over all, the round's alone. Among several clusters a failed contribution,
///          an error or a deadline up to the decision is final: the result element is marked with
///          it, and this and every later round throws it; so it is with the failure of a thread
///          after which no other comes. A round that needs a later tuple of a
///          marked cluster throws that error and marks in turn; while an unmarked cluster may
///          still bring the proof, it waits for that one.
/// Throws:  TravelError.
/// Records: for each round that its own value does not decide, a read of every other cluster's
///          cache (paths/joins/awaited_values.hpp).
class ConditionCheck final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is its index in the plan.
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
  const std::uint64_t contributors_;  // of all clusters
  const std::shared_ptr<pastset::Element> result_;
  std::vector<Cluster> clusters_;                // in their order
  std::size_t own_ = 0;                          // which of them is ours
  std::unique_ptr<pastset::AnyChange> changes_;  // of the others' elements
  std::optional<paths::ExactPair> last_exact_;   // of the round whose turn it is
  paths::RootRounds rounds_;
};

paths::WrapperKind condition_check_kind();

}  // namespace wrappers
