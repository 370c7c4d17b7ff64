// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/group_moments.cpp — moments of operations of groups.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "eventspace/analysis/attribution/moment_reader.hpp"
#include "eventspace/analysis/metrics/group_path.hpp"

namespace eventspace {
namespace {

/// Number of earlier steps among which wait_for_data() searches the data of a send.
constexpr std::size_t sources_tried = 64;

}  // namespace

/// Adds the moments (nodes) of a group operation, and for each of these the moments that must
/// precede it.
class MomentReader::GroupNodes {
 public:
  GroupNodes(MomentReader& reader, const WholeOperation& operation, std::uint32_t name)
      : reader_(reader),
        all_(reader.all_),
        operation_(operation),
        messages_(operation, all_.shape_.structure),
        name_(name) {}

  void add() {
    for (const HostShare& share : operation_.shares) add_share(share);
    find_passages();
    for (std::uint32_t share = 0; share < operation_.shares.size(); ++share) connect(share);
    connect_without_messages();
  }

 private:
  struct ShareNodes {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::vector<std::uint32_t> step_begins, step_ends;
  };

  std::uint32_t add_node(std::int64_t nanos, std::uint32_t host) {
    Node& node = all_.nodes_.emplace_back();
    node.time_nanos = nanos;
    node.host = host;
    node.name = name_;
    return static_cast<std::uint32_t>(all_.nodes_.size() - 1);
  }
  void wait_for(std::uint32_t node, std::uint32_t before, std::uint32_t label) {
    all_.befores_.push_back({node, {Moment::Kind::node, before}, label});
  }

  void add_share(const HostShare& share) {
    ShareNodes nodes;
    nodes.begin = add_node(share.share.begin_nanos, share.host);
    for (const GroupStep& step : share.steps) {
      nodes.step_begins.push_back(add_node(step.begin_nanos, share.host));
      nodes.step_ends.push_back(add_node(step.end_nanos, share.host));
    }
    nodes.end = add_node(share.share.end_nanos, share.host);
    const std::string collective(collective_of_group(all_.names_[name_].object));
    if (!collective.empty())
      all_.share_ends_[{share.host, collective}].push_back(
          {share.share.end_nanos, {Moment::Kind::node, nodes.end}});
    const std::uint32_t runtime = all_.labels_.runtime_of(share.host);
    for (const GroupMember& member : share.members) {
      if (member.thread >= all_.threads_.size()) continue;
      const std::uint32_t begin = add_member_node(share, member, member.begin_nanos, false);
      const std::uint32_t end = add_member_node(share, member, member.end_nanos, true);
      wait_for(nodes.begin, begin, runtime);
      wait_for(end, nodes.end, runtime);
      ThreadState& thread = all_.threads_[member.thread];
      thread.operations.push_back({member.begin_nanos,
                                   member.end_nanos,
                                   name_,
                                   none,
                                   group_operation_kind(member.text),
                                   {Moment::Kind::node, end},
                                   0,
                                   none,
                                   member.share});
      thread.begins.push_back({Moment::Kind::node, begin});
    }
    nodes_.push_back(std::move(nodes));
  }
  std::uint32_t add_member_node(const HostShare& share, const GroupMember& member,
                                std::int64_t nanos, bool is_end) {
    const std::uint32_t node = add_node(nanos, share.host);
    all_.nodes_[node].thread = member.thread;
    all_.nodes_[node].is_end = is_end;
    return node;
  }

  /// Finds for each pair of hosts the shortest time of a message, in this operation and for the
  /// link between their clusters also in all operations so far. Considers only messages that
  /// arrived after the receiver had requested them.
  void find_passages() {
    for (std::uint32_t share = 0; share < operation_.shares.size(); ++share) {
      const HostShare& here = operation_.shares[share];
      for (std::uint32_t step = 0; step < here.steps.size(); ++step) {
        const GroupStep& one = here.steps[step];
        if (one.action != GroupAction::receive || one.end_nanos == one.begin_nanos) continue;
        const auto sender = messages_.other_end_of({share, step});
        if (!sender) continue;
        const std::int64_t nanos =
            std::max<std::int64_t>(0, one.end_nanos - messages_.step(*sender).end_nanos);
        const auto [found, is_new] = passages_.try_emplace({one.peer, here.host}, nanos);
        if (!is_new) found->second = std::min(found->second, nanos);
        const auto [shortest, is_first] =
            reader_.passages_.try_emplace(reader_.label_between(one.peer, here.host), nanos);
        if (!is_first) shortest->second = std::min(shortest->second, nanos);
      }
    }
  }

