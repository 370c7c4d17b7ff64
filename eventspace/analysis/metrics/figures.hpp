// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/figures.hpp — figures of rounds: latencies, joins and critical paths.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/last_arrivals.hpp"
#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/significance.hpp"

namespace eventspace {

/// Facts about a round from which it is determined later whether noise delayed the round.
struct RoundNote {
  std::uint32_t critical_leaf = none;
  /// Two-way network time between clusters on the path of the critical thread. The critical thread
  /// is the thread of critical_leaf, for which the round waited.
  std::int64_t wan_nanos = 0;
  /// Lead of the critical thread: the time from the second to last arrival to the arrival of this
  /// thread. If the thread had arrived earlier by more than its lead, the round would have waited
  /// for another thread.
  std::int64_t lead_nanos = 0;
  /// Sequence of the complete round with which this round was counted. A complete round has its own
  /// sequence here. A round to which wrappers of the kind `periodic` replied has the sequence of
  /// another round.
  std::uint64_t complete = 0;
};

/// Notes on rounds, indexed by sequence. They are stored in pages, so that a wrong sequence costs
/// the memory of only one page. Notes beyond `pages_max` pages are dropped.
template <typename Note>
class Notes {
 public:
  Note& at(std::uint64_t sequence) {
    if (pages_.size() >= pages_max && !pages_.contains(sequence / page_size))
      return not_kept_ = Note{};
    auto& page = pages_[sequence / page_size];
    if (page.empty()) page.resize(page_size);
    return page[sequence % page_size];
  }
  const Note* find(std::uint64_t sequence) const {
    const auto page = pages_.find(sequence / page_size);
    return page == pages_.end() ? nullptr : &page->second[sequence % page_size];
  }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [number, page] : pages_)
      for (std::size_t place = 0; place < page.size(); ++place)
        visit(number * page_size + place, page[place]);
  }

 private:
  static constexpr std::uint64_t page_size = 1024;
  static constexpr std::size_t pages_max = 4096;
  std::unordered_map<std::uint64_t, std::vector<Note>> pages_;
  Note not_kept_;
};

/// Returns the cause of the time that a critical path spends in a hop (Bongo et al. 2004, §VI-B). A
/// hop is the wrappers between two event collectors (wrappers that record operations).
Cause cause_of(const Hop& hop);

/// Computes the latencies, joins and critical paths of rounds, one round at a time.
class Figures {
 public:
  Figures(const Shape& shape, std::size_t exact_max, bool has_common_clock);
  void add(const Round& round);
  void add_link(const EventRecord& record);

  /// Reports joins, crossings, links, stages, paths and critical paths. `noise` contains the
  /// nanoseconds of noise in the critical computations of each leaf (begin of a path).
  void report(Report& report, const std::vector<std::int64_t>& noise) const;

  const RoundNote* note(std::uint32_t tree, std::uint64_t sequence) const {
    return trees_[tree].notes.find(sequence);
  }
  template <typename Visit>
  void for_each_note(std::uint32_t tree, const Visit& visit) const {
    trees_[tree].notes.for_each(visit);
  }
  Summary path_network(std::uint32_t path) const { return paths_[path].network.summary(); }
  Summary path_one_way(std::uint32_t path) const { return paths_[path].one_way.summary(); }
  std::uint64_t critical_rounds(std::uint32_t leaf) const { return critical_leaves_[leaf].rounds; }
  std::uint64_t critical_iterations(std::uint32_t leaf) const {
    return critical_leaves_[leaf].iterations;
  }
  std::int64_t critical_computation(std::uint32_t leaf) const {
    return critical_leaves_[leaf].nanos;
  }
  std::uint64_t contradictory() const { return contradictory_; }
  std::uint64_t incomplete_rounds_of(std::uint32_t host) const { return missing_[host]; }

