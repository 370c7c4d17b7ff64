// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_figures.cpp — times of operations of groups, and their causes.
#include "eventspace/analysis/metrics/group_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eventspace {
namespace {

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t rate_bytes_least = 1024;
// An operation is compared with its prediction only if all its members arrive within this share of
// the predicted time.
constexpr double arrivals_max = 0.1;

/// Arrivals of threads, or of hosts, at an operation. The members are the times of the first, last
/// and second to last arrival, and the thread or host that arrived last.
struct Comings {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = no_end, before_last = no_end;
  std::uint32_t who = 0;

  void add(std::uint32_t one, std::int64_t nanos) {
    first = std::min(first, nanos);
    if (nanos > last) {
      before_last = std::exchange(last, nanos);
      who = one;
    } else {
      before_last = std::max(before_last, nanos);
    }
  }
  /// Whether one thread or host arrived later than all others.
  bool has_last() const { return before_last != no_end && last > before_last; }
};

std::int64_t per_mebibyte(std::int64_t nanos, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const double rate = static_cast<double>(nanos) * (1 << 20) / static_cast<double>(bytes);
  return static_cast<std::int64_t>(std::min(rate, 9e18));
}

std::vector<GroupReport::Last> lasts_of(std::vector<GroupReport::Last> lasts) {
  std::stable_sort(lasts.begin(), lasts.end(),
                   [](const auto& a, const auto& b) { return a.late_nanos > b.late_nanos; });
  return lasts;
}

}  // namespace

GroupFigures::GroupFigures(const Structure& structure, std::size_t exact_max, bool has_common_clock,
                           std::size_t open_bytes_max, OnMessage on_message,
                           OnOperation on_operation)
    : structure_(structure),
      exact_(exact_max),
      has_common_clock_(has_common_clock),
      on_message_(std::move(on_message)),
      on_operation_(std::move(on_operation)),
      operations_(
          open_bytes_max, [this](const HostShare& share) { add_share(share); },
          [this](const WholeOperation& operation) { add_operation(operation); }),
      last_end_(structure.thread_count(), no_end) {}

bool GroupFigures::is_possible(std::uint32_t host, const EventRecord& record) const {
  if (is(record, GroupEvent::step)) return step_of(record).peer < structure_.hosts.size();
  if (is(record, GroupEvent::member))
    return record.place < structure_.thread_count() &&
           structure_.host_of_thread(record.place) == host;
  if (is(record, GroupEvent::share)) return share_of(record).hosts <= structure_.hosts.size();
  return true;
}

void GroupFigures::add(std::uint32_t host, const EventRecord& record) {
  ++records_;
  if (!is_possible(host, record)) {
    ++unknown_;
    return;
  }
  operations_.add(host, record);
}

/// Adds for each thread of the share the time between its previous operation and this operation.
/// Leaves the time out if the record of the previous operation is missing or arrives later than the
/// record of this operation. A record may arrive later if different OS threads made the two
/// records.
void GroupFigures::add_share(const HostShare& share) {
  for (const GroupStep& step : share.steps)
    if (step.action == GroupAction::send) add_step(share.host, step);
  const std::string* const text = operations_.texts().find(share.share.text);
  if (text == nullptr) return;
  const std::string group = group_operation_of(*text).group;
  for (const GroupMember& one : share.members) {
    Member& member = members_.try_emplace({group, one.thread}, exact_).first->second;
    std::int64_t& end = last_end_[one.thread];
    if (member.next == share.share.operation && end != no_end && one.begin_nanos >= end)
      member.add_computation(one.begin_nanos - end);
    member.next = std::max<std::uint64_t>(member.next, std::uint64_t{share.share.operation} + 1);
    end = std::max(end, one.end_nanos);
  }
}

GroupFigures::Link& GroupFigures::link_of(std::uint32_t from_host, std::uint32_t to_host) {
  return clusters_.try_emplace({cluster_of(from_host), cluster_of(to_host)}, exact_).first->second;
}

