// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.cpp — detection of changes of level in a series, and of
// single long computations.
#include "eventspace/analysis/diagnosis/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/metrics/computation.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

constexpr std::size_t least_rows = 16;
constexpr const char* own_clock = "one host's own clock";

/// Rows `from` to `to` - 1 of a series, which have one level: their means do not differ more than
/// by chance.
struct Level {
  std::size_t from = 0;
  std::size_t to = 0;
  double mean = 0;
};

/// Divides a series into levels by binary segmentation. It splits the series at the row with the
/// largest difference between the means before and after. Then it splits both parts, until chance
/// explains the differences.
class Levels {
 public:
  explicit Levels(const std::vector<Blocks::Row>& rows) {
    for (const Blocks::Row& row : rows) means_.push_back(row.sum / static_cast<double>(row.count));
    if (means_.size() < least_rows) return;
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

 private:
  /// Limits the most extreme values (about 2% at each end) to the next value, so that single spikes
  /// do not look like a level.
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
  /// Returns the sum of the squared differences of rows to their mean.
  double squares_of(std::size_t from, std::size_t to) const {
    const double sum = sums_[to] - sums_[from];
    return std::max(0.0,
                    squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from));
  }

  void split(std::size_t from, std::size_t to) {
    const auto size = [](std::size_t begin, std::size_t end) {
      return static_cast<double>(end - begin);
    };
    std::size_t best = 0;
    double most = 0;
    for (std::size_t at = from + change_blocks; at + change_blocks <= to; ++at) {
      const double difference = mean_of(from, at) - mean_of(at, to);
      const double weight = size(from, at) * size(at, to) / size(from, to);
      if (weight * difference * difference <= most) continue;
      most = weight * difference * difference;
      best = at;
    }
    if (best == 0 || !is_change(from, best, to)) {
      levels_.push_back({from, to, mean_of(from, to)});
      return;
    }
    split(from, best);
    split(best, to);
  }

  bool is_change(std::size_t from, std::size_t at, std::size_t to) const {
    const double before = mean_of(from, at);
    const double after = mean_of(at, to);
    const double difference = std::abs(after - before);
    if (difference < change_nanos || difference < change_share * std::min(before, after))
      return false;
    const double squares = squares_of(from, at) + squares_of(at, to);
    const auto rows = static_cast<double>(to - from);
    const double deviation =
        std::sqrt(squares / (rows - 2) *
                  (1 / static_cast<double>(at - from) + 1 / static_cast<double>(to - at)));
    return difference >= change_deviations * deviation;
  }

  std::vector<double> means_;
  std::vector<double> sums_, squares_;  // prefix sums of mean - means_[0], and of its square
  std::vector<Level> levels_;
};

