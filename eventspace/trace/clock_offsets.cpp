// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/clock_offsets.cpp — conversion between clocks by the quickest clock readings.
#include "eventspace/trace/clock_offsets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>

#include "eventspace/trace/saturating.hpp"

namespace eventspace {
namespace {

/// Maximum number of clock readings that are kept for a pair of hosts: the readings of about one
/// hour, with one reading each second. When the maximum is reached, the slower of each two
/// successive readings is dropped.
constexpr std::size_t looks_max = 4096;
/// Least time between two clock readings from which a drift is computed.
constexpr std::int64_t drift_nanos_min = 1'000'000'000;
/// Largest possible drift, 100 times that of real clocks. If two readings show a larger drift, one
/// of the readings is wrong.
constexpr double drift_possible = 100 * clock_drift_max;
/// Range of possible times: two years. Times outside of this range are forged.
constexpr std::int64_t nanos_max = std::int64_t{1} << 56;

bool is_possible(const EventRecord& record) {
  return record.down_nanos > -nanos_max && record.down_nanos <= record.up_nanos &&
         record.up_nanos < nanos_max;
}

}  // namespace

std::int64_t ClockLine::apply(std::int64_t nanos) const {
  const double drifted = drift * (static_cast<double>(nanos) - static_cast<double>(at_nanos));
  return saturating_sum(saturating_sum(nanos, offset_nanos), saturating_round(drifted));
}

ClockLine ClockLine::inverse() const {
  return {saturating_sum(at_nanos, offset_nanos), saturating_sum(0, -offset_nanos),
          -drift / (1 + drift), error_nanos};
}

ClockLine ClockLine::then(const ClockLine& next) const {
  const std::int64_t there = next.apply(saturating_sum(at_nanos, offset_nanos));
  return {at_nanos, saturating_sum(there, -at_nanos), drift + next.drift + drift * next.drift,
          saturating_sum(error_nanos, next.error_nanos)};
}

ClockOffsets::ClockOffsets(const Structure& structure)
    : hosts_(static_cast<std::uint32_t>(structure.hosts.size())), spans_(hosts_) {}

void ClockOffsets::add(std::uint32_t host, std::span<const EventRecord> records) {
  if (host >= hosts_) return;
  for (const EventRecord& record : records) {
    if (!is_possible(record)) continue;
    spans_[host].first = std::min(spans_[host].first, +record.down_nanos);
    spans_[host].last = std::max(spans_[host].last, +record.up_nanos);
    if (!is(record, EventKind::clock)) continue;
    if (record.place >= hosts_ || record.place == host) continue;
    const std::int64_t took = record.up_nanos - record.down_nanos;
    const std::int64_t middle = record.down_nanos + took / 2;
    std::vector<Look>& looks = looks_[{host, record.place}];
    looks.push_back({middle, static_cast<std::int64_t>(record.sequence) - middle, (took + 1) / 2});
    if (looks.size() < looks_max) continue;
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < looks.size(); i += 2)
      looks[kept++] = looks[looks[i].error_nanos <= looks[i + 1].error_nanos ? i : i + 1];
    looks.resize(kept);
  }
}

ClockLine ClockOffsets::line_of(const std::vector<Look>& looks, const Span& needed) {
  const auto is_quicker = [](const Look& a, const Look& b) {
    return a.error_nanos < b.error_nanos;
  };
  const auto quarter = static_cast<std::ptrdiff_t>((looks.size() + 3) / 4);
  const Look& first = *std::min_element(looks.begin(), looks.begin() + quarter, is_quicker);
  const Look& last = *std::min_element(looks.rbegin(), looks.rbegin() + quarter, is_quicker);
  ClockLine line{first.at_nanos, first.offset_nanos, 0,
                 std::max(first.error_nanos, last.error_nanos)};
  const std::int64_t between = last.at_nanos - first.at_nanos;
  double slope_error = clock_drift_max;
  if (between >= drift_nanos_min) {
    const auto span = static_cast<double>(between);
    const std::int64_t moved = last.offset_nanos - first.offset_nanos;
    const double drift = static_cast<double>(moved) / span;
    if (std::abs(drift) > drift_possible) {
      line.error_nanos = saturating_sum(line.error_nanos, std::abs(moved));
    } else {
      line.drift = drift;
      slope_error =
          std::min(slope_error, static_cast<double>(first.error_nanos + last.error_nanos) / span);
    }
  } else if (is_quicker(last, first)) {
    line = {last.at_nanos, last.offset_nanos, 0, last.error_nanos};
  }
  const std::int64_t beyond =
      std::max({std::int64_t{0}, first.at_nanos - needed.first, needed.last - last.at_nanos});
  line.error_nanos =
      saturating_sum(line.error_nanos, saturating_round(slope_error * static_cast<double>(beyond)));
  return line;
}

std::vector<std::optional<ClockLine>> ClockOffsets::lines(std::uint32_t common) const {
  std::vector<std::optional<ClockLine>> lines(hosts_);
  // Best known conversion from the clock of a host (outer key) to the clock of another host (inner
  // key).
  std::map<std::uint32_t, std::map<std::uint32_t, ClockLine>> to;
  for (const auto& [pair, looks] : looks_) {
    const ClockLine line = line_of(looks, spans_[pair.first]);
    for (const auto& [from, at, one] :
         {std::tuple(pair.first, pair.second, line), {pair.second, pair.first, line.inverse()}}) {
      const auto known = to[from].find(at);
      if (known == to[from].end() || one.error_nanos < known->second.error_nanos)
        to[from][at] = one;
    }
  }
  if (!to.contains(common)) return lines;
  using Reached = std::pair<std::int64_t, std::uint32_t>;  // sum of errors, host
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> reached;
  std::vector<ClockLine> best(hosts_, ClockLine{0, 0, 0, INT64_MAX});
  best[common] = {};
  reached.push({0, common});
  while (!reached.empty()) {
    const auto [error, host] = reached.top();
    reached.pop();
    if (lines[host]) continue;
    lines[host] = best[host];
    for (const auto& [other, line] : to.at(host)) {
      const ClockLine way = line.inverse().then(best[host]);
      if (lines[other] || way.error_nanos >= best[other].error_nanos) continue;
      best[other] = way;
      reached.push({way.error_nanos, other});
    }
  }
  return lines;
}

}  // namespace eventspace
