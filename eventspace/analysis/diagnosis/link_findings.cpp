// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/link_findings.cpp — detection of slow links and networks, and of
// results that are held back.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

constexpr const char* two_way_basis = "two-way: each side's own clock";

/// Reference for the travel time of a link, and the number of the comparison with it.
struct Reference {
  std::size_t comparison = 0;
  std::string what;  ///< text that names the reference
};

void name_slow_link(const LinkReport& link, const Compared& compared, const std::string& what,
                    std::vector<Finding>& found) {
  Finding finding = finding_of(FindingKind::slow_link, compared, link.travel.count);
  finding.place = link.place;
  finding.from = link.is_wan ? link.from_cluster : link.from_host;
  finding.to = link.is_wan ? link.to_cluster : link.to_host;
  finding.figure = ratio(compared.nanos, compared.usual_nanos);
  finding.unit = "times";
  finding.cost_nanos = lost_in(compared, link.critical_rounds);
  finding.basis = basis_of_one_clock;
  finding.sentence = fmt::format(
      "link {} from {} to {} takes {:.2f} times as long as {} (mean {:.3f} ms against {:.3f} ms)",
      link.place.wrapper, finding.from, finding.to, finding.figure, what, ms(compared.nanos),
      ms(compared.usual_nanos));
  found.push_back(std::move(finding));
}

/// Compares the travel times of links. The comparisons leave out the time to transmit a message at
/// the link's bandwidth, because messages differ in size.
class LinkComparisons {
 public:
  explicit LinkComparisons(FindingSearch& search) : search_(search) {}

  void compare(const LinkReport& link) {
    std::vector<Reference> references;
    if (link.declared_nanos > 0) {
      const double expected = static_cast<double>(link.declared_nanos) + link.transmission_nanos;
      references.push_back(
          {search_.comparisons().add(link.blocks, expected), "what it is declared as"});
    }
    std::vector<const LinkReport*> like;
    std::vector<double> like_nanos;
    for (const LinkReport& other : search_.report().links) {
      if (&other == &link || other.travel.count == 0 || other.is_wan != link.is_wan) continue;
      const bool is_back = link.is_wan && other.from_cluster == link.to_cluster &&
                           other.to_cluster == link.from_cluster;
      if (is_back) add(link, other, other.place.wrapper + ", the way back", references);
      if (!link.is_wan && other.from_cluster != link.from_cluster) continue;
      like.push_back(&other);
      like_nanos.push_back(other.travel.mean - other.transmission_nanos);
    }
    if (const auto middle = middle_of_alike(like_nanos))
      add(link, *like[*middle],
          link.is_wan ? "the other links between clusters" : "the other links there", references);
    search_.when_known([this_search = &search_, &link, references](std::vector<Finding>& found) {
      for (const Reference& one : references) {
        const Compared& compared = this_search->result(one.comparison);
        if (!compared.is_longer()) continue;
        name_slow_link(link, compared, one.what, found);
        return;
      }
    });
  }

 private:
  void add(const LinkReport& link, const LinkReport& other, std::string what,
           std::vector<Reference>& references) {
    Comparisons& all = search_.comparisons();
    if (std::min(link.blocks.size(), other.blocks.size()) < resampled_rows_least) return;
    MeanEstimate usual = all.estimate_of(other.blocks);
    usual.mean += link.transmission_nanos - other.transmission_nanos;
    references.push_back({all.add(all.estimate_of(link.blocks), usual, 1), std::move(what)});
  }

  FindingSearch& search_;
};

void name_slow_network(const CrossingReport& crossing, const Compared& compared,
                       std::vector<Finding>& found) {
  if (!compared.is_longer()) return;
  Finding finding = finding_of(FindingKind::slow_network, compared, crossing.two_way.count);
  finding.place = crossing.place;
  finding.from = crossing.is_wan ? crossing.place.cluster : crossing.place.host;
  finding.to = crossing.is_wan ? crossing.to_cluster : crossing.to_host;
  finding.figure = ratio(compared.nanos, compared.usual_nanos);
  finding.unit = "times";
  finding.cost_nanos = lost_in(compared, crossing.critical_rounds);
  finding.basis = two_way_basis;
  finding.sentence = fmt::format(
      "from {} to {} and back takes {:.2f} times as long as between other hosts of {} and {} "
      "(two-way mean {:.3f} ms against {:.3f} ms)",
      crossing.place.host, crossing.to_host, finding.figure, crossing.place.cluster,
      crossing.to_cluster, ms(compared.nanos), ms(compared.usual_nanos));
  found.push_back(std::move(finding));
}