/// Rows `from` to `to` - 1 of a series with `rows` rows, which have a higher level (`high`) than a
/// neighbouring level (`low`).
struct Higher {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t rows = 0;
  double low = 0;
  double high = 0;
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
std::vector<Higher> higher_parts_of(const std::vector<Blocks::Row>& rows) {
  const Levels levels(rows);
  const std::vector<Level>& all = levels.all();
  std::vector<Higher> higher;
  for (std::size_t place = 0; place < all.size() && all.size() > 1; ++place) {
    double low = all[place].mean;
    if (place > 0) low = std::min(low, all[place - 1].mean);
    if (place + 1 < all.size()) low = std::min(low, all[place + 1].mean);
    if (low >= all[place].mean || low <= 0) continue;
    higher.push_back({all[place].from, all[place].to, rows.size(), low, all[place].mean});
  }
  return higher;
}

struct ChangedThread {
  const ThreadReport* thread = nullptr;
  Higher part;
};

/// Returns a text that tells when a part of the run begins and ends, such as "until 2.500 s". Times
/// count from the begin of the run. `begin_of` returns the begin of a row.
std::string times_of(const Higher& part, const std::function<std::int64_t(std::size_t)>& begin_of) {
  if (part.from == 0) return fmt::format("until {:.3f} s", seconds(begin_of(part.to)));
  const std::string from = fmt::format("from {:.3f} s", seconds(begin_of(part.from)));
  return part.to == part.rows ? from + " on"
                              : fmt::format("{} to {:.3f} s", from, seconds(begin_of(part.to)));
}

/// Returns a finding without its place and sentence. `count` is the number of computations or
/// messages in the whole run. The cost is an upper bound: it assumes that the run waited for each
/// of them.
Finding change_in(const Higher& part, std::uint64_t count) {
  Finding finding;
  finding.kind = FindingKind::change;
  finding.from_share = static_cast<double>(part.from) / static_cast<double>(part.rows);
  finding.to_share = static_cast<double>(part.to) / static_cast<double>(part.rows);
  finding.figure = (part.ratio() - 1) * 100;
  finding.unit = "percent";
  finding.cost_nanos =
      static_cast<std::int64_t>((part.high - part.low) * (finding.to_share - finding.from_share) *
                                static_cast<double>(count));
  finding.basis = own_clock;
  return finding;
}

Finding change_of(const std::vector<ChangedThread>& threads, const Report& report) {
  const ThreadReport& first = *threads.front().thread;
  const Higher& part = threads.front().part;
  std::set<std::string> hosts, clusters;
  for (const ChangedThread& one : threads) {
    hosts.insert(one.thread->host);
    clusters.insert(one.thread->cluster);
  }
  Finding finding = change_in(part, first.computation.count);
  finding.place.host = first.host;
  finding.place.cluster = first.cluster;
  finding.before = first.graph;
  finding.after = first.after;
  std::string who = fmt::format("thread {} computes", first.name);
  if (threads.size() == 1) {
    finding.thread = first.name;
  } else if (hosts.size() == 1) {
    who = fmt::format("{} threads of host {} compute", threads.size(), first.host);
  } else {
    finding.hosts.assign(hosts.begin(), hosts.end());
    who = clusters.size() == 1
              ? fmt::format("{} hosts of {} compute", hosts.size(), first.cluster)
              : fmt::format("{} hosts of {} clusters compute", hosts.size(), clusters.size());
  }
  const auto begin_of = [&](std::size_t row) {
    const Blocks::Row& begins = first.block_begins[std::min(row, first.block_begins.size() - 1)];
    return static_cast<std::int64_t>(begins.sum / static_cast<double>(begins.count)) -
           report.time.begin_nanos;
  };
  if (report.time.has_critical_path) finding.at_nanos = begin_of(part.from);
  finding.sentence =
      fmt::format("{} {:.1f}% longer {} (mean {:.3f} ms against {:.3f} ms)", who, finding.figure,
                  times_of(part, begin_of), ms(part.high), ms(part.low));
  return finding;
}

Finding change_of(const LinkReport& link, const Higher& part, const Report& report) {
  Finding finding = change_in(part, link.travel.count);
  finding.place = link.place;
  finding.from = link.is_wan ? link.from_cluster : link.from_host;
  finding.to = link.is_wan ? link.to_cluster : link.to_host;
  const auto begin_of = [&](std::size_t row) {
    return static_cast<std::int64_t>(static_cast<double>(report.time.run_nanos) *
                                     static_cast<double>(row) / static_cast<double>(part.rows));
  };
  if (report.time.has_critical_path) finding.at_nanos = begin_of(part.from);
  finding.sentence = fmt::format(
      "link {} from {} to {} takes {:.1f}% longer {} (mean {:.3f} ms against {:.3f} ms)",
      link.place.wrapper, finding.from, finding.to, finding.figure, times_of(part, begin_of),
      ms(part.high), ms(part.low));
  return finding;
}

}  // namespace

void find_changes(const Report& report, std::vector<Finding>& found) {
  std::vector<std::vector<ChangedThread>> groups;
  for (const ThreadReport& thread : report.threads)
    for (const Higher& part : higher_parts_of(thread.blocks)) {
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        const ThreadReport& other = *group.front().thread;
        return other.graph == thread.graph && other.after == thread.after &&
               group.front().part.is_like(part);
      });
      if (same == groups.end())
        groups.push_back({{&thread, part}});
      else
        same->push_back({&thread, part});
      const double more = part.high - part.low;
      std::erase_if(found, [&](const Finding& one) {
        return one.kind == FindingKind::noisy_thread && one.thread == thread.name &&
               one.before == thread.graph && one.after == thread.after &&
               std::abs(one.figure - more) <= more / 4;
      });
    }
  for (const auto& group : groups) found.push_back(change_of(group, report));
  for (const LinkReport& link : report.links)
    for (const Higher& part : higher_parts_of(link.blocks))
      found.push_back(change_of(link, part, report));
}

void find_stalls(const Report& report, std::vector<Finding>& found) {
  std::vector<std::vector<const ThreadReport*>> groups;
  for (const ThreadReport& thread : report.threads) {
    const bool is_noisy = thread.outliers >= noisy_outliers;
    if (thread.outliers == 0 || is_noisy ||
        static_cast<double>(thread.noise_nanos) <
            stall_share * static_cast<double>(report.time.run_nanos))
      continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const ThreadReport& other = *group.front();
      return other.host == thread.host && other.graph == thread.graph &&
             other.after == thread.after &&
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
    finding.place.host = first.host;
    finding.place.cluster = first.cluster;
    if (group.size() == 1) finding.thread = first.name;
    finding.before = first.graph;
    finding.after = first.after;
    if (report.time.has_critical_path)
      finding.at_nanos = first.longest_begin_nanos - report.time.begin_nanos;
    finding.figure = static_cast<double>(first.noise_nanos);
    finding.unit = "nanoseconds";
    finding.cost_nanos = first.critical_noise_nanos;
    finding.basis = own_clock;
    finding.sentence = fmt::format(
        "{} computed {:.3f} ms at {:.3f} s instead of {:.3f} ms (median){}",
        group.size() == 1 ? fmt::format("thread {}", first.name)
                          : fmt::format("{} threads of host {}", group.size(), first.host),
        ms(first.computation.max), seconds(first.longest_begin_nanos - report.time.begin_nanos),
        ms(first.base_nanos),
        first.outliers == 1 ? "" : fmt::format(", and was late {} times in all", first.outliers));
    found.push_back(std::move(finding));
  }
}

}  // namespace eventspace
