// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.cpp — detection of changes of level in a series, and of
// single long computations.
#include "eventspace/analysis/diagnosis/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Rows `from` to `to` - 1 of a series. The means of these rows differ no more than by chance.
struct Level {
  std::size_t from = 0;
  std::size_t to = 0;
  double mean = 0;
};

/// Returns the rows of a level from which its mean is computed, as a range. Leaves out the first
/// and the last row of a level that begins or ends during the run: a change can be in the middle of
/// such a row. `rows` is the number of rows of the series.
std::pair<std::size_t, std::size_t> inner_rows(std::size_t from, std::size_t to, std::size_t rows) {
  const std::size_t begin = from == 0 ? 0 : from + 1;
  const std::size_t end = to == rows ? to : to - 1;
  return begin < end ? std::pair(begin, end) : std::pair(from, to);
}

/// Divides a series into levels. It finds the consecutive rows whose mean differs most from the
/// mean of all other rows. It then divides these rows, and the rows before and after them, in the
/// same way, until chance explains the differences. A short burst in the middle is therefore found,
/// too.
/// Paper: Olshen, Venkatraman, Lucito and Wigler 2004 (circular binary segmentation).
class Levels {
 public:
  explicit Levels(const std::vector<Blocks::Row>& rows) {
    for (const Blocks::Row& row : rows) means_.push_back(row.sum / static_cast<double>(row.count));
    if (means_.size() < resampled_rows_least) return;
    limit_spikes();
    sums_.push_back(0);
    squares_.push_back(0);
    for (const double mean : means_) {
      sums_.push_back(sums_.back() + (mean - means_[0]));
      squares_.push_back(squares_.back() + (mean - means_[0]) * (mean - means_[0]));
    }
    split(0, means_.size());
  }
  const std::vector<Level>& all() const { return levels_; }
  /// Returns the residual of each row: the difference of the row from the mean of its level.
  /// Extreme rows are limited as in the search (limit_spikes()).
  BlockRows rest() const {
    BlockRows rest;
    for (const Level& level : levels_)
      for (std::size_t row = level.from; row < level.to; ++row)
        rest.push_back({means_[row] - level.mean, 1});
    return rest;
  }

 private:
  /// Replaces the most extreme values, about 2% at each end, by the most extreme value of the rest.
  /// Single spikes therefore do not look like a level.
  void limit_spikes() {
    std::vector<double> sorted = means_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t spikes = std::max<std::size_t>(1, sorted.size() / 50);
    for (double& mean : means_)
      mean = std::clamp(mean, sorted[spikes], sorted[sorted.size() - 1 - spikes]);
  }

