// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged_check.hpp — decision of multi-cluster rounds, a fixed number of rounds late.
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
  paths::ClusterElements elements;  ///< elements that receive the batches of all clusters
  std::uint64_t rounds = 1;         ///< number of rounds by which a result is late
  std::uint64_t every = 1;          ///< number of rounds in a batch; at most `rounds`
};

/// Sends the values of its cluster to the other clusters in batches of `every` rounds, without
/// gaps. For round i it returns the result of round i - `rounds`. A result always combines all
/// contributions, in the order of the clusters. The results of the first `rounds` rounds have no
/// condition.
///
/// Why:     All clusters act on the result of a round in the same later round. Programs that
///          exchange more than sums thus stay in step. No cluster waits if `rounds` - `every`
///          rounds take longer than the transfer. No exact pair is needed
///          (wrappers/condition_check.hpp), because no value is left out. A cluster that is
///          `rounds` rounds behind still finds each value.
/// Blocks:  until every other cluster's value of the earlier round has arrived, or until the
///          deadline.
/// Throws:  TravelError.
/// Context: runs in the context of the operation that arrives last in its cluster's round.
/// Order:   Rounds must arrive in the order of their sequence numbers, from 0 on.
/// Failure: A failure is final for the cluster, as in condition_check. The other clusters receive
///          the error mark after the values that were sent before it. They fail when they need a
///          value that was never sent.
/// Ends:    An incomplete last batch is not sent, because no cluster needs the results of its
///          rounds.
/// Records: one read of each other cluster's value for each round (paths/joins/awaited_values.hpp).
class LaggedCheck final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan.
  LaggedCheck(paths::Deployment& deployment, std::uint32_t wrapper, LaggedCheckSettings settings);
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }

 private:
  struct Value {
    std::uint64_t contributions = 0;
    base::Payload value;
    base::Nanos came{0};  // instant at which a round first found the value
  };
  struct Cluster {
    std::shared_ptr<pastset::Element> element;
    std::map<std::uint64_t, Value> values;  // received values of undecided rounds
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
  // Members that only the current round uses.
  std::vector<Cluster> clusters_;  // clusters, in the order of elements.all
  std::size_t own_ = 0;            // index of our cluster in clusters_
  // Detects changes in the elements of the other clusters.
  std::unique_ptr<pastset::AnyChange> changes_;
  std::vector<base::Payload> batch_;
  std::uint64_t next_sequence_ = 0;
  paths::RootRounds rounds_;
};

paths::WrapperKind lagged_check_kind();

}  // namespace wrappers
