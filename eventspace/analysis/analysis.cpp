// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analysis.cpp — analysis of record streams into a report.
#include "eventspace/analysis/analysis.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "eventspace/analysis/attribution/division.hpp"
#include "eventspace/analysis/attribution/moment_reader.hpp"
#include "eventspace/analysis/attribution/predictions.hpp"
#include "eventspace/analysis/attribution/timeline.hpp"
#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/input/plausible.hpp"
#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/computation.hpp"
#include "eventspace/analysis/metrics/conditional.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/metrics/group_figures.hpp"
#include "eventspace/analysis/metrics/transfers.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

/// Returns the maximum number of values that a distribution stores individually. With this maximum,
/// all distributions together use about `bytes` bytes. There are about three distributions for each
/// contributor at a collector (Probe).
std::size_t exact_max(const Shape& shape, std::size_t bytes) {
  const std::size_t distributions = 3 * shape.probes.size() + 1;
  return std::clamp<std::size_t>(bytes / sizeof(std::int64_t) / distributions, 32, 4096);
}

std::int64_t sum_of(const Summary& summary) {
  const double sum = summary.mean * static_cast<double>(summary.count);
  return static_cast<std::int64_t>(std::clamp(sum, -9e18, 9e18));
}

/// Returns for each cluster the sums of the figures of its hosts, threads and wrappers.
std::vector<ClusterReport> totals_of(const Structure& structure, const Report& report) {
  std::vector<ClusterReport> clusters(structure.clusters.size());
  std::map<std::string_view, ClusterReport*> named;
  for (std::size_t number = 0; number < clusters.size(); ++number) {
    clusters[number].name = structure.clusters[number];
    named[structure.clusters[number]] = &clusters[number];
  }
  for (const HostReport& host : report.hosts) {
    ClusterReport& cluster = *named[host.cluster];
    ++cluster.hosts;
    cluster.threads += host.threads;
    cluster.records += host.records;
    cluster.critical_rounds += host.critical_rounds;
  }
  for (const ThreadReport& thread : report.threads) {
    ClusterReport& cluster = *named[thread.cluster];
    add_to(cluster.computation_nanos, sum_of(thread.computation));
    add_to(cluster.noise_nanos, thread.noise_nanos);
    add_to(cluster.critical_noise_nanos, thread.critical_noise_nanos);
  }
  for (const JoinReport& join : report.joins)
    for (const JoinReport::Contributor& from : join.contributors)
      add_to(named[join.place.cluster]->arrival_wait_nanos, sum_of(from.arrival_wait));
  for (const CrossingReport& crossing : report.crossings) {
    ClusterReport& cluster = *named[crossing.place.cluster];
    (crossing.is_wan ? cluster.wan_messages : cluster.lan_messages) += crossing.messages;
    (crossing.is_wan ? cluster.wan_payload_bytes : cluster.lan_payload_bytes) +=
        crossing.payload_bytes;
  }
  for (const GroupLinkReport& link : report.groups.clusters) {
    ClusterReport& cluster = *named[link.from];
    (link.is_wan ? cluster.wan_messages : cluster.lan_messages) += link.messages;
    (link.is_wan ? cluster.wan_payload_bytes : cluster.lan_payload_bytes) += link.bytes;
  }
  for (const ConditionalReport& check : report.conditionals)
    for (const ConditionalReport::Remote& remote : check.remotes)
      add_to(named[check.place.cluster]->cache_wait_nanos, sum_of(remote.wait));
  return clusters;
}

}  // namespace