  double mean_of(std::size_t from, std::size_t to) const {
    return means_[0] + (sums_[to] - sums_[from]) / static_cast<double>(to - from);
  }
  /// Returns the sum of the squared differences between the rows and their mean.
  double squares_of(std::size_t from, std::size_t to) const {
    const double sum = sums_[to] - sums_[from];
    return std::max(0.0,
                    squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from));
  }

  /// Rows `from` to `to` - 1, which may differ from the other rows of the part that is searched.
  struct Inside {
    std::size_t from = 0;
    std::size_t to = 0;
    double gain = 0;  // reduction of the sum of squares if these rows have a mean of their own
  };

  /// Divides the rows `from` to `to` - 1 into levels, or keeps them as one level. Looks for a
  /// change only in their inner_rows().
  void split(std::size_t from, std::size_t to) {
    const auto [begin, end] = inner_rows(from, to, means_.size());
    Inside inside;
    if (end >= begin + 2 * change_blocks) inside = find_inside(begin, end);
    if (inside.gain == 0 || !is_change(begin, inside, end)) {
      levels_.push_back({from, to, mean_of(begin, end)});
      return;
    }
    if (inside.from == begin) inside.from = from;
    if (inside.to == end) inside.to = to;
    if (from < inside.from) split(from, inside.from);
    split(inside.from, inside.to);
    if (inside.to < to) split(inside.to, to);
  }

  /// Returns the rows whose mean differs most from the mean of the other rows between `from` and
  /// `to`. A long part is first searched in steps of several rows, and then around the best rows.
  Inside find_inside(std::size_t from, std::size_t to) const {
    constexpr std::size_t steps = 64;
    const std::size_t step = std::max<std::size_t>(1, (to - from) / steps);
    Inside best;
    for (std::size_t begin = from; begin < to; begin += step)
      for (std::size_t end = begin + step; end < to + step; end += step)
        keep_better(from, {begin, std::min(end, to)}, to, best);
    const Inside rough = best;
    if (step == 1 || rough.gain == 0) return best;
    const auto near = [&](std::size_t row) {
      return std::pair(std::max(row, from + step) - step, std::min(row + step, to));
    };
    const auto [first_begin, last_begin] = near(rough.from);
    const auto [first_end, last_end] = near(rough.to);
    for (std::size_t begin = first_begin; begin <= last_begin; ++begin)
      for (std::size_t end = std::max(first_end, begin + 1); end <= last_end; ++end)
        keep_better(from, {begin, end}, to, best);
    return best;
  }

  /// Sets `best` to `inside` if that has a larger gain. Ignores `inside` if it, or one of the parts
  /// before and after it, has fewer than change_blocks rows.
  void keep_better(std::size_t from, Inside inside, std::size_t to, Inside& best) const {
    const auto is_too_short = [](std::size_t rows) { return rows > 0 && rows < change_blocks; };
    const std::size_t rows = inside.to - inside.from;
    if (rows == to - from || is_too_short(rows) || is_too_short(inside.from - from) ||
        is_too_short(to - inside.to))
      return;
    const auto total = static_cast<double>(to - from);
    const auto within = static_cast<double>(rows);
    const double sum = sums_[inside.to] - sums_[inside.from];
    const double difference = sum / within - (sums_[to] - sums_[from] - sum) / (total - within);
    inside.gain = within * (total - within) / total * difference * difference;
    if (inside.gain > best.gain) best = inside;
  }

  /// Whether the mean of the rows inside differs from that of the other rows by more than chance.
  bool is_change(std::size_t from, const Inside& inside, std::size_t to) const {
    const auto rows = static_cast<double>(to - from);
    const double variance = std::max(0.0, squares_of(from, to) - inside.gain) / (rows - 2);
    return inside.gain >= change_deviations * change_deviations * variance;
  }

  std::vector<double> means_;
  std::vector<double> sums_, squares_;  // prefix sums of mean - means_[0], and of its square
  std::vector<Level> levels_;
};

/// Part of a series of `rows` rows: the rows `from` to `to` - 1. Their level (`high`) is higher
/// than a neighbouring level (`low`).
struct Higher {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t rows = 0;
  double low = 0;
  double high = 0;
  std::size_t low_from = 0;  // `low` is the mean of the rows `low_from` to `low_to` - 1
  std::size_t low_to = 0;
  std::size_t comparison = 0;
  double ratio() const { return high / low; }
  bool is_like(const Higher& other) const {
    const auto near = [&](std::size_t a, std::size_t b) {
      return std::max(a, b) - std::min(a, b) <= std::max<std::size_t>(2, rows / 50);
    };
    return rows == other.rows && near(from, other.from) && near(to, other.to) &&
           std::abs((ratio() - 1) - (other.ratio() - 1)) <= 0.25 * std::abs(ratio() - 1);
  }
};

/// Returns the levels that are higher than at least one of their neighbours.
std::vector<Higher> higher_parts_of(const BlockRows& rows, const std::vector<Level>& all) {
  std::vector<Higher> higher;
  for (std::size_t place = 0; place < all.size() && all.size() > 1; ++place) {
    const Level* low = nullptr;
    for (const std::size_t other : {place - 1, place + 1})
      if (other < all.size() && (low == nullptr || all[other].mean < low->mean)) low = &all[other];
    if (low->mean >= all[place].mean || low->mean <= 0) continue;
    const auto [begin, end] = inner_rows(low->from, low->to, rows.size());
    higher.push_back(
        {all[place].from, all[place].to, rows.size(), low->mean, all[place].mean, begin, end});
  }
  return higher;
}

/// Returns the total time by which the computations or messages in `part` were longer than on the
/// lower level. `count` is the number of computations or messages in the whole run.
double lost_in(const Higher& part, std::uint64_t count) {
  return (part.high - part.low) * static_cast<double>(part.to - part.from) /
         static_cast<double>(part.rows) * static_cast<double>(count);
}

