// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/transfers.cpp — number of simultaneous transfers between clusters.
#include "eventspace/analysis/metrics/transfers.hpp"

#include <algorithm>

#include "eventspace/analysis/report/distribution.hpp"

namespace eventspace {
namespace {

/// Returns the number of points of the curve for each ordered pair of clusters. The more clusters
/// there are, the fewer points each pair has.
std::size_t points_of_a_path(std::size_t clusters) {
  constexpr std::size_t points_least = 16, points_of_all = std::size_t{1} << 18;
  const std::size_t pairs = std::max<std::size_t>(clusters * (clusters - 1), 1);
  return std::clamp(points_of_all / pairs, points_least, transfer_points_max);
}

double share_of(std::int64_t nanos, std::int64_t of) {
  return of <= 0 ? 0 : static_cast<double>(nanos) / static_cast<double>(of);
}

}  // namespace

void Transfers::Sums::add(const Sums& more) {
  messages += more.messages;
  bytes += more.bytes;
  first_nanos = std::min(first_nanos, more.first_nanos);
  last_nanos = std::max(last_nanos, more.last_nanos);
  add_to(used_nanos, more.used_nanos);
  add_to(arrival_nanos, more.arrival_nanos);
}

Transfers::Transfers(const Shape& shape, bool has_common_clock, std::size_t changes_max)
    : shape_(shape),
      is_on_(has_common_clock && shape.structure.clusters.size() > 1),
      changes_max_(std::max<std::size_t>(changes_max, 4)),
      points_max_(points_of_a_path(shape.structure.clusters.size())) {
  if (!is_on_) return;
  for (const Structure::Streams& one : shape.structure.streams)
    paths_[path_between(one.from, one.to)].takes_streams = true;
}

void Transfers::see(std::int64_t begin_nanos, std::int64_t end_nanos) {
  begin_nanos_ = std::min(begin_nanos_, begin_nanos);
  end_nanos_ = std::max(end_nanos_, end_nanos);
}

bool Transfers::crosses(std::uint32_t from_host, std::uint32_t to_host) const {
  const auto& hosts = shape_.structure.hosts;
  return is_on_ && hosts[from_host].cluster != hosts[to_host].cluster;
}

std::uint32_t Transfers::path_between(std::uint32_t from, std::uint32_t to) {
  const auto [found, is_new] =
      numbers_.try_emplace({from, to}, static_cast<std::uint32_t>(paths_.size()));
  if (is_new) {
    std::uint64_t streams = 0;
    for (const Structure::Streams& one : shape_.structure.streams)
      if (one.from == from && one.to == to) streams = one.count;
    paths_.emplace_back(from, to, streams, points_max_);
  }
  return found->second;
}

std::uint32_t Transfers::path_of(std::uint32_t from_host, std::uint32_t to_host) {
  const auto& hosts = shape_.structure.hosts;
  return path_between(hosts[from_host].cluster, hosts[to_host].cluster);
}

void Transfers::add(const Transfer& transfer) {
  if (!crosses(transfer.from_host, transfer.to_host)) return;
  const std::uint32_t path = path_of(transfer.from_host, transfer.to_host);
  if (transfer.has_stream) paths_[path].takes_streams = true;
  add(path, Source::link, transfer.begin_nanos, transfer.end_nanos, transfer.arrived_nanos,
      transfer.bytes, transfer.ends_message);
}

/// Adds a message on an emulated link. The transfer begins when the message no longer waits for
/// earlier messages.
void Transfers::add_link(const EventRecord& record) {
  if (record.place >= shape_.link_ways.size()) return;
  const auto [from, to] = shape_.link_ways[record.place];
  if (from == none || !crosses(from, to)) return;
  add(path_of(from, to), Source::link, record.down_nanos + record.slot, record.up_nanos,
      record.up_nanos, record.bytes, true);
}

/// Adds the requests and replies at crossings to other clusters. Below a join, only the operation
/// that continued down the path has records.
void Transfers::add(const Round& round) {
  if (!is_on_ || round.has_failed) return;
  for (const std::uint32_t number : shape_.trees[round.tree].probes) {
    const Probe& probe = shape_.probes[number];
    const Hop& hop = shape_.hops[probe.hop];
    if (hop.kind != HopKind::crossing || !hop.is_wan || probe.below == none) continue;
    const Pass& near = round.passes[probe.place];
    const Pass& far = round.passes[shape_.probes[probe.below].place];
    if (!near.is_here || !far.is_here) continue;
    add_message(hop.from_host, hop.to_host, near.down_nanos, far.down_nanos, near.bytes);
    if (!round.is_one_way)
      add_message(hop.to_host, hop.from_host, far.up_nanos, near.up_nanos,
                  hop.is_answered_in_kind ? near.bytes : 0);
  }
}

/// Adds a message. If the clocks of the hosts differ by more than the time of the message, the end
/// of the message may be before its begin. The end is then set to the begin.
void Transfers::add_message(std::uint32_t from_host, std::uint32_t to_host,
                            std::int64_t begin_nanos, std::int64_t end_nanos, std::uint64_t bytes) {
  if (!crosses(from_host, to_host)) return;
  end_nanos = std::max(begin_nanos, end_nanos);
  add(path_of(from_host, to_host), Source::ends, begin_nanos, end_nanos, end_nanos, bytes, true);
}

void Transfers::add(std::uint32_t path, Source source, std::int64_t begin_nanos,
                    std::int64_t end_nanos, std::int64_t arrived_nanos, std::uint64_t bytes,
                    bool ends_message) {
  paths_[path].sums[static_cast<std::size_t>(source)].add(
      {ends_message ? 1u : 0u, bytes, begin_nanos, end_nanos, end_nanos - begin_nanos,
       arrived_nanos - begin_nanos});
  if (begin_nanos == end_nanos) return;
  const bool is_known_otherwise =
      path < judged_by_.size() && judged_by_[path] == Source::link && source == Source::ends;
  if (is_known_otherwise) return;
  if (begin_nanos < judged_to_) ++late_;
  if (end_nanos <= judged_to_) return;
  changes_.push_back({std::max(begin_nanos, judged_to_), path, source, true});
  changes_.push_back({end_nanos, path, source, false});
  if (changes_.size() >= changes_max_) judge(changes_max_ / 2);
}

/// Adds the oldest begins and ends of transfers to the curves. `changes` is their number; further
/// begins and ends at the same time as the last of them are added, too.
///
/// Transfers between two clusters may be known from two sources: records of the emulated link, and
/// records of both ends of a message. Only one source is counted for each ordered pair of clusters.
/// The first call of judge() after the pair's first transfer chooses the source.
void Transfers::judge(std::size_t changes) {
  if (changes_.empty()) return;
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.at_nanos < b.at_nanos; });
  while (judged_by_.size() < paths_.size())
    judged_by_.push_back(paths_[judged_by_.size()].source());
  std::size_t end = std::min(changes, changes_.size());
  while (end < changes_.size() && changes_[end].at_nanos == changes_[end - 1].at_nanos) ++end;
  // Change of the number of transfers at one moment, keyed by the Path's index in paths_.
  std::map<std::uint32_t, std::int64_t> at_once;
  for (std::size_t place = 0; place < end; ++place) {
    const Change& one = changes_[place];
    if (one.source == judged_by_[one.path])
      at_once[one.path] += one.is_begin ? 1 : -1;
    else if (one.source == Source::link)
      late_ += one.is_begin ? 1 : 0;
    if (place + 1 < end && changes_[place + 1].at_nanos == one.at_nanos) continue;
    std::int64_t of_all = 0;
    for (const auto& [path, change] : at_once) {
      StepCurve& curve = paths_[path].curve;
      curve.set(one.at_nanos, curve.level() + static_cast<std::uint64_t>(change));
      of_all += change;
    }
    all_.set(one.at_nanos, all_.level() + static_cast<std::uint64_t>(of_all));
    at_once.clear();
  }
  judged_to_ = changes_[end - 1].at_nanos;
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(end));
}

