// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/text.cpp — report as text for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <vector>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"

namespace eventspace {
namespace {

// Limits of the summary, which must fit on one screen.
constexpr std::size_t findings_shown = 5;
constexpr std::size_t notes_shown = 3;
constexpr std::size_t graphs_shown = 3;
constexpr std::size_t checks_shown = 8;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f}%", 100 * share);
}
/// Returns a text such as "10 rounds". If there were more iterations than rounds, because a wrapper
/// `periodic` replied to some iterations, the text also contains the number of iterations.
std::string rounds_of(std::uint64_t rounds, std::uint64_t iterations) {
  return iterations <= rounds ? fmt::format("{} rounds", rounds)
                              : fmt::format("{} iterations, {} rounds", iterations, rounds);
}

std::string at(const Place& place) {
  return place.position.empty() ? "" : fmt::format(" ({})", place.position);
}

class Text : private TextWithTables {
 public:
  Text(const Report& report, std::size_t rows) : TextWithTables(rows), report_(report) {}
  std::string print(const std::vector<std::string>& losses) {
    coverage(losses);
    text_ += to_text(report_.time, rows_);
    findings();
    graphs();
    text_ += to_text(report_.groups, rows_);
    text_ += to_text(report_.transfers, rows_);
    if (rows_ > 0) {
      tables();
    } else {
      line(
          "\n--rows 20 shows tables of threads, joins, links and paths; --html FILE shows all of "
          "it");
    }
    return std::move(text_);
  }

 private:
  void tables() {
    critical();
    lateness();
    clusters();
    threads();
    joins();
    crossings();
    links();
    paths();
    conditionals();
  }
  void heading(std::string_view title, std::string_view basis) { line("\n{} [{}]", title, basis); }

  void coverage(const std::vector<std::string>& losses);
  void graphs();
  void graph(const std::vector<const CriticalReport*>& trees);
  void late_iterations(const std::string& graph);
  void checks(const std::string& graph);
  void findings();
  void critical();
  void lateness();
  void clusters();
  void threads();
  void joins();
  void crossings();
  void links();
  void paths();
  void conditionals();
  void conditional(const ConditionalReport& one);

  const Report& report_;
};

void Text::coverage(const std::vector<std::string>& losses) {
  std::vector<std::string> all = losses;
  const std::vector<std::string> more = notes_of(report_);
  all.insert(all.end(), more.begin(), more.end());
  const std::uint64_t of_groups = report_.groups.records;
  line("{} records, {} of operations{}{}", report_.coverage.records, report_.coverage.operations,
       of_groups == 0 ? "" : fmt::format(", {} of groups", of_groups),
       all.empty() ? "" : "; not all could be used:");
  if (rows_ > 0) {
    for (const std::string& note : all) line("  {}", note);
  } else if (!all.empty()) {
    const auto shown = static_cast<std::ptrdiff_t>(std::min(notes_shown, all.size()));
    const std::string rest =
        all.size() > notes_shown ? fmt::format("; and {} more", all.size() - notes_shown) : "";
    line("  {}{}", fmt::format("{}", fmt::join(all.begin(), all.begin() + shown, "; ")), rest);
  }
}

void Text::findings() {
  line("\nOut of the ordinary");
  if (report_.findings.empty()) line("  {}", text_without_findings(report_));
  const std::size_t shown = std::min(std::max(findings_shown, rows_), report_.findings.size());
  for (std::size_t place = 0; place < shown; ++place) {
    const Finding& finding = report_.findings[place];
    line("  {}. {}{} [{}]", place + 1, finding.sentence, at(finding.place), finding.basis);
    const std::string cost = cost_text(finding, report_.time);
    if (!cost.empty()) line("     {}", cost);
  }
  if (report_.findings.size() > shown) line("  ... and {} more", report_.findings.size() - shown);
}