/// Compares the levels of a series, except the levels that cost too little to be named. `count` is
/// the number of computations or messages. The deviation of a level is estimated from the residuals
/// of all rows. Even the deviation of a level of a few rows is then known.
std::vector<Higher> compare_levels(const BlockRows& rows, std::uint64_t count,
                                   FindingSearch& search) {
  const Levels levels(rows);
  std::vector<Higher> parts = higher_parts_of(rows, levels.all());
  const double least =
      search.report().name_from_share * static_cast<double>(length_of_run(search.report().time));
  std::erase_if(parts, [&](const Higher& part) { return lost_in(part, count) < least; });
  if (parts.empty()) return parts;
  const MeanEstimate rest = search.comparisons().estimate_once(levels.rest());
  const auto level_of = [&](double mean, std::size_t level_rows) {
    const double of_all = static_cast<double>(rows.size()) / static_cast<double>(level_rows);
    return MeanEstimate{mean, rest.deviation * std::sqrt(of_all), rest.freedom};
  };
  for (Higher& part : parts) {
    const auto [begin, end] = inner_rows(part.from, part.to, part.rows);
    part.comparison = search.comparisons().add(level_of(part.high, end - begin),
                                               level_of(part.low, part.low_to - part.low_from),
                                               part.rows * part.rows / 2);
  }
  return parts;
}

struct ChangedThread {
  const ThreadReport* thread = nullptr;
  Higher part;
};

/// Returns the mean begin of the computations or messages in a row of `begins`. The time counts
/// from the begin of the run.
std::int64_t begin_of(const BlockRows& begins, std::size_t row, const Report& report) {
  const Blocks::Row& one = begins[std::min(row, begins.size() - 1)];
  return static_cast<std::int64_t>(one.sum / static_cast<double>(one.count)) -
         report.time.begin_nanos;
}

/// Returns a text that tells when a part of the run begins and ends, such as "until 2.500 s".
std::string times_of(const Higher& part, const BlockRows& begins, const Report& report) {
  const auto time_of = [&](std::size_t row) {
    return fmt::format("{:.3f} s", seconds(begin_of(begins, row, report)));
  };
  if (part.from == 0) return "until " + time_of(part.to);
  const std::string from = "from " + time_of(part.from);
  return part.to == part.rows ? from + " on" : from + " to " + time_of(part.to);
}

/// Returns a finding without its place and sentence. `count` is the number of computations or
/// messages in the whole run. The cost is an upper bound: it assumes that the run waited for each
/// computation or message.
Finding change_in(const Higher& part, std::uint64_t count, const FindingSearch& search) {
  Finding finding = finding_of(FindingKind::change, search.result(part.comparison), 0);
  finding.from_share = static_cast<double>(part.from) / static_cast<double>(part.rows);
  finding.to_share = static_cast<double>(part.to) / static_cast<double>(part.rows);
  finding.figure = (part.ratio() - 1) * 100;
  finding.unit = "percent";
  finding.cost_nanos = static_cast<std::int64_t>(lost_in(part, count));
  finding.lost_nanos = finding.cost_nanos;
  finding.basis = basis_of_one_clock;
  return finding;
}

Finding change_of(const std::vector<ChangedThread>& threads, const FindingSearch& search) {
  const Report& report = search.report();
  const ThreadReport& first = *threads.front().thread;
  const Higher& part = threads.front().part;
  std::vector<const ThreadReport*> all;
  for (const ChangedThread& one : threads) all.push_back(one.thread);
  Finding finding = change_in(part, first.computation.count, search);
  const std::string who =
      set_threads(finding, all) + (threads.size() == 1 ? " computes" : " compute");
  if (report.time.has_critical_path)
    finding.at_nanos = begin_of(first.block_begins, part.from, report);
  finding.sentence =
      fmt::format("{} {:.1f}% longer {} (mean {:.3f} ms against {:.3f} ms)", who, finding.figure,
                  times_of(part, first.block_begins, report), ms(part.high), ms(part.low));
  return finding;
}

