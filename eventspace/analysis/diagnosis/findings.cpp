// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.cpp — detection of hosts, threads and clusters that
// compute longer than their equals.
#include "eventspace/analysis/diagnosis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "eventspace/analysis/diagnosis/changes.hpp"
#include "eventspace/analysis/metrics/others.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {

std::vector<Finding> FindingSearch::finish() {
  comparisons_.correct();
  std::vector<Finding> found;
  for (const AddFindings& add : additions_) add(found);
  return found;
}

double ratio(double one, double other) { return other == 0 ? 0 : one / other; }

std::int64_t lost_in(const Compared& compared, std::uint64_t count) {
  constexpr double most = 9e18;
  return static_cast<std::int64_t>(
      std::clamp(compared.difference() * static_cast<double>(count), -most, most));
}

Finding finding_of(FindingKind kind, const Compared& compared, std::uint64_t count) {
  Finding finding;
  finding.kind = kind;
  if (compared.is_known) finding.compared = compared;
  finding.lost_nanos = lost_in(compared, count);
  return finding;
}

void set_place(Finding& finding, const ThreadReport& thread) {
  finding.place.host = thread.host;
  finding.place.cluster = thread.cluster;
  finding.before = thread.graph;
  finding.after = thread.after;
}

std::string set_threads(Finding& finding, const std::vector<const ThreadReport*>& threads) {
  const ThreadReport& first = *threads.front();
  set_place(finding, first);
  std::set<std::string> hosts, clusters;
  for (const ThreadReport* const thread : threads) {
    hosts.insert(thread->host);
    clusters.insert(thread->cluster);
  }
  if (threads.size() == 1) {
    finding.thread = first.name;
    return "thread " + first.name;
  }
  if (hosts.size() == 1) return fmt::format("{} threads of host {}", threads.size(), first.host);
  finding.hosts.assign(hosts.begin(), hosts.end());
  return clusters.size() == 1
             ? fmt::format("{} hosts of {}", hosts.size(), first.cluster)
             : fmt::format("{} hosts of {} clusters", hosts.size(), clusters.size());
}

bool is_shifted(std::int64_t nanos, std::int64_t usual_nanos, const Compared& compared) {
  return static_cast<double>(nanos - usual_nanos) >= shifted_share * compared.difference();
}

std::optional<std::size_t> middle_of_alike(const std::vector<double>& nanos) {
  if (nanos.size() < like_others_least) return std::nullopt;
  std::vector<std::size_t> sorted(nanos.size());
  for (std::size_t place = 0; place < sorted.size(); ++place) sorted[place] = place;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return nanos[a] < nanos[b]; });
  const double low = nanos[sorted[sorted.size() / 4]];
  const double high = nanos[sorted[sorted.size() - 1 - sorted.size() / 4]];
  if (low <= 0 || ratio(high, low) > like_others_factor) return std::nullopt;
  return sorted[(sorted.size() - 1) / 2];
}

namespace {

double percent_longer(const Compared& compared) {
  return (ratio(compared.nanos, compared.usual_nanos) - 1) * 100;
}

std::string means_of(const Compared& compared) {
  return fmt::format("(mean without noise {:.3f} ms against {:.3f} ms)", ms(compared.nanos),
                     ms(compared.usual_nanos));
}

/// Computations of a thread at one place, with their mean without noise.
struct Computing {
  const ThreadReport* thread = nullptr;
  double mean = 0;
};

/// Sorts the threads by mean. Returns the middle thread. If two threads are in the middle, returns
/// the thread with the shorter mean.
const Computing& sort_to_middle(std::vector<Computing>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Computing& a, const Computing& b) { return a.mean < b.mean; });
  return all[(all.size() - 1) / 2];
}

/// Returns the middle thread of all threads except the thread at `place`. Requires: `all` is sorted
/// and has at least two entries.
const ThreadReport& middle_without(const std::vector<Computing>& all, std::size_t place) {
  const std::size_t middle = (all.size() - 2) / 2;
  return *all[place <= middle ? middle + 1 : middle].thread;
}

/// Comparison of a host with other hosts. The host's thread with the middle mean stands for the
/// host.
struct ComparedHost {
  const HostReport* host = nullptr;
  const ThreadReport* middle = nullptr;
  std::size_t comparison = 0;
};

