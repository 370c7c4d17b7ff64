// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/group_findings.cpp — detection of problems in group operations.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Sorts the members by mean. Returns the middle member. If two members are in the middle, returns
/// the member with the shorter mean.
const GroupMemberReport& sort_members(std::vector<const GroupMemberReport*>& members) {
  std::stable_sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
    return a->computation.mean < b->computation.mean;
  });
  return *members[(members.size() - 1) / 2];
}

/// Returns the middle member of all members except the member at `place`. Requires: `members` is
/// sorted and has at least two entries.
const GroupMemberReport& middle_without(const std::vector<const GroupMemberReport*>& members,
                                        std::size_t place) {
  const std::size_t middle = (members.size() - 2) / 2;
  return *members[place <= middle ? middle + 1 : middle];
}

/// Comparison of two members, by their times between operations of the group.
struct ComparedMember {
  const GroupMemberReport* member = nullptr;
  const GroupMemberReport* usual = nullptr;
  std::size_t comparison = 0;
};

ComparedMember compare_member(const std::vector<const GroupMemberReport*>& members,
                              std::size_t place, FindingSearch& search) {
  const GroupMemberReport& usual = middle_without(members, place);
  return {members[place], &usual, search.comparisons().add(members[place]->blocks, usual.blocks)};
}

/// Whether the member's times between operations are longer than those of the other member, and not
/// only before some operations.
bool is_slow(const ComparedMember& one, const FindingSearch& search) {
  const Compared& compared = search.result(one.comparison);
  const Summary& own = one.member->computation;
  const Summary& usual = one.usual->computation;
  return compared.is_longer() && is_shifted(own.p50, usual.p50, compared) &&
         is_shifted(own.p10, usual.p10, compared);
}

Finding slow_in_group(FindingKind kind, const GroupMemberReport& member, const Compared& compared) {
  Finding finding = finding_of(kind, compared, member.computation.count);
  finding.place.host = member.host;
  finding.place.cluster = member.cluster;
  finding.figure = (ratio(compared.nanos, compared.usual_nanos) - 1) * 100;
  finding.unit = "percent";
  finding.basis = basis_of_one_clock;
  finding.is_of_group = true;
  finding.before = member.group;
  return finding;
}

void name_slow_host(const GroupMemberReport& member, const Compared& compared,
                    const GroupsReport& report, std::vector<Finding>& found) {
  Finding finding = slow_in_group(FindingKind::slow_host, member, compared);
  std::uint64_t last = 0;
  for (const GroupReport& operations : report.operations)
    for (const GroupReport::Last& one : operations.last_hosts)
      if (one.name == member.host && operations.group == member.group)
        last += one.operations, add_to(finding.cost_nanos, one.late_nanos);
  finding.sentence = fmt::format(
      "host {} takes {:.1f}% longer between operations of group {} than the other hosts of {} "
      "(mean {:.3f} ms against {:.3f} ms); it arrived last at {} of them",
      member.host, finding.figure, member.group, member.cluster, ms(compared.nanos),
      ms(compared.usual_nanos), last);
  found.push_back(std::move(finding));
}

void name_slow_thread(const GroupMemberReport& member, const Compared& compared,
                      std::vector<Finding>& found) {
  Finding finding = slow_in_group(FindingKind::slow_thread, member, compared);
  finding.cost_nanos = member.late_nanos;
  finding.thread = member.name;
  finding.sentence = fmt::format(
      "thread {} takes {:.1f}% longer between operations of group {} than other threads of {} "
      "(mean {:.3f} ms against {:.3f} ms); its host does not; it arrived last at {} of them",
      member.name, finding.figure, member.group, member.cluster, ms(compared.nanos),
      ms(compared.usual_nanos), member.last);
  found.push_back(std::move(finding));
}

