// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/timeline.cpp — choice of iterations, and steps of the critical
// path.
#include "eventspace/analysis/attribution/timeline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "eventspace/analysis/attribution/division.hpp"

namespace eventspace {
namespace {

using TimelinePart = TimelineReport::Part;
using TimelineStep = TimelineReport::Step;

// A piece is an iteration, or a part of a run without iterations. A piece is important if it
// contains one of the first `findings_kept` findings, or is one of the `longest_kept` longest
// pieces. `pieces_around` pieces before and after each important piece are also kept.
constexpr std::size_t pieces_around = 2;
constexpr std::size_t findings_kept = 16;
constexpr std::size_t longest_kept = 12;
// Number of pieces into which a run without iterations is divided.
constexpr std::size_t pieces_without_iterations = 256;

/// Assigns numbers to the labels of a timeline: rows of operation, cause and place.
class TimelineLabels {
 public:
  explicit TimelineLabels(const Moments& moments) : moments_(moments) {}
  std::uint32_t number_of(const ThreadPart& part) {
    return number_of({false, part.name, part.label.cause, part.label.one, part.label.other}, part);
  }
  std::uint32_t number_of(const Segment& segment) {
    const TimeLabel& label = segment.label;
    return number_of({true, moments_.name_at(segment.moment), label.cause, label.one, label.other},
                     segment);
  }
  std::vector<TimeRow> take() { return std::move(rows_); }

 private:
  using Key = std::tuple<bool, std::uint32_t, TimeCause, std::uint32_t, std::uint32_t>;
  template <typename Piece>
  std::uint32_t number_of(const Key& key, const Piece& piece) {
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    TimeRow row = row_of(piece, moments_);
    const auto [found, is_new] = numbers_of_rows_.try_emplace(
        {row.operation, row.cause, row.where}, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) rows_.push_back(std::move(row));
    return numbers_[key] = found->second;
  }

  const Moments& moments_;
  std::vector<TimeRow> rows_;
  std::map<Key, std::uint32_t> numbers_;
  std::map<std::tuple<std::string, TimeCause, std::string>, std::uint32_t> numbers_of_rows_;
};

/// Appends a part. If the last part has the same label and thread, makes that last part longer
/// instead.
void append_part(std::vector<TimelinePart>& parts, const TimelinePart& part) {
  if (part.nanos <= 0) return;
  if (!parts.empty() && parts.back().label == part.label && parts.back().thread == part.thread)
    parts.back().nanos += part.nanos;
  else
    parts.push_back(part);
}

class TimelineMaker {
 public:
  TimelineMaker(const Bindings& bindings, const Report& report, std::size_t parts_max)
      : bindings_(bindings),
        moments_(bindings.moments()),
        report_(report),
        labels_(moments_),
        parts_left_(parts_max) {
    find_origins();
  }

  TimelineReport make() {
    if (timeline_.nanos <= 0) return {};
    add_iterations();
    divide_run();
    choose_pieces();
    add_stretches();
    if (timeline_.has_common_clock) follow_path();
    timeline_.labels = labels_.take();
    return std::move(timeline_);
  }

 private:
  std::int64_t origin_of(std::uint32_t thread) const {
    return origins_[moments_.structure().host_of_thread(thread)];
  }

  /// Finds the time 0 of the timeline. It is the begin of the run. If the hosts have no common
  /// clock, it is the begin of the first thread of each host.
  void find_origins() {
    const TimeReport& time = report_.time;
    timeline_.has_common_clock = time.has_critical_path;
    timeline_.nanos = time.has_critical_path ? time.run_nanos : 0;
    origins_.assign(moments_.structure().hosts.size(), time.begin_nanos);
    if (time.has_critical_path) return;
    std::vector<bool> has_begun(origins_.size(), false);
    for (const bool is_begin : {true, false})
      for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
        const ThreadLife& life = moments_.life_of(thread);
        if (!life.has_begun && moments_.operations_of(thread).empty()) continue;
        const std::uint32_t host = moments_.structure().host_of_thread(thread);
        if (is_begin && (!has_begun[host] || life.begin_nanos < origins_[host]))
          origins_[host] = life.begin_nanos;
        has_begun[host] = true;
        const std::int64_t end = moments_.time_of({Moment::Kind::thread_end, thread});
        if (!is_begin) timeline_.nanos = std::max(timeline_.nanos, end - origins_[host]);
      }
  }