/// Prints a few lines for each collective: its trees, combined into one line, its late threads, and
/// its checks.
void Text::graphs() {
  std::vector<std::vector<const CriticalReport*>> graphs;
  for (const CriticalReport& tree : report_.critical) {
    const auto same = std::find_if(graphs.begin(), graphs.end(), [&](const auto& trees) {
      return trees.front()->graph == tree.graph;
    });
    if (same == graphs.end()) {
      graphs.push_back({&tree});
    } else {
      same->push_back(&tree);
    }
  }
  if (graphs.empty()) return;
  heading("Rounds of collectives", basis_of_one_clock);
  const std::size_t shown = std::min(std::max(graphs_shown, rows_), graphs.size());
  for (std::size_t place = 0; place < shown; ++place) graph(graphs[place]);
  if (graphs.size() > shown) line("  ... and {} more", graphs.size() - shown);
}

/// Returns a text with the number of hosts or clusters that have a tree of the collective. Counts
/// clusters if each tree is in a cluster of its own; otherwise counts hosts.
std::string places_of(const std::vector<const CriticalReport*>& trees, std::size_t known) {
  std::set<std::string> clusters;
  for (const CriticalReport* tree : trees) clusters.insert(tree->cluster);
  return clusters.size() == trees.size() ? fmt::format("in {} clusters", known)
                                         : fmt::format("on {} hosts", known);
}

void Text::graph(const std::vector<const CriticalReport*>& trees) {
  std::size_t known = 0;
  std::vector<std::string> unknown;
  std::uint64_t rounds = 0;
  std::uint64_t iterations = 0;
  for (const CriticalReport* tree : trees) {
    if (tree->iteration.count == 0) {
      unknown.push_back(tree->cluster);
      continue;
    }
    ++known;
    rounds = std::max(rounds, tree->rounds);
    iterations = std::max(iterations, tree->iterations);
  }
  const std::string& name = trees.front()->graph;
  if (known == 0) {
    line("  {}: no round has all its records", name);
    return;
  }
  line("  {}{}: {}", name, trees.size() == 1 ? "" : fmt::format(" {}", places_of(trees, known)),
       rounds_of(rounds, iterations));
  if (!unknown.empty())
    line("    not known of {}: no round there has all its records",
         fmt::format("{}", fmt::join(unknown, ", ")));
  late_iterations(name);
  checks(name);
}

void Text::late_iterations(const std::string& graph) {
  for (const LatenessReport& one : report_.lateness) {
    if (one.graph != graph) continue;
    std::string late;
    for (std::size_t bound = 0; bound < one.over.size(); ++bound)
      late += fmt::format("{}{:.0f} ms: {}", bound == 0 ? "" : ", ",
                          ms(lateness_bounds_nanos[bound]), one.over[bound]);
    line(
        "    iterations with a thread late by more than {}; noise {:.3f} s, {:.3f} s of it made "
        "rounds longer",
        late, seconds(one.noise_nanos), seconds(one.effective_noise_nanos));
  }
}

void Text::checks(const std::string& graph) {
  std::vector<const ConditionalReport*> all;
  for (const ConditionalReport& one : report_.conditionals)
    if (one.graph == graph) all.push_back(&one);
  const std::size_t shown = std::min(std::max(checks_shown, rows_), all.size());
  for (std::size_t place = 0; place < shown; ++place) {
    const ConditionalReport& one = *all[place];
    const std::uint64_t alone = one.by_values_needed.empty() ? 0 : one.by_values_needed[0];
    std::uint64_t used = 0;
    for (const auto& remote : one.remotes) used += remote.reads;
    line(
        "    {:<14} decided {} of {} operations alone; {:.1f}% of {} values used were cached; to "
        "decide {:.3f} ms (p99 {:.3f})",
        one.place.cluster, alone, one.operations, 100 * one.cached_share, used,
        ms(one.time_to_decide.mean), ms(one.time_to_decide.p99));
  }
  if (all.size() > shown) line("    ... and {} more", all.size() - shown);
}