  /// Returns the estimated time of a message between two hosts; nullopt if there is no estimate. If
  /// this operation has none, uses earlier operations, and at last the opposite direction.
  std::optional<std::int64_t> passage_between(std::uint32_t from, std::uint32_t to) const {
    if (const auto found = passages_.find({from, to}); found != passages_.end())
      return found->second;
    for (const std::uint32_t label :
         {reader_.label_between(from, to), reader_.label_between(to, from)})
      if (const auto found = reader_.passages_.find(label); found != reader_.passages_.end())
        return found->second;
    return std::nullopt;
  }

  void connect(std::uint32_t number) {
    const HostShare& share = operation_.shares[number];
    const ShareNodes& nodes = nodes_[number];
    const std::uint32_t runtime = all_.labels_.runtime_of(share.host);
    find_deciding(share);
    wait_for_data(share, nodes, runtime);
    for (std::uint32_t step = 0; step < share.steps.size(); ++step) {
      wait_for_step_before(share, nodes, step, runtime);
      connect_step(number, step);
    }
    wait_for(nodes.end, nodes.begin, runtime);
    for (const std::uint32_t end : nodes.step_ends) wait_for(nodes.end, end, runtime);
  }

  /// Connects the shares of hosts that share memory and therefore exchange no messages: no share
  /// ends before all shares have begun.
  void connect_without_messages() {
    for (const HostShare& share : operation_.shares)
      for (const GroupStep& step : share.steps)
        if (step.action == GroupAction::send || step.action == GroupAction::receive) return;
    std::int64_t last_nanos = std::numeric_limits<std::int64_t>::min();
    for (const ShareNodes& nodes : nodes_)
      last_nanos = std::max(last_nanos, all_.nodes_[nodes.begin].time_nanos);
    if (nodes_.size() < 2) return;
    const std::uint32_t all_arrived = add_node(last_nanos, operation_.shares.front().host);
    for (std::uint32_t share = 0; share < nodes_.size(); ++share) {
      const std::uint32_t runtime = all_.labels_.runtime_of(operation_.shares[share].host);
      wait_for(all_arrived, nodes_[share].begin, runtime);
      if (last_nanos <= operation_.shares[share].share.end_nanos)
        wait_for(nodes_[share].end, all_arrived, runtime);
    }
  }

  /// Finds for each step the step that stands for all steps of the share with the same end. It is
  /// the last of these steps that is not a send. Sends do not count because the end of a send only
  /// means that its link is free for the next message.
  void find_deciding(const HostShare& share) {
    deciding_.assign(share.steps.size(), 0);
    for (std::uint32_t step = 0; step < share.steps.size(); ++step) {
      deciding_[step] = step;
      if (step == 0 || share.steps[step].action != GroupAction::send) continue;
      const std::uint32_t before = deciding_[step - 1];
      if (share.steps[before].end_nanos == share.steps[step].end_nanos &&
          share.steps[before].action != GroupAction::send)
        deciding_[step] = before;
    }
  }

  /// Makes the begins of sends, folds and copies wait for the steps whose data they use. Traces do
  /// not contain these steps, so their order in the schedule decides:
  /// - A fold or copy uses the fold or copy before it, and all messages received since then.
  /// - A send uses the nearest step before it that is not a send.
  ///
  /// A step that ended after the begin of another step was not used by it.
  void wait_for_data(const HostShare& share, const ShareNodes& nodes, std::uint32_t runtime) {
    const std::vector<GroupStep>& steps = share.steps;
    std::vector<std::uint32_t> order(steps.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
      return steps[left].number < steps[right].number;
    });
    explained_nanos_.assign(steps.size(), all_.nodes_[nodes.begin].time_nanos);
    const auto use = [&](std::uint32_t step, std::uint32_t before) {
      if (steps[before].end_nanos > steps[step].begin_nanos) return false;
      wait_for(nodes.step_begins[step], nodes.step_ends[before], runtime);
      explained_nanos_[step] = std::max(explained_nanos_[step], steps[before].end_nanos);
      return true;
    };
    std::vector<std::uint32_t> sources;   // steps with data, in the order of the schedule
    std::vector<std::uint32_t> received;  // receives that no fold or copy has used
    std::optional<std::uint32_t> folded;  // last fold or copy
    for (const std::uint32_t step : order) {
      const GroupAction action = steps[step].action;
      if (action == GroupAction::send) {
        const std::size_t tried = std::min(sources.size(), sources_tried);
        std::find_if(sources.rbegin(), sources.rbegin() + static_cast<std::ptrdiff_t>(tried),
                     [&](std::uint32_t source) { return use(step, source); });
        continue;
      }
      sources.push_back(step);
      if (action == GroupAction::receive) {
        received.push_back(step);
        continue;
      }
      std::erase_if(received, [&](std::uint32_t before) { return use(step, before); });
      if (folded) use(step, *folded);
      folded = step;
    }
  }

