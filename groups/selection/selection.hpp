// SPDX-License-Identifier: Apache-2.0
// groups/selection/selection.hpp — choice of the schedule for a group's operation.
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
#include "collectives/tuner/decision_table.hpp"
#include "groups/calls/call.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Returns whether the schedule with the name `asked` supports the collective. The name is one of:
/// "best"; "tuned"; an algorithm that `paths algorithms` prints; a planner of `paths plan`; "file:"
/// followed by a file that `paths plan` wrote. Algorithms and planners may have parameters after a
/// colon.
/// Throws: std::invalid_argument for an unknown name or unknown parameters. For an unknown name,
///         the text contains the nearest known name.
bool does(const std::string& asked, collectives::Collective collective);
/// Returns whether the named schedule is planned for one particular network.
bool is_planned(const std::string& asked);
/// Returns whether PATHS selects the schedule: the name is "best" or "tuned".
bool is_selected(const std::string& asked);

/// Reason for the schedule of an operation. Tables are tables of decisions.
enum class Reason {
  named,     ///< the call or the config names the schedule
  pinned,    ///< a pinned row of the table names the schedule (a person has pinned it)
  tuned,     ///< a row of the table names the schedule
  borrowed,  ///< a row of the table for another number of hosts names the schedule
  priced,    ///< least predicted time by the costs that the config states
  assumed,   ///< least predicted time by assumed costs, because the config states none at all
};
std::string_view name_of(Reason reason);

/// A schedule that is ready for execution. The programs of the schedule refer to `task`.
struct Selection {
  collectives::CollectiveSpec task;
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
  std::uint64_t signature_digest = 0;  ///< digest of the schedule; must be equal on all hosts
  /// The planned schedule that contains `algorithm`, and how to execute it. Empty unless the
  /// schedule was planned for the network.
  std::optional<planning::Contender> planned = {};
  Reason reason = Reason::named;
  /// The row of the table that names the schedule; nullptr if no row does. `table` keeps the row
  /// valid.
  const tuner::Decision* decision = nullptr;
  std::shared_ptr<const tuner::DecisionTable> table = {};
  /// Name and parameters, such as "stretched:exchange=all,stretch=65536".
  std::string text() const;
};

/// Returns the weakest order in which the values of a call may be folded. If PATHS selects the
/// schedule, floating-point sums must be folded in rank order. Weaker orders are allowed if the
/// call names an algorithm and a built-in operation.
collectives::Order worst_order(const Call& call);

/// Request for a schedule.
struct SelectionKey {
  collectives::Collective collective = collectives::Collective::barrier;
  collectives::Rank root = 0;  ///< participant number of the root
  collectives::Counts counts;
  std::size_t element_bytes = 1;
  collectives::Order worst = collectives::Order::in_order;
  /// Name of an algorithm with its parameters, "best" or "tuned".
  /// Requires: does(algorithm, collective).
  std::string algorithm = "best";
};

/// Returns the key for the schedule of a call. `between_hosts` is the collective that the schedule
/// must perform between the hosts of the members. All users of a Selector make their keys here, so
/// that they get the same schedule for the same call.
SelectionKey key_of(const Call& call, collectives::CollectiveSpec between_hosts,
                    std::size_t element_bytes);

/// Costs that a selection assumes because the config does not state them. If the config states the
/// costs of hosts (`costs`), nothing is assumed.
struct AssumedCosts {
  base::Nanos message{0};  ///< time of a host for each message that it sends or receives
  /// Whether the config states the cost of a network or a link. If false, the costs below are
  /// assumed too.
  bool has_network = false;
  double bits_per_second = 0, fold_bytes_per_second = 0;
};

/// Contents of files that a group has taken during the run. They replace the contents of the
/// corresponding files of the config.
struct TakenFiles {
  std::shared_ptr<const tuning::MeasuredNetwork> links = {};   ///< nullptr = none
  std::shared_ptr<const tuner::DecisionTable> decisions = {};  ///< nullptr = none