 private:
  class Reporting;
  struct Total {
    std::int64_t nanos = 0;
    std::uint64_t rounds = 0;
    // Number of iterations, for threads only. Includes iterations to which a wrapper of the kind
    // `periodic` replied.
    std::uint64_t iterations = 0;
  };
  struct HopFigures {
    explicit HopFigures(std::size_t exact) : down(exact), up(exact), both(exact) {}
    Distribution down, up, both;
    Blocks travel;         // travel times of a link; two-way times of a crossing
    Blocks travel_begins;  // times at which the messages of a link began to travel
    std::uint64_t messages = 0;
    std::uint64_t payload_bytes = 0;
    Total critical;
  };
  struct ContributorFigures {
    explicit ContributorFigures(std::size_t exact) : wait(exact), departure(exact) {}
    Distribution wait, departure;
    Blocks waits;
    std::uint64_t last = 0;
    std::uint64_t left_first = 0;
    std::uint64_t left_last = 0;
    std::uint64_t latest_reply = 0;
  };
  struct JoinFigures {
    explicit JoinFigures(std::size_t exact) : through(exact), below(exact), spread(exact) {}
    Distribution through, below, spread;
    Blocks spreads;
    Blocks lateness;  // delay of each round's latest reply if that reply is late; otherwise 0
    std::vector<ContributorFigures> contributors;
    std::uint64_t rounds = 0;
    std::uint64_t late_replies = 0;
    std::int64_t late_reply_nanos = 0;
    Total critical;
    Total critical_late_replies;
    bool is_reply_late = false;  // whether the current round had a late reply
  };
  struct PathFigures {
    explicit PathFigures(std::size_t exact)
        : total(exact), network(exact), wan(exact), one_way(exact) {}
    Distribution total, network, wan;
    Distribution one_way;  // one-way times; only for pushes
  };
  struct LinkFigures {
    explicit LinkFigures(std::size_t exact) : travel(exact), queued(exact) {}
    Distribution travel, queued;
    Blocks travels, travel_begins;
    std::uint64_t payload_bytes = 0;
  };
  struct TreeFigures {
    explicit TreeFigures(std::size_t exact)
        : iteration(exact), computation(exact), communication(exact) {}
    void add_iteration(const Pass& pass, const std::array<std::int64_t, causes>& causes_of_pass);
    Distribution iteration, computation, communication;
    Blocks iterations;
    std::array<Blocks, causes> causes_of_rounds;
    std::uint64_t complete = 0;
    std::uint64_t incomplete = 0;
    std::uint64_t failed = 0;
    std::uint64_t answered = 0;
    RoundNote latest;  // note on the latest complete round
    std::array<std::int64_t, causes> by_cause = {};
    Notes<RoundNote> notes;
  };
  // Network time between a collector and the end of the path, in total and between clusters.
  struct OnTheWay {
    std::int64_t network = 0;
    std::int64_t wan = 0;
  };

  void add_hops(const Round& round);
  void add_hop(const Round& round, const Hop& hop, HopFigures& figures, const Pass& here,
               const Pass* below);
  OnTheWay way_of(const Probe& probe, const Hop& hop, const Pass& here, const Pass* below,
                  bool is_one_way) const;
  void add_paths(const Round& round);
  void add_join(const Round& round, std::uint32_t number);
  void add_through(const Round& round, std::uint32_t number);
  void add_departures(const Round& round, std::uint32_t number);
  void add_critical(const Round& round);
  Cause add_critical_hop(std::uint32_t probe, std::int64_t nanos);
  void add_critical_reply(std::uint32_t probe, std::int64_t nanos);
  void add_answered(const Round& round);
  void count_missing(const Round& round);

  const Shape& shape_;
  std::vector<HopFigures> hops_;
  std::vector<std::uint32_t> tree_of_hop_;
  std::vector<JoinFigures> joins_;
  std::vector<PathFigures> paths_;
  std::vector<TreeFigures> trees_;
  std::vector<Total> critical_leaves_;
  std::unordered_map<std::uint32_t, LinkFigures> links_;  // keyed by the link's wrapper
  std::vector<std::uint64_t> missing_;  // number of incomplete rounds of each host
  std::size_t exact_max_;
  const bool has_common_clock_;
  std::uint64_t contradictory_ = 0;
  // State of the current round.
  std::vector<OnTheWay> on_the_way_;  // network times, indexed by Probe::place
  LastArrivals arrivals_;
};

}  // namespace eventspace
