// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_path.cpp — walk from the end of an operation back along its
// messages.
#include "eventspace/analysis/metrics/group_path.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace eventspace {
namespace {

using MessagePlace = GroupMessages::Place;

/// Identity of a message stream: sending host, receiving host and channel.
using Stream = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

/// Returns the steps that have the action `action` (send or receive), keyed by Stream. The steps of
/// a stream are in the order of their numbers.
std::map<Stream, std::vector<MessagePlace>> streams_of(const WholeOperation& operation,
                                                       GroupAction action) {
  std::map<Stream, std::vector<MessagePlace>> streams;
  for (std::uint32_t share = 0; share < operation.shares.size(); ++share) {
    const HostShare& one = operation.shares[share];
    for (std::uint32_t number = 0; number < one.steps.size(); ++number) {
      const GroupStep& step = one.steps[number];
      if (step.action != action) continue;
      const bool is_sent = action == GroupAction::send;
      streams[{is_sent ? one.host : step.peer, is_sent ? step.peer : one.host, step.channel}]
          .push_back({share, number});
    }
  }
  for (auto& [stream, places] : streams)
    std::sort(places.begin(), places.end(), [&](const MessagePlace& a, const MessagePlace& b) {
      return operation.shares[a.share].steps[a.step].number <
             operation.shares[b.share].steps[b.step].number;
    });
  return streams;
}

/// Walks from host to host, from the end of an operation back to its begin.
class BackwardWalk {
 public:
  explicit BackwardWalk(const GroupMessages& messages) : messages_(messages) { find_passages(); }

  std::vector<GroupSegment> walk() {
    const auto& shares = messages_.operation().shares;
    std::size_t steps = 0;
    for (const HostShare& share : shares) steps += share.steps.size();
    const auto last = std::max_element(
        shares.begin(), shares.end(),
        [](const auto& a, const auto& b) { return a.share.end_nanos < b.share.end_nanos; });
    place_.share = static_cast<std::uint32_t>(last - shares.begin());
    place_.step = static_cast<std::uint32_t>(last->steps.size());
    at_nanos_ = last->share.end_nanos;
    for (std::size_t taken = 0; taken <= steps && go_back(); ++taken) {
    }
    reach_member();
    return std::move(segments_);
  }

 private:
  const HostShare& here() const { return messages_.operation().shares[place_.share]; }
  void put(GroupCause cause, std::uint32_t from, std::uint32_t to, std::int64_t nanos) {
    if (nanos > 0) segments_.push_back({cause, from, to, nanos});
  }

  /// Returns the latest step of the current host that ended at or before at_nanos_. If several
  /// steps have the same end, prefers a step that is not a send. The end of a send only means that
  /// its link is free for the next message, so a send is the wrong choice.
  std::optional<std::uint32_t> latest() const {
    const auto& steps = here().steps;
    std::uint32_t behind = place_.step;
    while (behind > 0 && steps[behind - 1].end_nanos > at_nanos_) --behind;
    if (behind == 0) return std::nullopt;
    for (std::uint32_t step = behind;
         step > 0 && steps[step - 1].end_nanos == steps[behind - 1].end_nanos; --step)
      if (steps[step - 1].action != GroupAction::send) return step - 1;
    return behind - 1;
  }

  bool go_back() {
    const std::optional<std::uint32_t> found = latest();
    if (!found) return false;
    const GroupStep& step = here().steps[*found];
    put(GroupCause::within_hosts, here().host, here().host, at_nanos_ - step.end_nanos);
    place_.step = *found;
    switch (step.action) {
      case GroupAction::receive: receive(step); return true;
      case GroupAction::send: send(); return true;
      default: put(GroupCause::folding, here().host, here().host, took(step));
    }
    at_nanos_ = step.begin_nanos;
    return true;
  }

  /// Follows a sent message back in time. The message left when three things had happened: it had
  /// been passed to its link, the message before it had left, and the receiver's request had
  /// arrived. The path continues at the last of these three.
  void send() {
    for (;;) {
      const GroupStep& step = here().steps[place_.step];
      const auto receiver = messages_.other_end_of(place_);
      const auto before = messages_.sent_before(place_);
      const std::int64_t free_nanos = before ? messages_.step(*before).end_nanos : step.begin_nanos;
      const std::int64_t asking = passage_between(step.peer, here().host);
      const std::int64_t asked_nanos =
          receiver ? messages_.step(*receiver).begin_nanos + asking : step.begin_nanos;
      const std::int64_t could_nanos = std::max(step.begin_nanos, free_nanos);
      const bool has_waited = asked_nanos > could_nanos && asked_nanos <= step.end_nanos;
      const std::int64_t from_nanos = has_waited ? asked_nanos : could_nanos;
      put(GroupCause::sending, here().host, step.peer, at_nanos_ - from_nanos);
      at_nanos_ = from_nanos;
      if (has_waited) {
        put(GroupCause::latency, step.peer, here().host, asking);
        at_nanos_ -= asking;
        place_ = *receiver;
        return;
      }
      if (from_nanos == step.begin_nanos) return;
      place_ = *before;
    }
  }