/// Adds a finding for each link that delays replies. A link that is on several paths is reported
/// once.
void find_holds(const Report& report, std::vector<Finding>& found) {
  struct Hold {
    const StageReport* stage = nullptr;
    std::int64_t nanos = 0;
    std::int64_t lost_nanos = 0;
    std::uint64_t rounds = 0;
  };
  std::map<std::string_view, Hold> holds;
  for (const StageReport& stage : report.stages) {
    if (!stage.is_hold || stage.up.p50 <= 0) continue;
    Hold& hold = holds[stage.place.wrapper];
    if (hold.stage == nullptr) hold.stage = &stage;
    add_to(hold.nanos, stage.critical_nanos);
    add_to(hold.lost_nanos,
           static_cast<std::int64_t>(stage.up.mean * static_cast<double>(stage.up.count)));
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
    finding.lost_nanos = hold.lost_nanos;
    finding.basis = basis_of_one_clock;
    finding.sentence = fmt::format(
        "{} on {} holds each result back for {:.3f} ms (median) before it is passed on; all waited "
        "for it in {} rounds",
        place.wrapper, place.host, ms(finding.figure), hold.rounds);
    found.push_back(std::move(finding));
  }
}

/// Names late replies that are not chance, or that took so much time that they are always named.
void name_late_replies(const JoinReport& join, const Compared& compared, const Report& report,
                       std::vector<Finding>& found) {
  if (join.late_replies == 0) return;
  if (!compared.is_longer() && !is_always_named(join.late_reply_nanos, report)) return;
  Finding finding = finding_of(FindingKind::late_broadcast, compared, join.rounds);
  finding.place = join.place;
  finding.figure =
      static_cast<double>(join.late_reply_nanos) / static_cast<double>(join.late_replies);
  finding.unit = "nanoseconds";
  finding.cost_nanos = join.critical_late_reply_nanos;
  finding.basis = basis_of_one_clock;
  finding.sentence = fmt::format(
      "{} on {} woke its own threads before it replied to other hosts: in {} of {} rounds the "
      "last reply (mostly to {}) left {:.3f} ms after the result (mean); all waited in {} rounds",
      join.place.wrapper, join.place.host, join.late_replies, join.rounds, join.latest_reply_to,
      ms(finding.figure), join.critical_late_replies);
  found.push_back(std::move(finding));
}

}  // namespace

void compare_links(FindingSearch& search) {
  LinkComparisons links(search);
  for (const LinkReport& link : search.report().links)
    if (link.travel.count > 0) links.compare(link);
}

void compare_networks(FindingSearch& search) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const CrossingReport*>> alike;
  for (const CrossingReport& crossing : search.report().crossings)
    if (crossing.two_way.count > 0)
      alike[{crossing.place.cluster, crossing.to_cluster}].push_back(&crossing);
  for (const auto& [clusters, crossings] : alike)
    for (const CrossingReport* crossing : crossings) {
      std::vector<const CrossingReport*> others;
      std::vector<double> nanos;
      for (const CrossingReport* other : crossings) {
        if (other == crossing) continue;
        others.push_back(other);
        nanos.push_back(other->two_way.mean);
      }
      const auto middle = middle_of_alike(nanos);
      if (!middle) continue;
      const std::size_t comparison =
          search.comparisons().add(crossing->blocks, others[*middle]->blocks);
      search.when_known([&search, crossing, comparison](std::vector<Finding>& found) {
        name_slow_network(*crossing, search.result(comparison), found);
      });
    }
}

void compare_replies(FindingSearch& search) {
  for (const JoinReport& join : search.report().joins) {
    const std::size_t comparison = search.comparisons().add(join.lateness_blocks, 0.0);
    search.when_known([&search, &join, comparison](std::vector<Finding>& found) {
      name_late_replies(join, search.result(comparison), search.report(), found);
    });
  }
  search.when_known([&search](std::vector<Finding>& found) { find_holds(search.report(), found); });
}

}  // namespace eventspace