void GroupFigures::add_step(std::uint32_t host, const GroupStep& step) {
  Link& link = link_of(host, step.peer);
  ++link.messages;
  link.bytes += step.bytes;
  const std::int64_t nanos = step.end_nanos - step.begin_nanos;
  if (step.bytes >= rate_bytes_least)
    link.nanos_per_mebibyte = std::min(link.nanos_per_mebibyte, per_mebibyte(nanos, step.bytes));
  if (hosts_.size() >= host_pairs_max && !hosts_.contains({host, step.peer})) {
    ++other_messages_;
    return;
  }
  auto& [messages, bytes] = hosts_[{host, step.peer}];
  ++messages;
  bytes += step.bytes;
}

void GroupFigures::add_operation(const WholeOperation& operation) {
  on_operation_(operation, operations_.texts());
  Kind& kind = kinds_.try_emplace(operation.text, exact_).first->second;
  if (operation.has_failed || !operation.is_complete()) {
    ++(operation.has_failed ? kind.failed : kind.incomplete);
    return;
  }
  ++kind.operations;
  kind.bytes.add(static_cast<std::int64_t>(operation.bytes_max()));
  for (const HostShare& share : operation.shares)
    if (share.prediction)
      kind.predicted.add(static_cast<std::int64_t>(share.prediction->predicted_nanos));
  has_common_clock_ ? add_between_hosts(operation, kind) : add_within_hosts(operation, kind);
}

/// Adds an operation of a run without a common clock. Compares only times on the same host.
void GroupFigures::add_within_hosts(const WholeOperation& operation, Kind& kind) {
  for (const HostShare& share : operation.shares)
    for (const GroupMember& member : share.members)
      kind.wait.add(share.share.begin_nanos - member.begin_nanos);
  const std::int64_t longest = operation.longest_nanos();
  kind.time.add(longest);
  kind.times.add(longest);
}

void GroupFigures::add_between_hosts(const WholeOperation& operation, Kind& kind) {
  add_last(operation, kind);
  const GroupMessages messages(operation, structure_);
  add_path(messages, kind);
  add_messages(messages);
}

void GroupFigures::add_last(const WholeOperation& operation, Kind& kind) {
  Comings threads, hosts;
  std::int64_t end = no_end;
  for (const HostShare& share : operation.shares) {
    for (const GroupMember& member : share.members) threads.add(member.thread, member.begin_nanos);
    hosts.add(share.host, share.share.begin_nanos);
    end = std::max(end, share.share.end_nanos);
  }
  if (threads.last == no_end) return;
  if (!kind.first || operation.number < kind.first_number) {
    kind.first_number = operation.number;
    kind.first = {threads.first, end};
  }
  kind.time.add(end - threads.first);
  kind.times.add(end - threads.first);
  kind.after_last.add(end - threads.last);
  kind.times_after_last.add(end - threads.last);
  for (const HostShare& share : operation.shares) {
    for (const GroupMember& member : share.members)
      kind.wait.add(threads.last - member.begin_nanos);
    if (share.prediction)
      compare_with(*share.prediction, threads.last - threads.first, end - threads.last, kind);
  }
  const auto note = [](Total& late, const Comings& comings) {
    late.add(comings.last - comings.before_last);
  };
  if (threads.has_last()) {
    note(kind.threads[threads.who], threads);
    if (const std::string* const text = operations_.texts().find(operation.text))
      note(members_.try_emplace({group_operation_of(*text).group, threads.who}, exact_)
               .first->second.late,
           threads);
  }
  if (hosts.has_last()) note(kind.hosts[hosts.who], hosts);
}