/// Returns what is counted for a pair of clusters: streams of the link, messages on the link, or
/// messages of which the trace shows only departure and arrival.
TransferBasis Transfers::basis_of(const Path& path) const {
  if (path.source() == Source::ends && path.counted().has_any()) return TransferBasis::ends;
  if (path.takes_streams) return TransferBasis::streams;
  return path.source() == Source::link ? TransferBasis::messages : TransferBasis::ends;
}

TransferReport Transfers::report_of(const Sums& sums, const StepCurve& curve,
                                    std::uint64_t streams) const {
  const std::int64_t run = end_nanos_ - begin_nanos_;
  TransferReport report;
  report.streams = streams;
  if (streams > 0) report.all_share = share_of(curve.full_nanos(), run);
  if (!sums.has_any()) return report;
  report.messages = sums.messages;
  report.bytes = sums.bytes;
  report.first_nanos = sums.first_nanos - begin_nanos_;
  report.last_nanos = sums.last_nanos - begin_nanos_;
  report.used_nanos = sums.used_nanos;
  report.most = curve.most();
  report.mean = share_of(sums.used_nanos, run);
  report.mean_until_arrived = share_of(sums.arrival_nanos, run);
  report.mean_within = share_of(sums.used_nanos, sums.last_nanos - sums.first_nanos);
  report.some_share = share_of(curve.above_zero_nanos(), run);
  report.none_share = 1 - report.some_share;
  report.points = curve.points(begin_nanos_);
  return report;
}

TransfersReport Transfers::finish() {
  TransfersReport report;
  report.has_several_clusters = shape_.structure.clusters.size() > 1;
  report.has_common_clock = is_on_ || !report.has_several_clusters;
  if (!is_on_) return report;
  judge(changes_.size());
  Sums all;
  for (const auto& [clusters, number] : numbers_) {
    const Path& path = paths_[number];
    if (!path.counted().has_any()) continue;
    see(path.counted().first_nanos, path.counted().last_nanos);
    all.add(path.counted());
  }
  if (begin_nanos_ > end_nanos_) return report;  // there are no records
  report.run_nanos = end_nanos_ - begin_nanos_;
  for (const auto& [clusters, number] : numbers_) {
    const Path& path = paths_[number];
    if (!path.counted().has_any() && !path.takes_streams) continue;
    const TransferBasis basis = basis_of(path);
    TransferReport one =
        report_of(path.counted(), path.curve, basis == TransferBasis::ends ? 0 : path.streams);
    one.from = shape_.structure.clusters[path.from];
    one.to = shape_.structure.clusters[path.to];
    one.basis = basis;
    report.paths.push_back(std::move(one));
  }
  report.all = report_of(all, all_, 0);
  report.late = late_;
  return report;
}

}  // namespace eventspace