Finding change_of(const LinkReport& link, const Higher& part, const FindingSearch& search) {
  const Report& report = search.report();
  Finding finding = change_in(part, link.travel.count, search);
  finding.place = link.place;
  finding.from = link.is_wan ? link.from_cluster : link.from_host;
  finding.to = link.is_wan ? link.to_cluster : link.to_host;
  if (report.time.has_critical_path)
    finding.at_nanos = begin_of(link.block_begins, part.from, report);
  finding.sentence = fmt::format(
      "link {} from {} to {} takes {:.1f}% longer {} (mean {:.3f} ms against {:.3f} ms)",
      link.place.wrapper, finding.from, finding.to, finding.figure,
      times_of(part, link.block_begins, report), ms(part.high), ms(part.low));
  return finding;
}

/// Whether a loss of `lost_nanos` is not much greater than the cost of changes that may explain it.
bool costs_no_more(std::int64_t lost_nanos, double cost_nanos) {
  constexpr double about = 1.25;
  return static_cast<double>(lost_nanos) <= about * cost_nanos;
}

/// Noise of a thread in some rows of its series.
struct NoiseInRows {
  double computations = 0;
  double outliers = 0;
  double nanos = 0;
  NoiseInRows(const ThreadReport& thread, std::size_t from, std::size_t to) {
    for (std::size_t row = from; row < std::min(to, thread.noise_blocks.size()); ++row) {
      computations += static_cast<double>(thread.noise_blocks[row].count);
      outliers += thread.outlier_blocks[row].sum;
      nanos += thread.noise_blocks[row].sum;
    }
  }
  double mean() const { return computations == 0 ? 0 : nanos / computations; }
};

/// Whether the rest of the run has events of noise that are as long as those in the part, within
/// 15%. They must be at least a fifth of all noise.
bool has_same_events_elsewhere(const ThreadReport& thread, const Higher& part,
                               const NoiseInRows& inside) {
  constexpr double same = 0.15;
  const NoiseInRows whole(thread, 0, part.rows), all_of_part(thread, part.from, part.to);
  const double nanos = whole.nanos - all_of_part.nanos;
  const double outliers = whole.outliers - all_of_part.outliers;
  if (nanos <= whole.nanos / 5 || outliers == 0) return false;
  const double event = inside.nanos / inside.outliers;
  return std::abs(nanos / outliers - event) <= same * event;
}

/// Whether noise explains that a thread computes longer in a part of the run. The part has more
/// noise than the part that it is compared with. And one of these is true:
/// - Fewer than half of its computations have noise.
/// - The rest of the run has the same events of noise, and no other thread computes longer in the
///   same part.
/// Noise whose period is near to a multiple of an iteration meets the computation for a long time,
/// and then a wait of the same thread for a long time. `all` has the longer parts of all threads.
bool is_uneven_noise(const ChangedThread& changed, const std::vector<ChangedThread>& all) {
  const ThreadReport& thread = *changed.thread;
  const Higher& part = changed.part;
  const auto [begin, end] = inner_rows(part.from, part.to, part.rows);
  const NoiseInRows inside(thread, begin, end);
  const double more = inside.mean() - NoiseInRows(thread, part.low_from, part.low_to).mean();
  if (more < (part.high - part.low) / 2) return false;
  if (inside.outliers < inside.computations / 2) return true;
  return has_same_events_elsewhere(thread, part, inside) &&
         std::none_of(all.begin(), all.end(), [&](const ChangedThread& other) {
           return other.thread != &thread && other.part.is_like(part);
         });
}

/// Whether a change of a thread explains its noise: the noise is as long as the change.
bool is_as_long_as_noise(const ChangedThread& changed) {
  const double more = changed.part.high - changed.part.low;
  return std::abs(static_cast<double>(changed.thread->noise_median_nanos) - more) <= more / 4;
}

/// Whether a change of a thread explains a finding of slowness: the slowness costs no more than the
/// change does.
bool explains(const ChangedThread& changed, const Finding& finding) {
  const ThreadReport& thread = *changed.thread;
  const bool is_enough =
      costs_no_more(finding.lost_nanos, lost_in(changed.part, thread.computation.count));
  switch (finding.kind) {
    case FindingKind::slow_thread:
      return is_enough && finding.thread == thread.name && finding.before == thread.graph &&
             finding.after == thread.after;
    case FindingKind::slow_host:
      return is_enough && finding.hosts.empty() && finding.place.host == thread.host;
    case FindingKind::slow_cluster: return is_enough && finding.place.cluster == thread.cluster;
    default: return false;
  }
}