void name_slow_hosts(const FindingSearch& search, std::vector<ComparedHost> hosts,
                     std::vector<Finding>& found) {
  const auto result = [&](const ComparedHost& one) -> const Compared& {
    return search.result(one.comparison);
  };
  std::erase_if(hosts, [&](const ComparedHost& one) { return !result(one).is_longer(); });
  std::stable_sort(hosts.begin(), hosts.end(), [&](const ComparedHost& a, const ComparedHost& b) {
    return std::pair(a.host->cluster, -result(a).nanos) <
           std::pair(b.host->cluster, -result(b).nanos);
  });
  // Slow hosts of a cluster whose computations differ by at most `alike_share` are one finding.
  for (auto first = hosts.begin(); first != hosts.end();) {
    const auto last = std::find_if(first, hosts.end(), [&](const ComparedHost& one) {
      return one.host->cluster != first->host->cluster ||
             ratio(result(*first).nanos, result(one).nanos) > 1 + alike_share;
    });
    const HostReport& host = *first->host;
    const Compared& compared = result(*first);
    Finding finding = finding_of(FindingKind::slow_host, compared, 0);
    finding.place.host = host.name;
    finding.place.cluster = host.cluster;
    finding.figure = percent_longer(compared);
    finding.unit = "percent";
    finding.basis = basis_of_one_clock;
    const bool is_one = last - first == 1;
    std::uint64_t rounds = 0;
    for (auto one = first; one != last; ++one) {
      add_to(finding.cost_nanos, lost_in(result(*one), one->host->critical_iterations));
      add_to(finding.lost_nanos, lost_in(result(*one), one->middle->computation.count));
      rounds += one->host->critical_rounds;
      if (!is_one) finding.hosts.push_back(one->host->name);
    }
    const std::string who =
        is_one ? fmt::format("host {} computes", host.name)
               : fmt::format("{} hosts of {} compute", finding.hosts.size(), host.cluster);
    finding.sentence = fmt::format(
        "{} {:.1f}% longer than {} {}; all waited for {} in {} rounds", who, finding.figure,
        is_one ? "the other hosts of " + host.cluster : "its other hosts", means_of(compared),
        is_one ? "it" : "one of them", rounds);
    if (!is_one) {
      constexpr std::size_t named_max = 6;
      const std::size_t count = finding.hosts.size();
      for (std::size_t one = 0; one < std::min(named_max, count); ++one)
        finding.sentence += (one == 0 ? ": " : ", ") + finding.hosts[one];
      if (count > named_max) finding.sentence += fmt::format(" and {} more", count - named_max);
    }
    found.push_back(std::move(finding));
    first = last;
  }
}

/// Compares each host with the middle host of the other hosts in its cluster. The thread with the
/// middle mean stands for a host.
void compare_hosts(FindingSearch& search) {
  const Report& report = search.report();
  std::map<std::string_view, std::vector<Computing>> threads;
  for (const ThreadReport& thread : report.threads)
    if (thread.is_main_place && !thread.is_noise_in_all)
      threads[thread.host].push_back({&thread, mean_of(thread.quiet_blocks)});
  std::map<std::string_view, std::vector<Computing>> clusters;
  for (auto& [host, all] : threads) {
    const Computing& middle = sort_to_middle(all);
    clusters[middle.thread->cluster].push_back(middle);
  }
  std::map<std::string_view, ComparedHost> compared;
  for (auto& [cluster, hosts] : clusters) {
    sort_to_middle(hosts);
    for (std::size_t place = 0; place < hosts.size() && hosts.size() > 1; ++place) {
      const ThreadReport& middle = *hosts[place].thread;
      compared[middle.host] = {
          nullptr, &middle,
          search.comparisons().add(middle.quiet_blocks, middle_without(hosts, place).quiet_blocks)};
    }
  }
  std::vector<ComparedHost> hosts;
  for (const HostReport& host : report.hosts) {
    const auto one = compared.find(host.name);
    if (one == compared.end()) continue;
    one->second.host = &host;
    hosts.push_back(one->second);
  }
  search.when_known([&search, hosts = std::move(hosts)](std::vector<Finding>& found) {
    name_slow_hosts(search, hosts, found);
  });
}

/// Place of a computation in the program: the collective that follows the computation, and the
/// collective before it.
using ProgramPlace = std::pair<std::string_view, std::string_view>;

void name_slow_cluster(const Report& report, const ThreadReport& middle, const Compared& compared,
                       std::vector<Finding>& found) {
  if (!compared.is_longer()) return;
  Finding finding = finding_of(FindingKind::slow_cluster, compared, middle.computation.count);
  finding.place.cluster = middle.cluster;
  finding.before = middle.graph;
  finding.after = middle.after;
  for (const HostReport& host : report.hosts)
    if (host.cluster == middle.cluster && host.threads > 0) finding.hosts.push_back(host.name);
  finding.figure = percent_longer(compared);
  finding.unit = "percent";
  finding.basis = basis_of_one_clock;
  finding.sentence = fmt::format("cluster {} computes {:.1f}% longer than the other clusters {}",
                                 middle.cluster, finding.figure, means_of(compared));
  found.push_back(std::move(finding));
}

