// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.cpp — detection of problems in a report.
#include "eventspace/analysis/diagnosis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "eventspace/analysis/diagnosis/changes.hpp"
#include "eventspace/analysis/metrics/computation.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/metrics/others.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {

double ratio(std::int64_t one, std::int64_t other) {
  return other == 0 ? 0 : static_cast<double>(one) / static_cast<double>(other);
}

bool is_slower(std::int64_t nanos, std::int64_t others) {
  return others > 0 && ratio(nanos, others) >= slow_host_factor &&
         nanos - others >= slow_host_nanos;
}

bool is_slow_link(std::int64_t nanos, std::int64_t expected) {
  return expected > 0 && ratio(nanos, expected) >= slow_link_factor &&
         nanos - expected >= slow_link_nanos;
}

std::int64_t usual_of(std::vector<std::int64_t> others) {
  if (others.size() < 3) return 0;
  std::sort(others.begin(), others.end());
  const std::int64_t low = others[others.size() / 4];
  const std::int64_t high = others[others.size() - 1 - others.size() / 4];
  if (low <= 0 || ratio(high, low) > like_links_factor) return 0;
  return others[(others.size() - 1) / 2];
}

namespace {

constexpr const char* one_clock = "one host's own clock";
constexpr const char* two_way_basis = "two-way: each side's own clock";

std::int64_t times(std::int64_t nanos, std::uint64_t rounds) {
  std::int64_t all = 0;
  const bool is_more = __builtin_mul_overflow(nanos, rounds, &all);
  return is_more ? std::numeric_limits<std::int64_t>::max() : all;
}

/// Returns the hosts that are slow in comparison with the others of their cluster, as a list of
/// sets. Slow hosts of a cluster whose computations differ by at most `alike_share` are one set.
std::vector<std::vector<const HostReport*>> slow_hosts(const Report& report) {
  std::vector<const HostReport*> slow;
  for (const HostReport& host : report.hosts)
    if (host.factor >= slow_host_factor &&
        host.base_nanos - host.others_base_nanos >= slow_host_nanos)
      slow.push_back(&host);
  std::stable_sort(slow.begin(), slow.end(), [](const HostReport* a, const HostReport* b) {
    return std::pair(a->cluster, -a->base_nanos) < std::pair(b->cluster, -b->base_nanos);
  });
  std::vector<std::vector<const HostReport*>> groups;
  for (const HostReport* host : slow) {
    const HostReport* first = groups.empty() ? nullptr : groups.back().front();
    if (first != nullptr && first->cluster == host->cluster &&
        ratio(first->base_nanos, host->base_nanos) <= 1 + alike_share)
      groups.back().push_back(host);
    else
      groups.push_back({host});
  }
  return groups;
}

void find_slow_hosts(const Report& report, std::vector<Finding>& found) {
  for (const auto& hosts : slow_hosts(report)) {
    const HostReport& host = *hosts.front();
    Finding finding;
    finding.kind = FindingKind::slow_host;
    finding.place.host = host.name;
    finding.place.cluster = host.cluster;
    finding.figure = (host.factor - 1) * 100;
    finding.unit = "percent";
    finding.basis = one_clock;
    std::uint64_t rounds = 0;
    for (const HostReport* one : hosts) {
      add_to(finding.cost_nanos,
             times(one->base_nanos - one->others_base_nanos, one->critical_iterations));
      rounds += one->critical_rounds;
      if (hosts.size() > 1) finding.hosts.push_back(one->name);
    }
    const bool is_one = hosts.size() == 1;
    const std::string who = is_one
                                ? fmt::format("host {} computes", host.name)
                                : fmt::format("{} hosts of {} compute", hosts.size(), host.cluster);
    finding.sentence = fmt::format(
        "{} {:.1f}% longer than the other hosts of {} (median {:.3f} ms against {:.3f} ms); all "
        "waited for {} in {} rounds",
        who, finding.figure, is_one ? host.cluster : "it", ms(host.base_nanos),
        ms(host.others_base_nanos), is_one ? "it" : "one of them", rounds);
    if (!is_one) {
      constexpr std::size_t named_max = 6;
      std::string names;
      for (std::size_t one = 0; one < std::min(named_max, hosts.size()); ++one)
        names += (one == 0 ? ": " : ", ") + hosts[one]->name;
      if (hosts.size() > named_max) names += fmt::format(" and {} more", hosts.size() - named_max);
      finding.sentence += names;
    }
    found.push_back(std::move(finding));
  }
}

/// Finds clusters that compute longer than all other clusters at the same place of the program, if
/// the others are similar to each other.
void find_slow_clusters(const Report& report, std::vector<Finding>& found) {
  // Bases of threads, keyed by place of the program, then by cluster.
  std::map<std::pair<std::string_view, std::string_view>,
           std::map<std::string_view, std::vector<std::int64_t>>>
      places;
  for (const ThreadReport& thread : report.threads)
    places[{thread.graph, thread.after}][thread.cluster].push_back(thread.base_nanos);
  for (auto& [place, clusters] : places) {
    std::map<std::string_view, std::int64_t> medians;
    for (auto& [cluster, bases] : clusters) {
      std::sort(bases.begin(), bases.end());
      medians[cluster] = bases[(bases.size() - 1) / 2];
    }
    for (const auto& [cluster, median] : medians) {
      std::vector<std::int64_t> others;
      for (const auto& [other, nanos] : medians)
        if (other != cluster) others.push_back(nanos);
      const std::int64_t usual = usual_of(others);
      if (!is_slower(median, usual)) continue;
      Finding finding;
      finding.kind = FindingKind::slow_cluster;
      finding.place.cluster = cluster;
      finding.before = place.first;
      finding.after = place.second;
      for (const HostReport& host : report.hosts)
        if (host.cluster == cluster && host.threads > 0) finding.hosts.push_back(host.name);
      finding.figure = (ratio(median, usual) - 1) * 100;
      finding.unit = "percent";
      finding.basis = one_clock;
      finding.sentence = fmt::format(
          "cluster {} computes {:.1f}% longer than the other clusters (median {:.3f} ms against "
          "{:.3f} ms)",
          cluster, finding.figure, ms(median), ms(usual));
      found.push_back(std::move(finding));
    }
  }
}

bool is_noisy(const ThreadReport& thread) {
  return thread.outliers >= noisy_outliers && thread.noise_share >= noisy_share;
}

/// Whether a thread computes longer by `more` only because all its computations contain noise. In
/// that case, `more` is a small multiple of the duration of one noise event.
bool is_noise(std::int64_t more, const ThreadReport& thread) {
  const std::int64_t noise = thread.noise_median_nanos;
  if (!is_noisy(thread) || noise <= 0 || thread.is_noise_rare) return false;
  const std::int64_t times = (more + noise / 2) / noise;
  return times >= 1 && times <= noise_in_all_times && std::abs(more - times * noise) <= noise / 10;
}

Finding slow_thread(const ThreadReport& thread, std::int64_t others) {
  Finding finding;
  finding.kind = FindingKind::slow_thread;
  finding.place.host = thread.host;
  finding.place.cluster = thread.cluster;
  finding.thread = thread.name;
  finding.after = thread.after;
  finding.before = thread.graph;
  finding.figure = (ratio(thread.base_nanos, others) - 1) * 100;
  finding.unit = "percent";
  finding.cost_nanos = times(thread.base_nanos - others, thread.critical_iterations);
  finding.basis = one_clock;
  finding.sentence = fmt::format(
      "thread {} computes {:.1f}% longer than the other threads of {} (median {:.3f} ms against "
      "{:.3f} ms), and not its host as a whole; all waited for it in {} rounds",
      thread.name, finding.figure, thread.cluster, ms(thread.base_nanos), ms(others),
      thread.critical_rounds);
  return finding;
}

/// Finds threads that are slow in all computations: even their 10th percentile is slow. Leaves out
/// threads of a host whose median thread is slow, because the host is reported in their place.
void find_slow_threads(const Report& report, std::vector<Finding>& found) {
  struct Group {
    Others bases, tenths;
    std::map<std::string_view, std::vector<std::int64_t>> bases_of_host;
  };
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Group> groups;
  for (const ThreadReport& thread : report.threads) {
    Group& group = groups[{thread.graph, thread.after, thread.cluster}];
    group.bases.add(thread.base_nanos);
    group.tenths.add(thread.computation.p10);
    group.bases_of_host[thread.host].push_back(thread.base_nanos);
  }
  for (auto& [name, group] : groups) {
    group.bases.sort();
    group.tenths.sort();
    for (auto& [host, bases] : group.bases_of_host) std::sort(bases.begin(), bases.end());
  }
  for (const ThreadReport& thread : report.threads) {
    const Group& group = groups[{thread.graph, thread.after, thread.cluster}];
    const std::int64_t others = group.bases.median_without(thread.base_nanos);
    const auto& of_host = group.bases_of_host.at(thread.host);
    if (is_slower(of_host[(of_host.size() - 1) / 2], others)) continue;
    if (is_slower(thread.base_nanos, others) && !is_noise(thread.base_nanos - others, thread) &&
        is_slower(thread.computation.p10, group.tenths.median_without(thread.computation.p10)))
      found.push_back(slow_thread(thread, others));
  }
}

void find_noisy_threads(const Report& report, std::vector<Finding>& found) {
  for (const ThreadReport& thread : report.threads) {
    if (!is_noisy(thread)) continue;
    Finding finding;
    finding.kind = FindingKind::noisy_thread;
    finding.place.host = thread.host;
    finding.place.cluster = thread.cluster;
    finding.thread = thread.name;
    finding.after = thread.after;
    finding.before = thread.graph;
    if (report.time.has_critical_path)
      finding.at_nanos = thread.longest_begin_nanos - report.time.begin_nanos;
    finding.figure = static_cast<double>(thread.noise_median_nanos);
    finding.unit = "nanoseconds";
    finding.cost_nanos = thread.critical_noise_nanos;
    finding.basis = one_clock;
    const std::string period = thread.period_nanos
                                   ? fmt::format(", every {:.2f} ms", ms(*thread.period_nanos))
                                   : ", with no period found";
    finding.sentence = fmt::format(
        "thread {} has noise of {:.3f} ms (median) in {} of {} computations{}: {:.2f}% of its "
        "computation",
        thread.name, ms(thread.noise_median_nanos), thread.outliers, thread.computation.count,
        period, 100 * thread.noise_share);
    if (thread.resonates)
      finding.sentence += fmt::format(
          "; it resonates: its period is {:.2f} iterations, so that it meets the same part of an "
          "iteration for a long time",
          thread.iterations_per_period);
    found.push_back(std::move(finding));
  }
}

/// Reference for a link's time, and a description of where the reference comes from.
struct Expected {
  std::int64_t nanos = 0;
  std::string what;
};

Expected expected_of(const LinkReport& link, const std::vector<LinkReport>& links) {
  const std::int64_t travel = link.travel.p50;
  if (is_slow_link(travel, link.declared_nanos))
    return {link.declared_nanos, "what it is declared as"};
  std::vector<std::int64_t> like;
  for (const LinkReport& other : links) {
    if (&other == &link || other.travel.count == 0 || other.is_wan != link.is_wan) continue;
    const bool is_back = link.is_wan && other.from_cluster == link.to_cluster &&
                         other.to_cluster == link.from_cluster;
    if (is_back && is_slow_link(travel, other.travel.p50))
      return {other.travel.p50, fmt::format("{}, the way back", other.place.wrapper)};
    if (link.is_wan || other.from_cluster == link.from_cluster) like.push_back(other.travel.p50);
  }
  const std::int64_t usual = usual_of(like);
  if (is_slow_link(travel, usual))
    return {usual, link.is_wan ? "the other links between clusters" : "the other links there"};
  return {};
}

void find_slow_links(const Report& report, std::vector<Finding>& found) {
  for (const LinkReport& link : report.links) {
    if (link.travel.count == 0) continue;
    const Expected expected = expected_of(link, report.links);
    if (expected.nanos == 0) continue;
    Finding finding;
    finding.kind = FindingKind::slow_link;
    finding.place = link.place;
    finding.from = link.is_wan ? link.from_cluster : link.from_host;
    finding.to = link.is_wan ? link.to_cluster : link.to_host;
    finding.figure = ratio(link.travel.p50, expected.nanos);
    finding.unit = "times";
    finding.cost_nanos = times(link.travel.p50 - expected.nanos, link.critical_rounds);
    finding.basis = one_clock;
    finding.sentence = fmt::format(
        "link {} from {} to {} takes {:.2f} times as long as {} (median {:.3f} ms against {:.3f} "
        "ms)",
        link.place.wrapper, link.is_wan ? link.from_cluster : link.from_host,
        link.is_wan ? link.to_cluster : link.to_host, finding.figure, expected.what,
        ms(link.travel.p50), ms(expected.nanos));
    found.push_back(std::move(finding));
  }
}

void find_slow_networks(const Report& report, std::vector<Finding>& found) {
  std::map<std::pair<std::string, std::string>, std::vector<const CrossingReport*>> alike;
  for (const CrossingReport& crossing : report.crossings)
    if (crossing.two_way.count > 0)
      alike[{crossing.place.cluster, crossing.to_cluster}].push_back(&crossing);
  for (const auto& [clusters, crossings] : alike) {
    std::vector<std::int64_t> all;
    for (const CrossingReport* crossing : crossings) all.push_back(crossing->two_way.p50);
    if (all.size() < 4) continue;
    const std::int64_t usual = usual_of(all);
    for (const CrossingReport* crossing : crossings) {
      const std::int64_t more = crossing->two_way.p50 - usual;
      const double factor = ratio(crossing->two_way.p50, usual);
      if (usual == 0 || factor < slow_network_factor || more < slow_network_nanos) continue;
      Finding finding;
      finding.kind = FindingKind::slow_network;
      finding.place = crossing->place;
      finding.from = crossing->is_wan ? clusters.first : crossing->place.host;
      finding.to = crossing->is_wan ? clusters.second : crossing->to_host;
      finding.figure = factor;
      finding.unit = "times";
      finding.cost_nanos = times(more, crossing->critical_rounds);
      finding.basis = two_way_basis;
      finding.sentence = fmt::format(
          "from {} to {} and back takes {:.2f} times as long as between other hosts of {} and {} "
          "(two-way median {:.3f} ms against {:.3f} ms)",
          crossing->place.host, crossing->to_host, factor, clusters.first, clusters.second,
          ms(crossing->two_way.p50), ms(usual));
      found.push_back(std::move(finding));
    }
  }
}

/// Adds a finding for each link that delays replies. A link may be on several paths, but is
/// reported once.
void find_holds(const Report& report, std::vector<Finding>& found) {
  struct Hold {
    const StageReport* stage = nullptr;
    std::int64_t nanos = 0;
    std::uint64_t rounds = 0;
  };
  std::map<std::string_view, Hold> holds;
  for (const StageReport& stage : report.stages) {
    if (!stage.is_hold || stage.up.p50 < late_reply_least_nanos) continue;
    Hold& hold = holds[stage.place.wrapper];
    if (hold.stage == nullptr) hold.stage = &stage;
    add_to(hold.nanos, stage.critical_nanos);
    hold.rounds += stage.critical_rounds;
  }
  for (const auto& [name, hold] : holds) {
    const Place& place = hold.stage->place;
    Finding finding;
    finding.kind = FindingKind::late_broadcast;
    finding.place = place;
    finding.figure = static_cast<double>(hold.stage->up.p50);
    finding.unit = "nanoseconds";
    finding.cost_nanos = hold.nanos;
    finding.basis = one_clock;
    finding.sentence = fmt::format(
        "{} on {} holds each result back for {:.3f} ms (median) before it is passed on; all waited "
        "for it in {} rounds",
        place.wrapper, place.host, ms(finding.figure), hold.rounds);
    found.push_back(std::move(finding));
  }
}

void find_late_broadcasts(const Report& report, std::vector<Finding>& found) {
  for (const JoinReport& join : report.joins) {
    const auto rounds = static_cast<double>(join.rounds);
    if (static_cast<double>(join.late_replies) < std::max(1.0, late_reply_rounds * rounds))
      continue;
    Finding finding;
    finding.kind = FindingKind::late_broadcast;
    finding.place = join.place;
    finding.figure =
        static_cast<double>(join.late_reply_nanos) / static_cast<double>(join.late_replies);
    finding.unit = "nanoseconds";
    finding.cost_nanos = join.critical_late_reply_nanos;
    finding.basis = one_clock;
    finding.sentence = fmt::format(
        "{} on {} woke its own threads before it replied to other hosts: in {} of {} rounds the "
        "last reply, mostly that to {}, left {:.3f} ms (mean) after the result arrived; all waited "
        "for it in {} rounds",
        join.place.wrapper, join.place.host, join.late_replies, join.rounds, join.latest_reply_to,
        ms(finding.figure), join.critical_late_replies);
    found.push_back(std::move(finding));
  }
  find_holds(report, found);
}

/// Keeps only the first finding of the same kind about the same host or thread. Operations of a
/// collective that a group carries out have records on paths and in the group, so both may give the
/// finding.
void remove_repeated(std::vector<Finding>& found) {
  std::set<std::tuple<FindingKind, std::string, std::string>> seen;
  std::erase_if(found, [&](const Finding& finding) {
    if (finding.kind != FindingKind::slow_host && finding.kind != FindingKind::slow_thread)
      return false;
    const bool is_new = seen.emplace(finding.kind, finding.place.host, finding.thread).second;
    for (const std::string& host : finding.hosts) seen.emplace(finding.kind, host, "");
    return finding.is_of_group && !is_new;
  });
}

}  // namespace

std::vector<Finding> find_what_stands_out(const Report& report) {
  std::vector<Finding> found;
  find_slow_clusters(report, found);
  find_slow_hosts(report, found);
  find_slow_threads(report, found);
  find_noisy_threads(report, found);
  find_slow_links(report, found);
  find_slow_networks(report, found);
  find_late_broadcasts(report, found);
  find_in_groups(report.groups, found);
  find_changes(report, found);
  find_stalls(report, found);
  remove_repeated(found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.cost_nanos > b.cost_nanos; });
  return found;
}

}  // namespace eventspace