  /// Read the text of a file. Throws: ConfigError with all mistakes.
  void read_links(const std::string& text, const std::string& file);
  void read_decisions(const std::string& text, const std::string& file);
  /// Returns a text with a digest of each file, such as " for links measured as DIGEST". Different
  /// contents have different texts; without files it is "".
  std::string text() const;
};

/// Selects schedules for the participants of one group, and remembers each selection. A selection
/// depends only on the plan, the taken files and the key, so that all hosts select the same
/// schedule.
///
/// Thread-safe: yes.
/// Throws:      UsageError if no algorithm supports the operation, or if the key names an algorithm
///              that does not.
/// Cost:        With `best`, hosts have the costs that the config states. If the config states
///              none, each message costs a host AssumedCosts::message in addition to the time on
///              links. Without this assumed cost, the selection would prefer schedules with more
///              messages than a processor can handle.
class Selector {
 public:
  /// Returns a Selector. Within a process, all callers with equal plans, hosts and files share one
  /// Selector.
  /// Throws: ConfigError if measured links do not match the clusters of the hosts.
  static std::shared_ptr<Selector> of(const std::shared_ptr<const paths::Plan>& plan,
                                      const std::vector<std::uint32_t>& hosts,
                                      const TakenFiles& taken = {});
  Selector(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
           const TakenFiles& taken = {});
  ~Selector();

  std::shared_ptr<const Selection> answer(const SelectionKey& question);
  /// Returns the predicted time of an operation by its schedule, on network() or, if `on_links` is
  /// true, on links(). Returns 0 for a schedule that was planned. Caches the result.
  base::Nanos predict(const std::shared_ptr<const Selection>& selection, std::size_t element_bytes,
                      bool on_links);
  /// Returns the smallest limit of unfinished steps, at least `from`, with which the selected
  /// schedule ends with these ports (collectives/cost/least_window.hpp). Caches the result.
  std::optional<std::size_t> least_window(const Selection& choice, const pricing::Ports& ports,
                                          std::size_t from);
  bool has_decisions() const { return decisions_ != nullptr; }
  /// Returns the properties of the group by which tables of decisions are searched.
  const tuner::Shape& shape() const { return shape_; }
  /// Returns the network on which schedules are predicted and compared: links() plus the costs
  /// assumed().
  const pricing::Network& network() const { return network_; }
  const AssumedCosts& assumed() const { return assumed_; }
  /// Returns the costs of hosts that the taken links or the config state; nullptr if neither states
  /// costs.
  const tuning::HostCosts* stated_costs() const { return costs_.get(); }
  /// Returns network() without the assumed costs. The virtual clock uses this network.
  const pricing::Network& links() const { return links_; }
  /// Returns the host of each participant, as an index into Plan::hosts.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  const TakenFiles& taken() const { return taken_; }
  /// Returns the row of the table of decisions for an operation of `size` bytes (tuner::size_of()).
  /// Returns nullopt if there is no table, or if the table has no such row.
  std::optional<tuner::DecisionTable::Found> row_for(const SelectionKey& question,
                                                     tuner::Bytes size) const;

 private:
  std::shared_ptr<const Selection> decide(const SelectionKey& question) const;
  void decide_by_name(const SelectionKey& question, Selection& choice) const;
  bool decide_by_table(const SelectionKey& question, Selection& choice) const;
  planning::Contender planned(const SelectionKey& question,
                              const collectives::CollectiveSpec& task) const;
  const std::vector<std::uint32_t> hosts_;
  const std::vector<std::string> names_;  // names of the hosts
  const TakenFiles taken_;
  const pricing::Network links_;  // network with only the costs that config or measurement state
  const AssumedCosts assumed_;
  const std::shared_ptr<const tuning::HostCosts> costs_;
  const std::shared_ptr<const tuner::DecisionTable> decisions_;
  const tuner::Shape shape_;
  const pricing::Network network_;
  struct SelectionCache;
  const std::unique_ptr<SelectionCache> answers_;
};

}  // namespace groups