/// Marks the noise of threads that all changes of the thread together explain.
void explain_noise(const std::vector<ChangedThread>& named, FindingSearch& search) {
  std::map<const ThreadReport*, double> lost;
  for (const ChangedThread& changed : named)
    lost[changed.thread] += lost_in(changed.part, changed.thread->computation.count);
  for (const ChangedThread& changed : named) {
    if (!costs_no_more(changed.thread->noise_nanos, lost[changed.thread])) continue;
    search.explain(*changed.thread);
    if (is_as_long_as_noise(changed)) search.note_change(*changed.thread);
  }
}

void name_changes(std::vector<ChangedThread> threads, FindingSearch& search,
                  std::vector<Finding>& found) {
  std::erase_if(threads, [&](const ChangedThread& changed) {
    return !search.result(changed.part.comparison).is_longer();
  });
  explain_noise(threads, search);
  std::vector<std::vector<ChangedThread>> groups;
  for (const ChangedThread& changed : threads) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const ThreadReport& other = *group.front().thread;
      return other.graph == changed.thread->graph && other.after == changed.thread->after &&
             group.front().part.is_like(changed.part);
    });
    if (same == groups.end())
      groups.push_back({changed});
    else
      same->push_back(changed);
  }
  for (const auto& group : groups) found.push_back(change_of(group, search));
}

}  // namespace

FindingSearch::AddFindings compare_levels(FindingSearch& search) {
  std::vector<ChangedThread> all, threads;
  for (const ThreadReport& thread : search.report().threads)
    for (const Higher& part : compare_levels(thread.blocks, thread.computation.count, search))
      all.push_back({&thread, part});
  std::copy_if(all.begin(), all.end(), std::back_inserter(threads),
               [&](const ChangedThread& one) { return !is_uneven_noise(one, all); });
  search.when_known(
      [&search, threads](std::vector<Finding>& found) { name_changes(threads, search, found); });
  for (const LinkReport& link : search.report().links)
    for (const Higher& part : compare_levels(link.blocks, link.travel.count, search))
      search.when_known([&search, &link, part](std::vector<Finding>& found) {
        if (search.result(part.comparison).is_longer())
          found.push_back(change_of(link, part, search));
      });
  return [&search, threads](std::vector<Finding>& found) {
    for (const ChangedThread& changed : threads)
      if (search.result(changed.part.comparison).is_longer())
        std::erase_if(found, [&](const Finding& one) { return explains(changed, one); });
  };
}

void find_stalls(const FindingSearch& search, std::vector<Finding>& found) {
  const Report& report = search.report();
  std::vector<std::vector<const ThreadReport*>> groups;
  for (const ThreadReport& thread : report.threads) {
    if (thread.outliers == 0 || thread.outliers >= period_outliers || search.is_explained(thread) ||
        !is_always_named(thread.noise_nanos, report))
      continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const ThreadReport& other = *group.front();
      // If the hosts have no common clock, times of different hosts cannot be compared.
      return (other.host == thread.host || report.time.has_critical_path) &&
             other.graph == thread.graph && other.after == thread.after &&
             thread.longest_begin_nanos < other.longest_begin_nanos + other.computation.max &&
             other.longest_begin_nanos < thread.longest_begin_nanos + thread.computation.max;
    });
    if (same == groups.end())
      groups.push_back({&thread});
    else
      same->push_back(&thread);
  }
  for (const auto& group : groups) {
    const ThreadReport& first = *group.front();
    Finding finding;
    finding.kind = FindingKind::stall;
    const std::string who = set_threads(finding, group);
    if (report.time.has_critical_path)
      finding.at_nanos = first.longest_begin_nanos - report.time.begin_nanos;
    finding.figure = static_cast<double>(first.noise_nanos);
    finding.unit = "nanoseconds";
    finding.cost_nanos = first.critical_noise_nanos;
    finding.lost_nanos = first.noise_nanos;
    finding.basis = basis_of_one_clock;
    finding.sentence = fmt::format(
        "{} computed {:.3f} ms at {:.3f} s instead of {:.3f} ms (median){}", who,
        ms(first.computation.max), seconds(first.longest_begin_nanos - report.time.begin_nanos),
        ms(first.base_nanos),
        first.outliers == 1 ? "" : fmt::format(", and was late {} times in all", first.outliers));
    found.push_back(std::move(finding));
  }
}

}  // namespace eventspace