  void add_iterations() {
    const std::vector<std::int64_t>& ends = report_.time.iterations.ends;
    if (!timeline_.has_common_clock || ends.empty()) return;
    timeline_.first_iteration_nanos = report_.time.iterations.beginning_nanos;
    timeline_.iterations_in_each = (ends.size() + timeline_iterations - 1) / timeline_iterations;
    for (std::size_t place = timeline_.iterations_in_each - 1; place < ends.size();
         place += timeline_.iterations_in_each)
      timeline_.iteration_ends.push_back(ends[place] - report_.time.begin_nanos);
  }

  /// Divides the run into its iterations, or into pieces of equal length.
  void divide_run() {
    begins_.push_back(0);
    const auto add = [&](std::int64_t at) {
      if (at > begins_.back() && at < timeline_.nanos) begins_.push_back(at);
    };
    if (timeline_.iteration_ends.empty()) {
      const std::int64_t length = timeline_.nanos / pieces_without_iterations + 1;
      for (std::size_t piece = 1; piece < pieces_without_iterations; ++piece)
        add(length * static_cast<std::int64_t>(piece));
    } else {
      add(timeline_.first_iteration_nanos);
      for (const std::int64_t end : timeline_.iteration_ends) add(end);
    }
    pieces_.resize(begins_.size());
    operations_.assign(begins_.size(), moments_.threads());
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread)
      for (const ThreadOperation& one : moments_.operations_of(thread))
        operations_[piece_at(one.down_nanos - origin_of(thread))] += 2;
  }
  std::size_t piece_at(std::int64_t nanos) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), nanos);
    return after == begins_.begin() ? 0 : static_cast<std::size_t>(after - begins_.begin() - 1);
  }
  std::int64_t end_of(std::size_t piece) const {
    return piece + 1 < begins_.size() ? begins_[piece + 1] : timeline_.nanos;
  }

  void choose_pieces() {
    const std::size_t for_first = parts_left_ / 2;
    const auto take_around = [&](std::size_t piece) {
      const std::size_t from = piece > pieces_around ? piece - pieces_around : 0;
      for (std::size_t one = from; one <= std::min(piece + pieces_around, begins_.size() - 1);
           ++one)
        if (parts_left_ > for_first) take(one);
    };
    for (std::size_t place = 0; place < std::min(findings_kept, report_.findings.size()); ++place)
      if (report_.findings[place].at_nanos >= 0)
        take_around(piece_at(report_.findings[place].at_nanos));
    std::vector<std::size_t> longest(begins_.size());
    std::iota(longest.begin(), longest.end(), std::size_t{0});
    const auto length = [&](std::size_t piece) { return end_of(piece) - begins_[piece]; };
    std::stable_sort(longest.begin(), longest.end(),
                     [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
    longest.resize(std::min(longest_kept, longest.size()));
    for (const std::size_t piece : longest) take_around(piece);
    for (std::size_t piece = 0; piece < begins_.size() && take(piece);) ++piece;
  }

  /// Keeps the parts of a piece. Returns false if there is no room for these parts.
  bool take(std::size_t piece) {
    if (!pieces_[piece].empty()) return true;
    if (operations_[piece] > parts_left_) return false;
    pieces_[piece].resize(moments_.threads());
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
      pieces_[piece][thread] = parts_of(thread, begins_[piece], end_of(piece));
      parts_left_ -= std::min(parts_left_, pieces_[piece][thread].size());
    }
    return true;
  }

  std::vector<TimelinePart> parts_of(std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    std::vector<TimelinePart> parts;
    const std::int64_t origin = origin_of(thread);
    const ThreadLife& life = moments_.life_of(thread);
    if (!life.has_begun && moments_.operations_of(thread).empty()) return parts;
    std::vector<ThreadPart> divided;
    divide_thread(bindings_, thread, origin + begin, origin + end,
                  [&](const ThreadPart& part) { divided.push_back(part); });
    std::stable_sort(divided.begin(), divided.end(), [](const ThreadPart& a, const ThreadPart& b) {
      return a.begin_nanos < b.begin_nanos;
    });
    std::int64_t at = origin + begin;
    for (const ThreadPart& part : divided) {
      append_part(parts, {TimelineReport::nothing, TimelineReport::nothing, part.begin_nanos - at});
      const bool is_other = is_of_thread(part.label.cause) && part.label.one != thread;
      append_part(parts, {labels_.number_of(part),
                          is_other ? part.label.one : TimelineReport::nothing, part.nanos()});
      at = part.end_nanos;
    }
    return parts;
  }

  void add_stretches() {
    std::vector<std::int64_t> kept(moments_.threads());  // each thread's time in the stretch so far
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      if (pieces_[piece].empty()) continue;
      if (piece == 0 || pieces_[piece - 1].empty()) {
        timeline_.stretches.push_back({begins_[piece], begins_[piece], {}});
        timeline_.stretches.back().threads.resize(moments_.threads());
        std::fill(kept.begin(), kept.end(), 0);
      }
      TimelineReport::Stretch& stretch = timeline_.stretches.back();
      for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
        const auto append = [&](const TimelinePart& part) {
          append_part(stretch.threads[thread], part);
          kept[thread] += std::max<std::int64_t>(part.nanos, 0);
        };
        append({TimelineReport::nothing, TimelineReport::nothing,
                begins_[piece] - stretch.begin_nanos - kept[thread]});
        for (const TimelinePart& part : pieces_[piece][thread]) append(part);
      }
      stretch.end_nanos = end_of(piece);
    }
  }

  void follow_path();
  void add_share(const Segment& segment);
  void add_steps(std::vector<Segment>& segments, std::uint32_t from, std::uint32_t to);
  void add_step(const Segment& segment, std::uint32_t from, std::uint32_t to);
  bool is_kept(std::int64_t begin, std::int64_t end) const {
    return std::any_of(
        timeline_.stretches.begin(), timeline_.stretches.end(),
        [&](const auto& one) { return begin < one.end_nanos && end > one.begin_nanos; });
  }

  const Bindings& bindings_;
  const Moments& moments_;
  const Report& report_;
  TimelineLabels labels_;
  std::size_t parts_left_;
  TimelineReport timeline_;
  std::vector<std::int64_t> origins_;    // time 0 of each host's timeline
  std::vector<std::int64_t> begins_;     // time at which each piece of the run begins
  std::vector<std::size_t> operations_;  // estimated number of parts in each piece
  std::vector<std::vector<std::vector<TimelinePart>>>
      pieces_;  // parts of each piece and thread; empty if not kept
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> shares_;
};