struct Analysis::Parts {
  Parts(const Structure& structure, const AnalysisOptions& options)
      : shape(structure),
        exact(exact_max(shape, options.exact_bytes)),
        figures(shape, exact, options.has_common_clock),
        computation(shape, figures, options.computations, exact),
        conditional(shape, exact),
        moments(shape, options.has_common_clock),
        moment_reader(moments, options.divided_operations),
        transfers(shape, options.has_common_clock, options.transfer_changes),
        rounds(shape, options.open_rounds_bytes,
               [this](const Round& round) {
                 figures.add(round);
                 conditional.add(round);
                 moment_reader.add(round);
                 transfers.add(round);
               }),
        groups(
            structure, exact, options.has_common_clock, options.open_rounds_bytes,
            [this](std::uint32_t from, std::uint32_t to, std::int64_t begin, std::int64_t end,
                   std::uint64_t bytes) { transfers.add_message(from, to, begin, end, bytes); },
            [this](const WholeOperation& operation, const GroupTexts& texts) {
              moment_reader.add(operation, texts);
            }),
        timeline_parts(options.timeline_parts),
        questions(options.questions),
        name_from_share(options.name_from_share),
        thread_count(structure.thread_count()),
        records_of_host(structure.hosts.size(), 0) {}

  void add(std::uint32_t host, const EventRecord& record);
  void add_operation(std::uint32_t host, const EventRecord& record);
  void add_other(std::uint32_t host, const EventRecord& record);
  void add_transfer(const EventRecord& record);
  void add_call(std::uint32_t host, const EventRecord& record);
  /// Whether the operation of a group member is part of a declared collective, which the group
  /// carries out. If so, the record of the collective ends the thread's computation. The record
  /// `member` does not end it.
  bool is_part_of_collective(const EventRecord& member) const {
    const std::string* const text = groups.texts().find(member_of(member).text);
    return text != nullptr && !collective_of_group(group_operation_of(*text).group).empty();
  }
  bool is_stage_of(std::uint32_t host, std::uint32_t stage) const {
    return stage < shape.structure.stages.size() && shape.structure.host_of(stage) == host;
  }

  Shape shape;
  std::size_t exact;
  Figures figures;
  Computation computation;
  Conditional conditional;
  Moments moments;
  MomentReader moment_reader;
  Transfers transfers;
  RoundTable rounds;
  GroupFigures groups;
  std::size_t timeline_parts;
  Questions questions;
  double name_from_share;
  std::uint32_t thread_count;
  std::vector<std::uint64_t> records_of_host;
  CoverageReport coverage;
};

Analysis::Analysis(const Structure& structure, const AnalysisOptions& options)
    : parts_(std::make_unique<Parts>(structure, options)) {}

Analysis::~Analysis() = default;

void Analysis::add(std::uint32_t host, std::span<const EventRecord> records) {
  for (const EventRecord& record : records) parts_->add(host, record);
}

void Analysis::Parts::add(std::uint32_t host, const EventRecord& record) {
  ++coverage.records;
  if (host < records_of_host.size()) ++records_of_host[host];
  if (!is_plausible(record)) {
    ++coverage.unknown;
    return;
  }
  if (!is(record, EventKind::clock)) transfers.see(record.down_nanos, record.up_nanos);
  if (is_operation(record)) {
    add_operation(host, record);
  } else if (is_of_group(record)) {
    groups.add(host, record);
    if (is(record, GroupEvent::member) && record.place < thread_count &&
        shape.structure.host_of_thread(record.place) == host && !is_part_of_collective(record))
      computation.add_in_group(record);
  } else if (is_transfer(record)) {
    add_transfer(record);
  } else if (is_call(record)) {
    add_call(host, record);
  } else {
    add_other(host, record);
  }
}

void Analysis::Parts::add_operation(std::uint32_t host, const EventRecord& record) {
  ++coverage.operations;
  const std::uint32_t probe = shape.probe_of(record.place, record.slot);
  if (probe == none || !is_stage_of(host, record.place)) {
    ++coverage.unknown;
    return;
  }
  const std::uint32_t leaf = shape.probes[probe].leaf;
  const std::int64_t computed = leaf == none ? -1 : computation.add(leaf, record);
  rounds.add(probe, record, computed, static_cast<std::uint32_t>(coverage.records));
}