void Text::critical() {
  if (report_.critical.empty()) return;
  heading("Critical paths of the rounds of each collective",
          "one host's own clock; network: two-way");
  for (const CriticalReport& tree : report_.critical) {
    std::int64_t all = 0;
    for (const std::int64_t nanos : tree.by_cause) add_to(all, nanos);
    const std::string name =
        fmt::format("{}{}{}", tree.graph, tree.cluster.empty() ? "" : " in ", tree.cluster);
    if (tree.iteration.count == 0) {
      line("  {}: no round has all its records", name);
      continue;
    }
    line("  {}: {}, iteration: median {:.3f} ms, mean {:.3f} ms", name,
         rounds_of(tree.rounds, tree.iterations), ms(tree.iteration.p50), ms(tree.iteration.mean));
    const auto varies = [](const Summary& one) {
      return fmt::format("{:.3f} ms, standard deviation {:.3f}", ms(one.mean), ms(one.deviation));
    };
    line("    last thread: computation {}; communication {}", varies(tree.computation),
         varies(tree.communication));
    for (std::size_t cause = 0; cause < tree.by_cause.size(); ++cause) {
      if (tree.by_cause[cause] == 0) continue;
      line("    {:<15} {:>10.3f} s {:>6}", cause_name(static_cast<Cause>(cause)),
           seconds(tree.by_cause[cause]), percent_of(tree.by_cause[cause], all));
    }
    table(
        tree.parts, [](const auto& part) { return part.nanos; },
        [&](const auto& part) {
          line("      {:<15} {:>10.3f} s in {:>7} rounds  {} on {}{}", cause_name(part.cause),
               seconds(part.nanos), part.rounds, part.what, part.host,
               part.position.empty() ? "" : " (" + part.position + ")");
        });
  }
}

void Text::lateness() {
  for (const LatenessReport& one : report_.lateness) {
    heading(fmt::format("Late threads of {}", one.graph), basis_of_one_clock);
    line("  {} iterations; with a thread late against its own mean by more than", one.iterations);
    for (std::size_t bound = 0; bound < one.over.size(); ++bound)
      line("    {:>2.0f} ms: {} ({:.2f}%)", ms(lateness_bounds_nanos[bound]), one.over[bound],
           percent(one.over[bound], one.iterations));
    line(
        "  noise {:.3f} s: {:.3f} s hidden behind others, {:.3f} s made rounds longer; all threads "
        "together lost {:.2f} times the noise",
        seconds(one.noise_nanos), seconds(one.absorbed_noise_nanos),
        seconds(one.effective_noise_nanos), one.noise_amplification);
    line(
        "  WAN {:.3f} s on critical paths (two-way), {:.3f} s of it no more than noise of the "
        "same rounds",
        seconds(one.critical_wan_two_way_nanos), seconds(one.hideable_wan_nanos));
    if (one.check_wan_one_way_nanos > 0)
      line(
          "  WAN {:.3f} s within waits of conditions (half of two-way), {:.3f} s of it no more "
          "than noise of the same rounds",
          seconds(one.check_wan_one_way_nanos), seconds(one.hideable_check_wan_nanos));
  }
}

void Text::clusters() {
  if (report_.clusters.empty()) return;
  heading("Clusters in total, s", basis_of_one_clock);
  line("  {:<16} {:>6} {:>7} {:>11} {:>9} {:>11} {:>11} {:>8} {:>12} {:>13}", "cluster", "hosts",
       "threads", "computation", "noise", "join waits", "cache waits", "critical", "WAN messages",
       "WAN bytes");
  for (const ClusterReport& one : report_.clusters)
    line("  {:<16} {:>6} {:>7} {:>11.3f} {:>9.3f} {:>11.3f} {:>11.3f} {:>8} {:>12} {:>13}",
         one.name, one.hosts, one.threads, seconds(one.computation_nanos), seconds(one.noise_nanos),
         seconds(one.arrival_wait_nanos), seconds(one.cache_wait_nanos), one.critical_rounds,
         one.wan_messages, one.wan_payload_bytes);
}

void Text::threads() {
  if (report_.threads.empty()) return;
  heading("Computation, ms", basis_of_one_clock);
  line("  {:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>8} {:>9} {:>8}", "thread", "mean",
       "deviation", "median", "p99", "max", "noise %", "outliers", "period", "critical");
  table(
      report_.threads, [](const ThreadReport& thread) { return thread.critical_rounds; },
      [&](const ThreadReport& thread) {
        line("  {:<24} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>7.2f} {:>8} {:>9} {:>8}",
             thread.name, ms(thread.computation.mean), ms(thread.computation.deviation),
             ms(thread.computation.p50), ms(thread.computation.p99), ms(thread.computation.max),
             100 * thread.noise_share, thread.outliers,
             thread.periods.empty() ? "-" : fmt::format("{:.2f}", ms(thread.periods[0].nanos)),
             thread.critical_rounds);
      });
}