  /// Makes the begin of a step wait for the begin of the share. If neither this nor the steps of
  /// wait_for_data() explain the time, the begin also waits for the end of the latest earlier step
  /// of the host.
  void wait_for_step_before(const HostShare& share, const ShareNodes& nodes, std::uint32_t step,
                            std::uint32_t runtime) {
    const std::uint32_t node = nodes.step_begins[step];
    wait_for(node, nodes.begin, runtime);
    const GroupStep& one = share.steps[step];
    if (one.action != GroupAction::receive && explained_nanos_[step] >= one.begin_nanos) return;
    const auto ended = std::upper_bound(
        share.steps.begin(), share.steps.begin() + step, one.begin_nanos,
        [](std::int64_t nanos, const GroupStep& earlier) { return nanos < earlier.end_nanos; });
    if (ended == share.steps.begin()) return;
    const auto last = static_cast<std::size_t>(ended - share.steps.begin()) - 1;
    wait_for(node, nodes.step_ends[deciding_[last]], runtime);
  }

  void connect_step(std::uint32_t share, std::uint32_t step) {
    const HostShare& here = operation_.shares[share];
    const GroupStep& one = here.steps[step];
    const std::uint32_t end = nodes_[share].step_ends[step];
    const std::uint32_t begin = nodes_[share].step_begins[step];
    switch (one.action) {
      case GroupAction::fold:
      case GroupAction::copy:
        wait_for(end, begin, all_.labels_.number_of({TimeCause::folding, none, here.host}));
        return;
      case GroupAction::send: return connect_send(share, step);
      case GroupAction::receive: break;
    }
    const auto sender = messages_.other_end_of({share, step});
    if (!sender) {
      wait_for(end, begin, all_.labels_.unknown_of(one.peer, UnknownReason::missing_records));
      return;
    }
    // Time at which the message arrived. If the receiver requested the message before it arrived,
    // this time is the end of the step. Otherwise it is estimated from the fastest message between
    // the two hosts.
    const std::uint32_t sent = nodes_[sender->share].step_ends[sender->step];
    const std::uint32_t runtime = all_.labels_.runtime_of(here.host);
    std::int64_t arrival_nanos = one.end_nanos;
    if (one.end_nanos == one.begin_nanos) {
      const auto passage = passage_between(one.peer, here.host);
      wait_for(end, begin, runtime);
      if (!passage) return;
      arrival_nanos = std::min(one.end_nanos, all_.nodes_[sent].time_nanos + *passage);
    }
    const std::uint32_t arrival = add_node(arrival_nanos, here.host);
    wait_for(arrival, sent, reader_.label_between(one.peer, here.host));
    wait_for(end, arrival, runtime);
    if (one.end_nanos > one.begin_nanos) wait_for(end, begin, runtime);
  }

  /// Makes the end of a send wait for the begin of the send, and for the message before it over the
  /// same link.
  void connect_send(std::uint32_t share, std::uint32_t step) {
    const HostShare& here = operation_.shares[share];
    const std::uint32_t end = nodes_[share].step_ends[step];
    const std::uint32_t sending =
        all_.labels_.number_of({TimeCause::sending, here.host, here.steps[step].peer});
    wait_for(end, nodes_[share].step_begins[step], sending);
    if (const auto before = messages_.sent_before({share, step}))
      wait_for(end, nodes_[share].step_ends[before->step], sending);
  }

  MomentReader& reader_;
  Moments& all_;
  const WholeOperation& operation_;
  GroupMessages messages_;
  std::uint32_t name_;
  std::vector<ShareNodes> nodes_;
  std::vector<std::uint32_t> deciding_;  // result of find_deciding(), indexed by step
  // For each step, the time until which wait_for_data() explains why it did not begin.
  std::vector<std::int64_t> explained_nanos_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> passages_;
};

void MomentReader::add(const WholeOperation& operation, const GroupTexts& texts) {
  std::size_t records = 0;
  for (const HostShare& share : operation.shares)
    records += 1 + share.members.size() + 2 * share.steps.size();
  if (!has_room_for(records)) return;
  const std::string* const text = texts.find(operation.text);
  OperationName name{.object = "a group", .kind = "operation", .is_collective = true};
  if (text != nullptr) {
    const GroupOperation one = group_operation_of(*text);
    name.object = one.group;
    name.kind = one.collective;
  }
  GroupNodes(*this, operation, number_of(name)).add();
}

}  // namespace eventspace