/// Follows the critical path backwards, and makes its steps. A step that leads from one thread to
/// another thread consists of the segments between a moment of the first thread and a moment of the
/// second thread.
void TimelineMaker::follow_path() {
  const std::uint32_t last = last_thread_of(moments_);
  const Moment end{Moment::Kind::thread_end, last};
  std::size_t count = 0;
  walk_back(bindings_, end, report_.time.begin_nanos, [&](const Segment& segment) {
    ++count;
    add_share(segment);
  });
  for (const auto& [key, nanos] : shares_)
    timeline_.shares.push_back({key.first, key.second, nanos});
  timeline_.has_whole_path = count <= timeline_steps;
  std::uint32_t after = last;
  std::vector<Segment> segments;
  const auto arrive_at = [&](std::uint32_t thread) {
    if (thread == none) return;
    add_steps(segments, thread, after);
    after = thread;
  };
  Moment moment;               // moment at which the latest segments end
  std::uint32_t begin = none;  // thread at the begin of the latest segments
  walk_back(bindings_, end, report_.time.begin_nanos, [&](const Segment& segment) {
    const bool is_computing = is_of_thread(segment.label.cause);
    if (segment.moment != moment) {
      arrive_at(begin);
      arrive_at(is_computing ? segment.label.one : moments_.thread_of(segment.moment));
    }
    segments.push_back(segment);
    moment = segment.moment;
    begin = is_computing ? segment.label.one : moments_.thread_of(segment.before);
  });
  arrive_at(begin);
  add_steps(segments, after, after);
  std::stable_sort(
      timeline_.path.begin(), timeline_.path.end(),
      [](const TimelineStep& a, const TimelineStep& b) { return a.begin_nanos < b.begin_nanos; });
  std::vector<TimelineStep> merged;
  for (const TimelineStep& step : timeline_.path) {
    const bool is_same =
        !merged.empty() &&
        std::tie(merged.back().label, merged.back().from_thread, merged.back().to_thread) ==
            std::tie(step.label, step.from_thread, step.to_thread) &&
        merged.back().begin_nanos + merged.back().nanos == step.begin_nanos;
    if (is_same)
      merged.back().nanos += step.nanos;
    else
      merged.push_back(step);
  }
  timeline_.path = std::move(merged);
}

