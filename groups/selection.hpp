// SPDX-License-Identifier: Apache-2.0
// groups/selection.hpp — which schedule a group's operation takes.
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

/// What calls may ask for by name: "best"; an algorithm of `paths algorithms` or a planner of
/// `paths plan`, with parameters behind a colon; "file:" and a file that `paths plan` wrote.
///
/// Whether it does that collective. Throws: std::invalid_argument for a name that nothing has, with
/// the near match, and for parameters that it does not have.
bool does(const std::string& asked, collectives::Collective collective);
/// Whether it is done by a plan for one network.
bool is_planned(const std::string& asked);

/// A schedule, ready to be executed. Programs of it borrow its task.
struct Selection {
  collectives::CollectiveSpec task;
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
  std::uint64_t signature_digest = 0;  ///< digest of what the others have to agree on
  /// Set where the schedule was planned for the network: what `algorithm` is then, and how it is
  /// meant to be executed.
  std::optional<planning::Contender> planned = {};
  std::string text() const;  ///< "stretched:exchange=all,stretch=65536"
};

/// The best schedule of sums folds them as ranks are ordered; others do so if they are asked for.
collectives::Order worst_order(const Call& call);

/// What is asked for.
struct SelectionKey {
  collectives::Collective collective = collectives::Collective::barrier;
  collectives::Rank root = 0;  ///< a participant
  collectives::Counts counts;
  std::size_t element_bytes = 1;
  collectives::Order worst = collectives::Order::in_order;
  /// As does() reads it.
  std::string algorithm = "best";
};

/// Answers questions about the participants of one group, each once. The answer is a function of
/// the plan and the question alone, so that all hosts come to the same.
///
/// Cost:    where `best` is asked for, a message costs a host `message_cost` besides what links
///          take: without it stretches would be chosen that no processor can carry.
/// Sharing: any context.
/// Throws:  UsageError for what no algorithm can do, and for an algorithm that cannot do it.
class Selector {
 public:
  static constexpr base::Nanos message_cost = std::chrono::microseconds(100);
  // Where the config says of no network and no link what it takes:
  static constexpr base::Nanos believed_message_cost = std::chrono::microseconds(20);
  static constexpr double believed_bits_per_second = 20e9;
  static constexpr double believed_fold_bytes_per_second = 10e9;

  /// The same object for whoever asks with the same plan, hosts and links in this process.
  /// `measured`: what links are believed to be in place of what the plan says; null: that.
  /// Throws: ConfigError where it is not of the clusters that the hosts are in.
  static std::shared_ptr<Selector> of(const std::shared_ptr<const paths::Plan>& plan,
                                      const std::vector<std::uint32_t>& hosts,
                                      const tuning::MeasuredNetwork* measured = nullptr);
  Selector(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
           const tuning::MeasuredNetwork* measured = nullptr);
  ~Selector();

  std::shared_ptr<const Selection> answer(const SelectionKey& question);
  /// The least window, of at least `from` steps, with which a choice of this object's ends with
  /// those ports (collectives/cost/least_window.hpp). Found once.
  std::optional<std::size_t> least_window(const Selection& choice, const pricing::Ports& ports,
                                          std::size_t from);
  const pricing::Network& network() const { return network_; }
  /// The participants, as the run's plan counts them.
  const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  /// Of what links are believed to be: hosts that believe others have another one.
  const std::string& belief() const { return belief_; }

 private:
  std::shared_ptr<const Selection> decide(const SelectionKey& question) const;
  void decide_by_name(const SelectionKey& question, Selection& choice) const;
  planning::Contender planned(const SelectionKey& question,
                              const collectives::CollectiveSpec& task) const;
  const std::vector<std::uint32_t> hosts_;
  const std::vector<std::string> names_;  // of hosts
  const std::string belief_;
  const pricing::Network network_;
  struct SelectionCache;
  const std::unique_ptr<SelectionCache> answers_;
};

}  // namespace groups