void Text::joins() {
  if (report_.joins.empty()) return;
  heading("Joins, ms: wait for the last arriver; departure after the result arrived",
          basis_of_one_clock);
  table(
      report_.joins, [](const JoinReport& join) { return join.departure_spread.mean; },
      [&](const JoinReport& join) {
        if (join.rounds == 0) {
          line("  {} on {}{}: no round with all arrivals", join.place.wrapper, join.place.host,
               at(join.place));
          return;
        }
        line("  {} on {}{}: {} rounds, departures spread over {:.3f} (p99 {:.3f})",
             join.place.wrapper, join.place.host, at(join.place), join.rounds,
             ms(join.departure_spread.mean), ms(join.departure_spread.p99));
        table(
            join.contributors, [](const auto& from) { return from.last; },
            [&](const auto& from) {
              line(
                  "    {:<24} last {:>5.1f}%  wait {:>9.3f} (p99 {:.3f})  departure {:>9.3f}, "
                  "first {:>5.1f}%, last {:>5.1f}%",
                  from.name, percent(from.last, join.rounds), ms(from.arrival_wait.mean),
                  ms(from.arrival_wait.p99), ms(from.departure_delay.mean),
                  percent(from.left_first, join.rounds), percent(from.left_last, join.rounds));
            });
      });
}

void Text::crossings() {
  if (report_.crossings.empty()) return;
  heading("Network, ms", "two-way: each side's own clock; one-way is half of it");
  table(
      report_.crossings, [](const CrossingReport& crossing) { return crossing.two_way.mean; },
      [&](const CrossingReport& crossing) {
        if (crossing.two_way.count == 0) {
          line("  {} to {}: two-way not known, {} messages{}", crossing.place.host,
               crossing.to_host, crossing.messages, crossing.is_wan ? ", WAN" : "");
          return;
        }
        line(
            "  {} to {}: mean {:.3f} deviation {:.3f} median {:.3f} p99 {:.3f}, one-way {:.3f}, {} "
            "messages{}",
            crossing.place.host, crossing.to_host, ms(crossing.two_way.mean),
            ms(crossing.two_way.deviation), ms(crossing.two_way.p50), ms(crossing.two_way.p99),
            ms(crossing.one_way_half_mean), crossing.messages, crossing.is_wan ? ", WAN" : "");
        if (crossing.down_one_way.count > 0)
          line("    by the common clock: down {:.3f} (p99 {:.3f}), up {:.3f} (p99 {:.3f})",
               ms(crossing.down_one_way.p50), ms(crossing.down_one_way.p99),
               ms(crossing.up_one_way.p50), ms(crossing.up_one_way.p99));
      });
}

void Text::links() {
  if (report_.links.empty()) return;
  heading("Links, ms one-way", basis_of_one_clock);
  table(
      report_.links, [](const LinkReport& link) { return link.travel.mean; },
      [&](const LinkReport& link) {
        if (link.travel.count == 0) {
          line("  {}{}: no messages", link.place.wrapper, at(link.place));
          return;
        }
        line("  {}{}: mean {:.3f} deviation {:.3f} median {:.3f} p99 {:.3f}{}{}",
             link.place.wrapper, at(link.place), ms(link.travel.mean), ms(link.travel.deviation),
             ms(link.travel.p50), ms(link.travel.p99),
             link.declared_nanos < 0 ? ""
                                     : fmt::format(", declared {:.3f}", ms(link.declared_nanos)),
             link.queued.count == 0 ? "" : fmt::format(", queued {:.3f}", ms(link.queued.mean)));
      });
}