/// Compares the time of an operation with its prediction. A prediction assumes members that arrive
/// at the same time. Operations whose members arrived at different times are therefore left out.
void GroupFigures::compare_with(const GroupPrediction& prediction, std::int64_t arrivals_nanos,
                                std::int64_t after_last_nanos, Kind& kind) {
  const auto predicted = static_cast<double>(prediction.predicted_nanos);
  if (static_cast<double>(arrivals_nanos) >= arrivals_max * predicted) return;
  const auto thousandths_of = [&](double expected_nanos) {
    const double ratio = static_cast<double>(after_last_nanos) / expected_nanos;
    return static_cast<std::int64_t>(std::min(std::round(ratio * 1000), 9e18));
  };
  kind.per_predicted.add(thousandths_of(predicted));
  if (prediction.measured_per_predicted > 0)
    kind.per_tuned.add(thousandths_of(predicted * prediction.measured_per_predicted));
}

/// Returns the key under which a part of the critical path is added up. All messages from one
/// cluster to another cluster have the same key.
GroupFigures::Pair GroupFigures::key_of(const GroupSegment& segment) const {
  const bool is_message =
      segment.cause == GroupCause::sending || segment.cause == GroupCause::latency;
  if (!is_message || cluster_of(segment.from) == cluster_of(segment.to))
    return {segment.from, segment.to};
  // In a key, the number of a cluster is increased by the number of hosts, so that it differs from
  // the numbers of all hosts.
  const auto hosts = static_cast<std::uint32_t>(structure_.hosts.size());
  return {hosts + cluster_of(segment.from), hosts + cluster_of(segment.to)};
}

std::string GroupFigures::name_of_part(GroupCause cause, const Pair& key) const {
  if (cause == GroupCause::late_member) return structure_.thread_name(key.first);
  const auto name = [&](std::uint32_t number) {
    return number < structure_.hosts.size() ? structure_.hosts[number].name
                                            : structure_.clusters[number - structure_.hosts.size()];
  };
  return key.first == key.second ? name(key.first)
                                 : fmt::format("{} to {}", name(key.first), name(key.second));
}

void GroupFigures::add_path(const GroupMessages& messages, Kind& kind) {
  std::map<std::pair<GroupCause, Pair>, std::int64_t> of_this;
  for (const GroupSegment& segment : group_path(messages)) {
    add_to(kind.by_cause[static_cast<std::size_t>(segment.cause)], segment.nanos);
    add_to(of_this[{segment.cause, key_of(segment)}], segment.nanos);
  }
  for (const auto& [key, nanos] : of_this) kind.parts[key].add(nanos);
}

void GroupFigures::add_messages(const GroupMessages& messages) {
  const auto& shares = messages.operation().shares;
  for (std::uint32_t share = 0; share < shares.size(); ++share)
    for (std::uint32_t number = 0; number < shares[share].steps.size(); ++number) {
      const GroupStep& step = shares[share].steps[number];
      if (step.action != GroupAction::receive) continue;
      const auto sender = messages.other_end_of({share, number});
      if (sender)
        on_message_(step.peer, shares[share].host, messages.step(*sender).begin_nanos,
                    step.end_nanos, step.bytes);
      if (!sender || step.begin_nanos > messages.step(*sender).begin_nanos) continue;
      link_of(step.peer, shares[share].host)
          .add_latency(step.end_nanos - messages.step(*sender).end_nanos);
    }
}

GroupsReport GroupFigures::finish(std::int64_t begin_nanos) {
  operations_.finish();
  GroupsReport report;
  report.has_common_clock = has_common_clock_;
  report.records = records_;
  report.unknown = unknown_ + operations_.unended();
  for (const auto& [text, kind] : kinds_)
    report.operations.push_back(report_of(text, kind, begin_nanos));
  std::stable_sort(report.operations.begin(), report.operations.end(),
                   [](const GroupReport& a, const GroupReport& b) {
                     return std::tie(a.group, a.collective, a.algorithm, a.reason, a.row) <
                            std::tie(b.group, b.collective, b.algorithm, b.reason, b.row);
                   });
  report_members(report);
  report_links(report);
  return report;
}