/// Compares the members of a group in one cluster: each thread, and each host. The middle thread of
/// a host stands for the host.
void compare_members(std::vector<const GroupMemberReport*> members, FindingSearch& search) {
  sort_members(members);
  std::map<std::string_view, std::vector<const GroupMemberReport*>> of_hosts;
  for (const GroupMemberReport* member : members) of_hosts[member->host].push_back(member);
  std::vector<const GroupMemberReport*> middles;
  for (auto& [host, threads] : of_hosts) middles.push_back(&sort_members(threads));
  sort_members(middles);
  std::map<std::string_view, ComparedMember> hosts;
  for (std::size_t place = 0; place < middles.size() && middles.size() > 1; ++place)
    hosts[middles[place]->host] = compare_member(middles, place, search);
  std::vector<ComparedMember> threads;
  for (std::size_t place = 0; place < members.size(); ++place)
    if (of_hosts[members[place]->host].size() > 1)
      threads.push_back(compare_member(members, place, search));
  search.when_known([&search, hosts, threads](std::vector<Finding>& found) {
    for (const auto& [name, host] : hosts)
      if (is_slow(host, search))
        name_slow_host(*host.member, search.result(host.comparison), search.report().groups, found);
    for (const ComparedMember& thread : threads) {
      const auto host = hosts.find(thread.member->host);
      const bool is_host_slow = host != hosts.end() && is_slow(host->second, search);
      if (!is_host_slow && is_slow(thread, search))
        name_slow_thread(*thread.member, search.result(thread.comparison), found);
    }
  });
}

/// Comparison of a link with another link, or with the middle link of several others.
struct ComparedLink {
  const GroupLinkReport* usual = nullptr;
  std::size_t comparison = 0;
  std::string what;
};

void name_slow_link(const GroupLinkReport& link, const Compared& compared, const std::string& what,
                    const GroupsReport& report, std::vector<Finding>& found) {
  Finding finding = finding_of(FindingKind::slow_link, compared, link.latency.count);
  finding.place.cluster = link.from;
  finding.from = link.from;
  finding.to = link.to;
  finding.figure = ratio(compared.nanos, compared.usual_nanos);
  finding.unit = "times";
  const std::string name = fmt::format("{} to {}", link.from, link.to);
  for (const GroupReport& operations : report.operations)
    for (const GroupReport::Part& part : operations.parts)
      if (part.what == name && part.cause == GroupCause::latency)
        add_to(finding.cost_nanos, static_cast<std::int64_t>(static_cast<double>(part.nanos) *
                                                             (1 - 1 / finding.figure)));
  finding.basis = "one clock of all hosts";
  finding.sentence = fmt::format(
      "a message of groups from {} takes {:.2f} times as long as on {} (mean {:.3f} ms against "
      "{:.3f} ms)",
      name, finding.figure, what, ms(compared.nanos), ms(compared.usual_nanos));
  found.push_back(std::move(finding));
}

/// Compares the latency of a link with the latency of the way back, and with that of the other
/// links. A link counts as slow only if even its fastest message is slow, because other messages
/// may have waited for each other or for streams. Rates are not compared, because the records do
/// not show whether hosts share a link.
void compare_link(const GroupLinkReport& link, FindingSearch& search) {
  const GroupsReport& report = search.report().groups;
  std::vector<ComparedLink> compared;
  std::vector<const GroupLinkReport*> others;
  std::vector<double> nanos;
  const auto add = [&](const GroupLinkReport& other, std::string what) {
    compared.push_back(
        {&other, search.comparisons().add(link.blocks, other.blocks), std::move(what)});
  };
  for (const GroupLinkReport& other : report.clusters) {
    if (&other == &link || !other.is_wan || other.latency.count == 0) continue;
    if (other.from == link.to && other.to == link.from) add(other, "the way back");
    others.push_back(&other);
    nanos.push_back(other.latency.mean);
  }
  if (const auto middle = middle_of_alike(nanos))
    add(*others[*middle], "the other links between clusters");
  search.when_known([&search, &link, compared](std::vector<Finding>& found) {
    for (const ComparedLink& one : compared) {
      const Compared& result = search.result(one.comparison);
      if (!result.is_longer() || !is_shifted(link.latency.min, one.usual->latency.min, result))
        continue;
      name_slow_link(link, result, one.what, search.report().groups, found);
      return;
    }
  });
}

}  // namespace

void compare_in_groups(FindingSearch& search) {
  const GroupsReport& report = search.report().groups;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const GroupMemberReport*>>
      clusters;
  for (const GroupMemberReport& member : report.members)
    if (member.computation.count > 0) clusters[{member.group, member.cluster}].push_back(&member);
  for (auto& [key, members] : clusters) compare_members(std::move(members), search);
  for (const GroupLinkReport& link : report.clusters)
    if (link.is_wan && link.latency.count > 0) compare_link(link, search);
}

}  // namespace eventspace
