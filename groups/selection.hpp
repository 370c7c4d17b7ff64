// SPDX-License-Identifier: Apache-2.0
// groups/selection.hpp — choice of the schedule for a group's operation.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/planner/contender.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "groups/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Returns whether the named schedule can do that collective. A name is "best", an algorithm of
/// `paths algorithms`, a planner of `paths plan`, or "file:" and a file that `paths plan` wrote.
/// Algorithms and planners may have parameters after a colon.
/// Throws: std::invalid_argument for an unknown name, with the nearest match, and for unknown
///         parameters.
bool does(const std::string& asked, collectives::Collective collective);
/// Returns whether the named schedule is a plan for one network.
bool is_planned(const std::string& asked);

/// Schedule that is ready to be executed. Its programs borrow `task`.
struct Selection {
  collectives::CollectiveSpec task;
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
  std::uint64_t signature_digest = 0;  ///< digest that must be equal on all hosts
  /// Plan that `algorithm` belongs to, and how to execute it; empty unless the schedule was planned
  /// for the network.
  std::optional<planning::Contender> planned = {};
  std::string text() const;  ///< "stretched:exchange=all,stretch=65536"
};

/// Returns the weakest order in which a call's values may be folded. The best schedule of sums
/// folds in rank order; other orders are allowed only for algorithms named explicitly.
collectives::Order worst_order(const Call& call);

/// Request for a schedule.
struct SelectionKey {
  collectives::Collective collective = collectives::Collective::barrier;
  collectives::Rank root = 0;  ///< index of a participant
  collectives::Counts counts;
  std::size_t element_bytes = 1;
  collectives::Order worst = collectives::Order::in_order;
  /// Name that does() accepts.
  std::string algorithm = "best";
};

/// Chooses schedules for the participants of one group, and remembers each choice. A choice depends
/// only on the plan and the key, so that all hosts choose alike.
///
/// Thread-safe: yes.
/// Throws:      UsageError if no algorithm can do the operation, or if the named one cannot.
/// Cost:        With `best`, each message costs a host `message_cost` in addition to the time on
///              links. Otherwise the choice would prefer stretches that no processor can carry.
class Selector {
 public:
  static constexpr base::Nanos message_cost = std::chrono::microseconds(100);
  // Assumptions for a config that gives no cost of any network or link.
  static constexpr base::Nanos believed_message_cost = std::chrono::microseconds(20);
  static constexpr double believed_bits_per_second = 20e9;
  static constexpr double believed_fold_bytes_per_second = 10e9;

  /// Returns one shared object for equal plan, hosts and links of this process. `measured` replaces
  /// the plan's link properties; nullptr = use the plan.
  /// Throws: ConfigError if the measurement does not match the clusters of the hosts.
  static std::shared_ptr<Selector> of(const std::shared_ptr<const paths::Plan>& plan,
                                      const std::vector<std::uint32_t>& hosts,
                                      const tuning::MeasuredNetwork* measured = nullptr);
  Selector(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
           const tuning::MeasuredNetwork* measured = nullptr);
  ~Selector();

  std::shared_ptr<const Selection> answer(const SelectionKey& question);
  /// Returns the smallest window of at least `from` steps with which the chosen schedule ends with
  /// these ports (collectives/cost/least_window.hpp). The result is cached.
  std::optional<std::size_t> least_window(const Selection& choice, const pricing::Ports& ports,
                                          std::size_t from);
  const pricing::Network& network() const { return network_; }
  /// Returns the participants as hosts of the run's plan.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  /// Returns a digest of the measured links; empty if the plan's links are used. Hosts that use
  /// other links have another digest.
  const std::string& belief() const { return belief_; }

 private:
  std::shared_ptr<const Selection> decide(const SelectionKey& question) const;
  void decide_by_name(const SelectionKey& question, Selection& choice) const;
  planning::Contender planned(const SelectionKey& question,
                              const collectives::CollectiveSpec& task) const;
  const std::vector<std::uint32_t> hosts_;
  const std::vector<std::string> names_;  // names of hosts
  const std::string belief_;
  const pricing::Network network_;
  struct SelectionCache;
  const std::unique_ptr<SelectionCache> answers_;
};

}  // namespace groups
