// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged_check.hpp — decides each round of several clusters a fixed number of rounds late.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
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

struct LaggedCheckSettings {
  paths::Decision decision;
  paths::ClusterElements elements;  ///< all clusters' batches
  std::uint64_t rounds = 1;         ///< how many a result comes late
  std::uint64_t every = 1;          ///< rounds in a batch; at most `rounds`
};

/// Tells the other clusters its values in batches of `every` rounds, none left out, and answers
/// round i with the result of round i - `rounds`: always of all contributions, in the order of the
/// clusters. The first ones have no condition.
///
/// Why:     all clusters act on the same round at the same time, so that programs that exchange
///          more than sums stay in step; nobody waits while rounds - every rounds outlast the way.
///          As no value is left out, no exact pair is needed: a cluster that is `rounds` behind
///          still finds each of them.
/// Context: the operation's, which is that of the last arriver of the whole cluster.
/// Blocks:  until every other cluster's value of the earlier round is here, or the deadline.
/// Order:   rounds must come one by one from 0 on.
/// Failure: as of condition_check: final for the cluster, told to the others behind what came
///          before; those fail when they need a value that was never told.
/// Throws:  TravelError.
/// Ends:    a batch that is not full is not sent: nobody acts on its rounds.
/// Records: a read of every other cluster's value for each round (paths/joins/awaited_values.hpp).
class LaggedCheck final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is its index in the plan.
  LaggedCheck(paths::Deployment& deployment, std::uint32_t wrapper, LaggedCheckSettings settings);
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }

 private:
  struct Value {
    std::uint64_t contributions = 0;
    base::Payload value;
    base::Nanos came{0};  // when a round first found it here
  };
  struct Cluster {
    std::shared_ptr<pastset::Element> element;
    std::map<std::uint64_t, Value> values;  // of rounds that were told and not decided
  };

  paths::Result decide(paths::Operation operation, const paths::Next& next);
  void tell(const paths::Operation& operation, const paths::Next& next);
  paths::Result result_of(std::uint64_t sequence, const paths::Operation& operation,
                          paths::StageId stage);
  bool wait_for(std::uint64_t sequence, const paths::Operation& operation, paths::StageId stage);
  void take_batches(Cluster& cluster);
  void take_batch(Cluster& cluster, const base::Payload& tuple);

  paths::Deployment& deployment_;
  const LaggedCheckSettings settings_;
  const std::shared_ptr<pastset::Element> result_;
  // Of the round whose turn it is.
  std::vector<Cluster> clusters_;                // in their order
  std::size_t own_ = 0;                          // which of them is ours
  std::unique_ptr<pastset::AnyChange> changes_;  // of the others' elements
  std::vector<base::Payload> batch_;
  std::uint64_t next_sequence_ = 0;
  paths::RootRounds rounds_;
};

paths::WrapperKind lagged_check_kind();

}  // namespace wrappers
