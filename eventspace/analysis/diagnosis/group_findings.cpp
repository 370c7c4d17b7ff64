// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/group_findings.cpp — detection of problems in group operations.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/metrics/others.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Members of one group in one cluster, with their median and 10th-percentile computation times.
struct ClusterMembers {
  Others medians, tenths;
  std::map<std::string_view, std::vector<const GroupMemberReport*>> of_host;
};

Finding slow_in_group(const GroupMemberReport& member, std::int64_t nanos, std::int64_t others,
                      std::int64_t cost_nanos) {
  Finding finding;
  finding.place.host = member.host;
  finding.place.cluster = member.cluster;
  finding.figure = (ratio(nanos, others) - 1) * 100;
  finding.unit = "percent";
  finding.cost_nanos = cost_nanos;
  finding.basis = "one host's own clock";
  finding.is_of_group = true;
  finding.before = member.group;
  return finding;
}

/// Returns the median of the medians of a host's threads. If their number is even, returns the
/// lower of the two middle ones.
std::int64_t median_of(const std::vector<const GroupMemberReport*>& threads) {
  std::vector<std::int64_t> medians;
  for (const GroupMemberReport* thread : threads) medians.push_back(thread->computation.p50);
  std::sort(medians.begin(), medians.end());
  return medians[(medians.size() - 1) / 2];
}

void find_slow_members(const ClusterMembers& members, const GroupsReport& report,
                       std::vector<Finding>& found) {
  for (const auto& [host, threads] : members.of_host) {
    const std::int64_t median = median_of(threads);
    Others other_hosts;
    for (const auto& [name, of_it] : members.of_host) other_hosts.add(median_of(of_it));
    other_hosts.sort();
    const std::int64_t others = other_hosts.median_without(median);
    if (is_slower(median, others)) {
      GroupReport::Last last;
      for (const GroupReport& operations : report.operations)
        for (const GroupReport::Last& one : operations.last_hosts)
          if (one.name == host && operations.group == threads.front()->group)
            last.operations += one.operations, add_to(last.late_nanos, one.late_nanos);
      Finding finding = slow_in_group(*threads.front(), median, others, last.late_nanos);
      finding.kind = FindingKind::slow_host;
      finding.sentence = fmt::format(
          "host {} takes {:.1f}% longer between operations of group {} than the other hosts of {} "
          "(median {:.3f} ms against {:.3f} ms); it arrived last at {} of them",
          host, finding.figure, threads.front()->group, threads.front()->cluster, ms(median),
          ms(others), last.operations);
      found.push_back(std::move(finding));
      continue;
    }
    for (const GroupMemberReport* thread : threads) {
      const std::int64_t usual = members.medians.median_without(thread->computation.p50);
      if (!is_slower(thread->computation.p50, usual) ||
          !is_slower(thread->computation.p10,
                     members.tenths.median_without(thread->computation.p10)))
        continue;
      Finding finding = slow_in_group(*thread, thread->computation.p50, usual, thread->late_nanos);
      finding.kind = FindingKind::slow_thread;
      finding.thread = thread->name;
      finding.sentence = fmt::format(
          "thread {} takes {:.1f}% longer between operations of group {} than the other threads of "
          "{} (median {:.3f} ms against {:.3f} ms), and not its host as a whole; it arrived last "
          "at {} of them",
          thread->name, finding.figure, thread->group, thread->cluster, ms(thread->computation.p50),
          ms(usual), thread->last);
      found.push_back(std::move(finding));
    }
  }
}

/// Returns the usual latency, to which a slow link is compared; 0 if this link is not slow. A link
/// counts as slow only if its fastest message is slow, too, because other messages may have waited
/// for each other or for streams.
std::pair<std::int64_t, std::string> usual_for(const GroupLinkReport& link,
                                               const std::vector<GroupLinkReport>& links) {
  std::vector<std::int64_t> medians, least;
  for (const GroupLinkReport& other : links) {
    if (&other == &link || !other.is_wan || other.latency.count == 0) continue;
    const bool is_back = other.from == link.to && other.to == link.from;
    if (is_back && is_slow_link(link.latency.p50, other.latency.p50) &&
        is_slow_link(link.latency.min, other.latency.min))
      return {other.latency.p50, "the way back"};
    medians.push_back(other.latency.p50);
    least.push_back(other.latency.min);
  }
  const std::int64_t usual = usual_of(std::move(medians));
  if (!is_slow_link(link.latency.p50, usual) ||
      !is_slow_link(link.latency.min, usual_of(std::move(least))))
    return {};
  return {usual, "the other links between clusters"};
}

/// Finds links of high latency. Rates are not examined, because the records do not show whether
/// hosts share a link.
void find_slow_group_links(const GroupsReport& report, std::vector<Finding>& found) {
  for (const GroupLinkReport& link : report.clusters) {
    if (!link.is_wan || link.latency.count == 0) continue;
    const auto [usual, what] = usual_for(link, report.clusters);
    if (usual == 0) continue;
    Finding finding;
    finding.kind = FindingKind::slow_link;
    finding.place.cluster = link.from;
    finding.from = link.from;
    finding.to = link.to;
    finding.figure = ratio(link.latency.p50, usual);
    finding.unit = "times";
    const std::string name = fmt::format("{} to {}", link.from, link.to);
    for (const GroupReport& operations : report.operations)
      for (const GroupReport::Part& part : operations.parts)
        if (part.what == name && part.cause == GroupCause::latency)
          add_to(finding.cost_nanos, static_cast<std::int64_t>(static_cast<double>(part.nanos) *
                                                               (1 - 1 / finding.figure)));
    finding.basis = "one clock of all hosts";
    finding.sentence = fmt::format(
        "a message of groups from {} takes {:.2f} times as long as on {} (median {:.3f} ms against "
        "{:.3f} ms)",
        name, finding.figure, what, ms(link.latency.p50), ms(usual));
    found.push_back(std::move(finding));
  }
}

}  // namespace

void find_in_groups(const GroupsReport& report, std::vector<Finding>& found) {
  std::map<std::pair<std::string_view, std::string_view>, ClusterMembers> clusters;
  for (const GroupMemberReport& member : report.members) {
    if (member.computation.count == 0) continue;
    ClusterMembers& members = clusters[{member.group, member.cluster}];
    members.medians.add(member.computation.p50);
    members.tenths.add(member.computation.p10);
    members.of_host[member.host].push_back(&member);
  }
  for (auto& [key, members] : clusters) {
    members.medians.sort();
    members.tenths.sort();
    find_slow_members(members, report, found);
  }
  find_slow_group_links(report, found);
}

}  // namespace eventspace