void Text::paths() {
  if (report_.paths.empty()) return;
  heading("Paths, ms", "one host's own clock; network and WAN: two-way");
  table(
      report_.paths, [](const PathReport& path) { return path.total.mean; },
      [&](const PathReport& path) {
        line("  {} of {}, {}: {:.3f} of which network {:.3f}, WAN {:.3f} ({:.1f}%)", path.graph,
             path.host,
             path.threads == 0 ? fmt::format("prefetch from {}", path.to_cluster)
                               : fmt::format("{} threads", path.threads),
             ms(path.total.mean), ms(path.network_two_way.mean), ms(path.wan_two_way.mean),
             100 * path.wan_share);
      });
}

void Text::conditionals() {
  if (report_.conditionals.empty()) return;
  heading("Conditions: values of other clusters, ms",
          "one host's own clock; in flight or late: against half of the two-way");
  for (const ConditionalReport& one : report_.conditionals) conditional(one);
}

void Text::conditional(const ConditionalReport& one) {
  std::string needed;
  for (std::size_t values = 0; values < one.by_values_needed.size(); ++values)
    needed +=
        fmt::format("{}{}: {}", values == 0 ? "" : ", ", values, one.by_values_needed[values]);
  line(
      "  {} in {}{}: {} operations, by remote values needed {}; to decide {:.3f} (median {:.3f}, "
      "p99 {:.3f})",
      one.place.wrapper, one.place.cluster, at(one.place), one.operations, needed,
      ms(one.time_to_decide.mean), ms(one.time_to_decide.p50), ms(one.time_to_decide.p99));
  for (const auto& remote : one.remotes) {
    line(
        "    from {:<14} {} used: {} cached ({:.1f}%), {}; {} not needed; wait mean {:.3f} median "
        "{:.3f} p99 {:.3f}",
        remote.cluster, remote.reads, remote.cached, 100 * remote.cached_share,
        remote.one_way_half_nanos < 0
            ? fmt::format("{} came later", remote.reads - remote.cached)
            : fmt::format("{} in flight, {} late", remote.in_flight, remote.late),
        remote.unused, ms(remote.wait.mean), ms(remote.wait.p50), ms(remote.wait.p99));
    line("      arrived 1st, 2nd... in {} rounds", fmt::join(remote.by_place, ", "));
  }
  table(
      one.together, [](const auto& set) { return set.operations; },
      [&](const auto& set) {
        line("    needed together {}: {} operations, in {} of which all were cached",
             fmt::format("{}", fmt::join(set.clusters, ", ")), set.operations, set.all_cached);
      });
  if (one.other_together > 0) line("    other sets: {} operations", one.other_together);
}

}  // namespace

std::vector<std::string> notes_of(const Report& report) {
  const CoverageReport& all = report.coverage;
  std::vector<std::string> notes;
  const auto mention = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) notes.push_back(fmt::format("{} {}", count, what));
  };
  for (const HostReport& host : report.hosts)
    mention(host.missing_rounds, "rounds lack records of host " + host.name);
  for (const CriticalReport& tree : report.critical) {
    if (tree.incomplete_rounds + tree.failed_rounds == 0) continue;
    notes.push_back(fmt::format("{}{}{}: {} rounds, {} more incomplete, {} failed", tree.graph,
                                tree.cluster.empty() ? "" : " in ", tree.cluster, tree.rounds,
                                tree.incomplete_rounds, tree.failed_rounds));
  }
  mention(all.unknown, "not used: of no place in the plan");
  mention(all.repeated, "not used: there was one like it");
  mention(all.late, "not used: arrived after their round was dropped");
  mention(all.contradictory, "rounds left out: a result arrived before it was wanted");
  mention(all.without_computation, "operations after a gap, or that overlapped another one");
  mention(all.judged_early, "computations were judged before the end, by the earlier ones");
  return notes;
}

std::string text_without_findings(const Report& report) {
  const bool is_any =
      !report.groups.operations.empty() ||
      std::any_of(report.critical.begin(), report.critical.end(),
                  [](const CriticalReport& tree) { return tree.iteration.count > 0; });
  return is_any || (report.critical.empty() && report.coverage.operations > 0)
             ? "Nothing: every host, thread and link is like its equals."
             : "Nothing is known: no round has all its records.";
}

std::string to_text(const Report& report, std::size_t rows,
                    const std::vector<std::string>& losses) {
  return Text(report, rows).print(losses);
}

}  // namespace eventspace