/// Adds a series of values for each kind of operation. The name of a series does not contain the
/// schedule. Two runs with different schedules therefore have series with the same name, so that
/// they can be compared.
void GroupFigures::report_series(Report& report) const {
  for (const auto& [text, kind] : kinds_) {
    const std::string* const name = operations_.texts().find(text);
    if (name == nullptr) continue;
    const GroupOperation operation = group_operation_of(*name);
    const std::string what = fmt::format("{} of group {}", operation.collective, operation.group);
    report.series.push_back({"operation", what, kind.times.rows()});
    report.series.push_back({"after the last member", what, kind.times_after_last.rows()});
  }
}

GroupReport GroupFigures::report_of(std::uint32_t text, const Kind& kind,
                                    std::int64_t begin_nanos) const {
  const std::string* const name = operations_.texts().find(text);
  const GroupOperation operation =
      name == nullptr ? GroupOperation{"?", "?"} : group_operation_of(*name);
  GroupReport report;
  report.group = operation.group;
  report.collective = operation.collective;
  report.algorithm = operation.algorithm;
  report.reason = operation.reason;
  report.operations = kind.operations;
  report.incomplete = kind.incomplete;
  report.failed = kind.failed;
  report.bytes = kind.bytes.summary();
  report.time = kind.time.summary();
  report.after_last = kind.after_last.summary();
  report.wait = kind.wait.summary();
  report.row = operation.row;
  report.predicted = kind.predicted.summary();
  const Summary per_predicted = kind.per_predicted.summary(), per_tuned = kind.per_tuned.summary();
  report.compared = per_predicted.count;
  report.per_predicted = static_cast<double>(per_predicted.p50) / 1000;
  report.per_tuned = static_cast<double>(per_tuned.p50) / 1000;
  if (kind.first)
    report.first = {kind.first->begin_nanos - begin_nanos, kind.first->end_nanos - begin_nanos};
  report.by_cause = kind.by_cause;
  for (const auto& [key, part] : kind.parts)
    report.parts.push_back(
        {key.first, name_of_part(key.first, key.second), part.nanos, part.operations});
  std::stable_sort(report.parts.begin(), report.parts.end(),
                   [](const auto& a, const auto& b) { return a.nanos > b.nanos; });
  for (const auto& [thread, late] : kind.threads)
    report.last_threads.push_back({structure_.thread_name(thread), late.operations, late.nanos});
  for (const auto& [host, late] : kind.hosts)
    report.last_hosts.push_back({structure_.hosts[host].name, late.operations, late.nanos});
  report.last_threads = lasts_of(std::move(report.last_threads));
  report.last_hosts = lasts_of(std::move(report.last_hosts));
  return report;
}

void GroupFigures::report_members(GroupsReport& report) const {
  for (const auto& [key, member] : members_) {
    const Structure::Host& host = structure_.hosts[structure_.host_of_thread(key.second)];
    report.members.push_back({structure_.thread_name(key.second), key.first, host.name,
                              structure_.clusters[host.cluster], member.computation.summary(),
                              member.late.operations, member.late.nanos,
                              member.computations.rows()});
  }
}

void GroupFigures::report_links(GroupsReport& report) const {
  for (const auto& [key, link] : clusters_)
    report.clusters.push_back({structure_.clusters[key.first], structure_.clusters[key.second],
                               key.first != key.second, link.messages, link.bytes, true,
                               link.latency.summary(),
                               link.nanos_per_mebibyte == std::numeric_limits<std::int64_t>::max()
                                   ? 0
                                   : link.nanos_per_mebibyte,
                               link.latencies.rows()});
  for (const auto& [key, sums] : hosts_)
    report.hosts.push_back({structure_.hosts[key.first].name,
                            structure_.hosts[key.second].name,
                            cluster_of(key.first) != cluster_of(key.second),
                            sums.first,
                            sums.second,
                            false,
                            {},
                            0,
                            {}});
  report.other_messages = other_messages_;
}

}  // namespace eventspace