  void receive(const GroupStep& step) {
    const std::optional<MessagePlace> sender = messages_.other_end_of(place_);
    const GroupStep* const sent = sender ? &messages_.step(*sender) : nullptr;
    if (sent == nullptr || step.end_nanos == step.begin_nanos) {
      put(GroupCause::latency, step.peer, here().host, took(step));
      at_nanos_ = step.begin_nanos;
      return;
    }
    const std::int64_t sent_nanos = std::min(sent->end_nanos, step.end_nanos);
    const std::int64_t came_in = step.end_nanos - sent_nanos;
    const std::int64_t passage = std::min(came_in, passage_between(step.peer, here().host));
    put(GroupCause::latency, step.peer, here().host, passage);
    // A message that took longer than the fastest message spent the rest of its time on further
    // links.
    put(GroupCause::sending, step.peer, here().host, came_in - passage);
    place_ = *sender;
    at_nanos_ = sent_nanos;
    send();
  }

  /// Returns the time from departure to arrival of the operation's fastest message from one host to
  /// another host. If the operation had no message in this direction, returns the time of the
  /// opposite direction.
  std::int64_t passage_between(std::uint32_t from, std::uint32_t to) const {
    for (const auto& pair : {std::pair(from, to), std::pair(to, from)})
      if (const auto found = passages_.find(pair); found != passages_.end()) return found->second;
    return 0;
  }
  void find_passages() {
    const auto& shares = messages_.operation().shares;
    for (std::uint32_t share = 0; share < shares.size(); ++share)
      for (std::uint32_t number = 0; number < shares[share].steps.size(); ++number) {
        const GroupStep& step = shares[share].steps[number];
        if (step.action != GroupAction::receive || step.end_nanos == step.begin_nanos) continue;
        const auto sender = messages_.other_end_of({share, number});
        if (!sender) continue;
        const std::int64_t nanos =
            std::max<std::int64_t>(0, step.end_nanos - messages_.step(*sender).end_nanos);
        const auto [known, is_new] = passages_.try_emplace({step.peer, shares[share].host}, nanos);
        if (!is_new) known->second = std::min(known->second, nanos);
      }
  }

  void reach_member() {
    const HostShare& share = here();
    put(GroupCause::within_hosts, share.host, share.host, at_nanos_ - share.share.begin_nanos);
    std::int64_t first = share.share.begin_nanos;
    for (const HostShare& one : messages_.operation().shares)
      for (const GroupMember& member : one.members) first = std::min(first, member.begin_nanos);
    const auto last = std::max_element(
        share.members.begin(), share.members.end(),
        [](const auto& a, const auto& b) { return a.begin_nanos < b.begin_nanos; });
    if (last != share.members.end())
      put(GroupCause::late_member, last->thread, last->thread, share.share.begin_nanos - first);
  }

  static std::int64_t took(const GroupStep& step) { return step.end_nanos - step.begin_nanos; }

  const GroupMessages& messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>
      passages_;  // time of the fastest message, keyed by sending and receiving host
  MessagePlace place_;
  std::int64_t at_nanos_ = 0;
  std::vector<GroupSegment> segments_;
};

}  // namespace

GroupMessages::GroupMessages(const WholeOperation& operation, const Structure& structure)
    : operation_(operation) {
  find_other_ends();
  find_sent_before(structure);
}

void GroupMessages::find_other_ends() {
  for (std::uint32_t share = 0; share < operation_.shares.size(); ++share) {
    other_ends_.emplace_back();
    for (std::uint32_t step = 0; step < operation_.shares[share].steps.size(); ++step)
      other_ends_.back().push_back({share, step});
  }
  const auto sent = streams_of(operation_, GroupAction::send);
  for (const auto& [stream, received] : streams_of(operation_, GroupAction::receive)) {
    const auto found = sent.find(stream);
    if (found == sent.end()) continue;
    for (std::size_t k = 0; k < std::min(received.size(), found->second.size()); ++k) {
      other_ends_[received[k].share][received[k].step] = found->second[k];
      other_ends_[found->second[k].share][found->second[k].step] = received[k];
    }
  }
}

/// The steps of a share are in the order of their ends, if the trace is not damaged. Messages that
/// left at the same time did not wait for each other.
void GroupMessages::find_sent_before(const Structure& structure) {
  for (const HostShare& share : operation_.shares) {
    std::vector<std::uint32_t>& before = sent_before_.emplace_back(share.steps.size());
    std::map<std::uint32_t, std::uint32_t> last;  // last sent message, keyed by cluster
    for (std::uint32_t number = 0; number < share.steps.size(); ++number) {
      const GroupStep& step = share.steps[number];
      before[number] = number;
      if (step.action != GroupAction::send) continue;
      const auto [known, is_first] = last.try_emplace(structure.hosts[step.peer].cluster, number);
      if (is_first) continue;
      std::uint32_t previous = std::exchange(known->second, number);
      if (share.steps[previous].end_nanos >= step.end_nanos) previous = before[previous];
      if (share.steps[previous].end_nanos < step.end_nanos) before[number] = previous;
    }
  }
}

std::optional<GroupMessages::Place> GroupMessages::other_end_of(Place message) const {
  const Place found = other_ends_[message.share][message.step];
  if (found.share == message.share && found.step == message.step) return std::nullopt;
  return found;
}

std::optional<GroupMessages::Place> GroupMessages::sent_before(Place sent) const {
  const std::uint32_t found = sent_before_[sent.share][sent.step];
  if (found == sent.step) return std::nullopt;
  return Place{sent.share, found};
}

std::vector<GroupSegment> group_path(const GroupMessages& messages) {
  if (messages.operation().shares.empty()) return {};
  return BackwardWalk(messages).walk();
}

}  // namespace eventspace