void Analysis::Parts::add_other(std::uint32_t host, const EventRecord& record) {
  const auto kind = static_cast<EventKind>(static_cast<std::uint8_t>(record.kind));
  if (kind == EventKind::thread) {
    if (record.place < thread_count && shape.structure.host_of_thread(record.place) == host) {
      computation.add_thread(record);
      moment_reader.add_thread(record);
    } else {
      ++coverage.unknown;
    }
    return;
  }
  if (kind == EventKind::clock) return;  // a read of a clock is no work of the run
  const bool waited_longer =
      kind == EventKind::link && +record.slot > record.up_nanos - record.down_nanos;
  if (!is_stage_of(host, record.place) || waited_longer) {
    ++coverage.unknown;
    return;
  }
  switch (kind) {
    case EventKind::cache_read:
      conditional.add_cache_read(record);
      moment_reader.add_cache_read(record);
      return;
    case EventKind::prefetch: conditional.add_prefetch(record); return;
    case EventKind::link:
      figures.add_link(record);
      moment_reader.add_link(record);
      transfers.add_link(record);
      return;
    default: ++coverage.unknown;
  }
}

void Analysis::Parts::add_transfer(const EventRecord& record) {
  ++coverage.transfers;
  const Transfer transfer = transfer_of(record);
  const std::size_t hosts = shape.structure.hosts.size();
  if (transfer.from_host < hosts && transfer.to_host < hosts) {
    transfers.add(transfer);
  } else {
    ++coverage.unknown;
  }
}

void Analysis::Parts::add_call(std::uint32_t host, const EventRecord& record) {
  if (record.place >= thread_count || shape.structure.host_of_thread(record.place) != host) {
    ++coverage.unknown;
    return;
  }
  const bool is_mark = is(record, EventKind::iteration);
  const auto arrival = static_cast<std::uint32_t>(coverage.records);
  if (is_mark || (record.flags & event_in_group) != 0) {
    if (!is_mark) computation.add_in_group(record);
    return moment_reader.add_call(record, none, arrival);
  }
  const std::uint32_t leaf = shape.leaf_of(record.slot, record.place);
  if (leaf == none) return;  // no collector records the path
  computation.add(leaf, record);
  moment_reader.add_call(record, leaf, arrival);
}

Report Analysis::finish() {
  Parts& parts = *parts_;
  parts.rounds.finish();
  parts.computation.finish();
  Report report;
  report.coverage = parts.coverage;
  report.coverage.passed_by = parts.rounds.passed_by();
  report.coverage.late = parts.rounds.late();
  report.coverage.repeated = parts.rounds.repeated();
  report.coverage.contradictory = parts.figures.contradictory();
  report.coverage.without_computation = parts.computation.unknown();
  report.coverage.judged_early = parts.computation.judged_early();
  parts.figures.report(report, parts.computation.critical_noise());
  parts.computation.report(report, parts.conditional, parts.groups.texts());
  parts.conditional.report(report, parts.figures);
  for (std::size_t host = 0; host < report.hosts.size(); ++host)
    report.hosts[host].records = parts.records_of_host[host];
  report.groups = parts.groups.finish(parts.transfers.run_begin_nanos());
  parts.groups.report_series(report);
  report.coverage.unknown += report.groups.unknown;
  report.transfers = parts.transfers.finish();
  parts.moment_reader.prepare();
  const Bindings bindings(parts.moments, [&](const ThreadOperation& before,
                                             const ThreadOperation& after, std::int64_t nanos) {
    return parts.computation.noise_between({before.leaf, before.kind}, {after.leaf, after.kind},
                                           nanos);
  });
  report.time = divide_time(bindings);
  if (parts.coverage.transfers > 0 && report.groups.records == 0)
    report.time.not_recorded.emplace_back("messages over lanes");
  report.clusters = totals_of(parts.shape.structure, report);
  report.name_from_share = parts.name_from_share;
  report.findings = find_what_stands_out(report);
  predict(bindings, parts.questions, report);
  if (parts.timeline_parts > 0)
    report.timeline = timeline_of(bindings, report, parts.timeline_parts);
  return report;
}

}  // namespace eventspace