void TimelineMaker::add_share(const Segment& segment) {
  const std::uint32_t label = labels_.number_of(segment);
  const std::int64_t length = timeline_.nanos / static_cast<std::int64_t>(timeline_blocks) + 1;
  std::int64_t at = segment.begin_nanos - report_.time.begin_nanos;
  const std::int64_t end = segment.end_nanos - report_.time.begin_nanos;
  while (at < end) {
    const std::int64_t block = at / length;
    const std::int64_t until = std::min(end, (block + 1) * length);
    shares_[{static_cast<std::uint32_t>(block), label}] += until - at;
    at = until;
  }
}

/// Converts `segments` into steps, and clears `segments`. They lead from a moment of the thread
/// `from` to a moment of the thread `to`. The path may pass other hosts between the two threads.
/// The first thread of such a host stands for the host; a host without threads counts as part of a
/// message.
void TimelineMaker::add_steps(std::vector<Segment>& segments, std::uint32_t from,
                              std::uint32_t to) {
  std::stable_sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return a.begin_nanos < b.begin_nanos;
  });
  const Structure& structure = moments_.structure();
  const auto thread_at = [&](Moment moment, std::uint32_t otherwise) {
    const std::uint32_t host = moment ? moments_.host_of(moment) : none;
    if (host == none || host == structure.host_of_thread(otherwise)) return otherwise;
    if (host == structure.host_of_thread(to)) return to;
    return structure.hosts[host].threads > 0 ? structure.hosts[host].first_thread : none;
  };
  std::uint32_t at = from;
  std::size_t first = 0;  // first segment that is in no step yet
  const auto arrive = [&](std::size_t end, std::uint32_t there) {
    for (; first < end; ++first) add_step(segments[first], at, there);
    at = there;
  };
  for (std::size_t place = 0; place < segments.size(); ++place) {
    const Segment& one = segments[place];
    // A host that emulates a link delays the message. The delay counts as part of the message's
    // step.
    if (is_of_link(one.label.cause)) continue;
    const std::uint32_t begin = thread_at(one.before, at);
    if (begin != none) arrive(place, begin);
    const std::uint32_t end = thread_at(one.moment, at);
    if (end != none) arrive(place + 1, end);
  }
  arrive(segments.size(), to);
  segments.clear();
}

void TimelineMaker::add_step(const Segment& segment, std::uint32_t from, std::uint32_t to) {
  const std::int64_t begin = segment.begin_nanos - report_.time.begin_nanos;
  if (timeline_.has_whole_path || is_kept(begin, begin + segment.nanos()))
    timeline_.path.push_back({begin, segment.nanos(), labels_.number_of(segment), from, to});
}

}  // namespace

TimelineReport timeline_of(const Bindings& bindings, const Report& report, std::size_t parts) {
  return TimelineMaker(bindings, report, parts).make();
}

}  // namespace eventspace