/// Compares each cluster with the other clusters at the same place of the program. A comparison is
/// made only if the other clusters are like each other. The thread with the middle mean stands for
/// a cluster.
void compare_clusters(FindingSearch& search) {
  std::map<ProgramPlace, std::map<std::string_view, std::vector<Computing>>> places;
  for (const ThreadReport& thread : search.report().threads)
    places[{thread.graph, thread.after}][thread.cluster].push_back(
        {&thread, mean_of(thread.quiet_blocks)});
  for (auto& [place, clusters] : places) {
    std::vector<Computing> middles;
    for (auto& [cluster, threads] : clusters) middles.push_back(sort_to_middle(threads));
    for (std::size_t one = 0; one < middles.size(); ++one) {
      std::vector<double> others;
      for (std::size_t other = 0; other < middles.size(); ++other)
        if (other != one) others.push_back(middles[other].mean);
      const auto usual = middle_of_alike(others);
      if (!usual) continue;
      const ThreadReport& middle = *middles[one].thread;
      const std::size_t comparison = search.comparisons().add(
          middle.quiet_blocks, middles[*usual < one ? *usual : *usual + 1].thread->quiet_blocks);
      search.when_known([&search, &middle, comparison](std::vector<Finding>& found) {
        name_slow_cluster(search.report(), middle, search.result(comparison), found);
      });
    }
  }
}

/// Whether noise in all computations explains that a thread computes longer than others.
bool is_noise(const ThreadReport& thread, const Compared& compared, const FindingSearch& search) {
  return search.is_explained(thread) && !thread.is_noise_rare &&
         noise_explains(std::llround(compared.difference()), thread.noise_median_nanos);
}

void name_slow_thread(const ThreadReport& thread, const Compared& compared,
                      std::vector<Finding>& found) {
  Finding finding = finding_of(FindingKind::slow_thread, compared, thread.computation.count);
  set_place(finding, thread);
  finding.thread = thread.name;
  finding.figure = percent_longer(compared);
  finding.unit = "percent";
  finding.cost_nanos = lost_in(compared, thread.critical_iterations);
  finding.basis = basis_of_one_clock;
  finding.sentence = fmt::format(
      "thread {} computes {:.1f}% longer than the other threads of {} {}, and not its host as a "
      "whole; all waited for it in {} rounds",
      thread.name, finding.figure, thread.cluster, means_of(compared), thread.critical_rounds);
  found.push_back(std::move(finding));
}

/// Compares each thread with the middle thread of the other threads of its cluster at the same
/// place. If the middle thread of its host is slow, too, a slow thread is left out, because the
/// findings then name its host instead.
void compare_threads_of(std::vector<Computing> threads, FindingSearch& search) {
  if (threads.size() < 2) return;
  sort_to_middle(threads);
  Others tenths;
  std::map<std::string_view, std::vector<const ThreadReport*>> of_hosts;
  for (const Computing& one : threads) {
    tenths.add(one.thread->computation.p10);
    of_hosts[one.thread->host].push_back(one.thread);
  }
  tenths.sort();
  std::map<const ThreadReport*, std::size_t> comparisons;
  for (std::size_t place = 0; place < threads.size(); ++place) {
    const ThreadReport& thread = *threads[place].thread;
    if (of_hosts[thread.host].size() > 1)
      comparisons[&thread] = search.comparisons().add(thread.quiet_blocks,
                                                      middle_without(threads, place).quiet_blocks);
  }
  for (const Computing& one : threads) {
    const ThreadReport& thread = *one.thread;
    const auto& of_host = of_hosts[thread.host];
    if (of_host.size() < 2 || thread.is_noise_in_all) continue;
    const std::size_t own = comparisons[&thread];
    const std::size_t of_middle = comparisons[of_host[(of_host.size() - 1) / 2]];
    const std::int64_t usual_tenth = tenths.median_without(thread.computation.p10);
    search.when_known([&search, &thread, own, of_middle, usual_tenth](std::vector<Finding>& found) {
      const Compared& compared = search.result(own);
      if (compared.is_longer() && !search.result(of_middle).is_longer() &&
          !is_noise(thread, compared, search) &&
          is_shifted(thread.computation.p10, usual_tenth, compared))
        name_slow_thread(thread, compared, found);
    });
  }
}

void compare_threads(FindingSearch& search) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::vector<Computing>>
      groups;
  for (const ThreadReport& thread : search.report().threads)
    groups[{thread.graph, thread.after, thread.cluster}].push_back(
        {&thread, mean_of(thread.quiet_blocks)});
  for (auto& [key, threads] : groups) compare_threads_of(std::move(threads), search);
}

/// Keeps only the first finding of the same kind about the same host or thread. If a group carries
/// out a collective, its operations have records on paths and in the group. Both kinds of records
/// may then give the same finding.
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
  FindingSearch search(report);
  const auto remove_explained = compare_levels(search);
  compare_clusters(search);
  compare_hosts(search);
  compare_noise(search);
  compare_threads(search);
  compare_links(search);
  compare_networks(search);
  compare_replies(search);
  compare_in_groups(search);
  search.when_known(remove_explained);
  search.when_known([&search](std::vector<Finding>& found) {
    find_rare_noise(search, found);
    find_stalls(search, found);
  });
  std::vector<Finding> found = search.finish();
  remove_repeated(found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.cost_nanos > b.cost_nanos; });
  return found;
}

}  // namespace eventspace
