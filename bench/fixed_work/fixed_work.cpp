// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/fixed_work.cpp — defaults of the options, and analysis of a thread's samples
#include "bench/fixed_work/fixed_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace bench::fixed_work {
namespace {

constexpr std::size_t samples_max = 50'000'000;
constexpr int units_by_interval = 1000, shortest_looks_of_a_detour = 9;
/// Shortest unit of work. It is much longer than the clock reading that follows each unit.
constexpr Nanos shortest_unit{200};

double ratio(Nanos part, Nanos of) {
  return of == Nanos(0) ? 0 : static_cast<double>(part.count()) / static_cast<double>(of.count());
}

Nanos rounded(double nanos) { return Nanos(std::llround(nanos)); }

std::vector<Detour> longer_than(Nanos threshold, const std::vector<Detour>& lost) {
  std::vector<Detour> longer;
  std::copy_if(lost.begin(), lost.end(), std::back_inserter(longer),
               [&](const Detour& one) { return one.duration > threshold; });
  return longer;
}

Nanos sum(std::span<const Detour> detours) {
  Nanos total{0};
  for (const Detour& detour : detours) total += detour.duration;
  return total;
}

/// Computes the detours of the method fwq. The time by which a piece exceeds the shortest piece
/// counts as a detour at the start of the longer piece.
void analyze_pieces(const Samples& samples, const Options& options, Findings& findings) {
  std::vector<Nanos> times;
  Nanos begin{0};
  for (const Nanos end : samples.ends) times.push_back(end - std::exchange(begin, end));
  findings.work = distribution(times);
  findings.threshold = options.threshold.value_or(findings.work.min / 100);
  std::vector<Detour> lost;
  begin = Nanos(0);
  for (std::size_t i = 0; i < times.size(); begin = samples.ends[i++])
    lost.push_back({begin, times[i] - findings.work.min});
  findings.noise_share = ratio(sum(lost), samples.span);
  findings.detours = longer_than(findings.threshold, lost);
  findings.periods = periods(lost_by_bin(lost, samples.span, options.interval), options.interval);
}

/// Combines the times lost in adjacent intervals into detours (interruptions of the work). If no
/// work was done in some intervals, these intervals make a detour. The detour also contains the
/// time lost in the interval before them and in the interval after them. The time lost in the
/// interval before is placed at the end of that interval, so that the detour is contiguous.
std::vector<Detour> joined(const Samples& samples, Nanos interval, const std::vector<Nanos>& lost) {
  std::vector<Detour> detours;
  bool goes_on = false;  // whether the last detour can continue in this interval
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const Nanos begin = interval * static_cast<std::int64_t>(i);
    if (lost[i] == Nanos(0)) {
      goes_on = false;
    } else if (goes_on && (samples.done[i] == 0 || samples.done[i - 1] == 0)) {
      Detour& last = detours.back();
      last.start = begin - last.duration;
      last.duration += lost[i];
    } else {
      detours.push_back({begin, lost[i]});
      goes_on = true;
    }
  }
  return detours;
}

/// Computes the detours of the method ftq. The best interval is the interval with the most work.
/// The time lost in an interval is the time for the work that it lacks compared with the best
/// interval.
void analyze_units(const Samples& samples, const Options& options, Findings& findings) {
  const double most = *std::max_element(samples.done.begin(), samples.done.end());
  const auto interval = static_cast<double>(options.interval.count());
  std::vector<Nanos> lost;
  std::vector<double> bins;
  double total = 0;
  for (const std::uint32_t done : samples.done) {
    bins.push_back(most == 0 ? interval : interval * (1 - done / most));
    lost.push_back(rounded(bins.back()));
    total += bins.back();
  }
  findings.noise_share = total / static_cast<double>(samples.span.count());
  findings.threshold =
      options.threshold.value_or(std::max(options.interval / 100, 2 * options.work_or_default()));
  findings.work = distribution(lost);
  findings.detours = longer_than(findings.threshold, joined(samples, options.interval, lost));
  findings.periods = periods(std::move(bins), options.interval);
}

void analyze_gaps(const Samples& samples, const Options& options, Findings& findings) {
  findings.threshold = options.gap_threshold(samples.shortest_look);
  for (const Detour& gap : samples.gaps)
    findings.detours.push_back({gap.start, gap.duration - samples.shortest_look});
  findings.noise_share = ratio(sum(findings.detours), samples.span);
  findings.periods =
      periods(lost_by_bin(findings.detours, samples.span, options.interval), options.interval);
}

}  // namespace

Nanos Options::work_or_default() const {
  if (work) return *work;
  if (method == Method::fixed_work) return std::chrono::microseconds(100);
  return std::max(shortest_unit, interval / units_by_interval);
}

Nanos Options::gap_threshold(Nanos shortest_look) const {
  return threshold.value_or(shortest_looks_of_a_detour * shortest_look);
}

std::size_t Options::samples() const {
  const Nanos each = method == Method::fixed_time ? interval : work_or_default();
  return static_cast<std::size_t>(duration / each);
}

std::string Options::mistake() const {
  const Nanos least = std::chrono::microseconds(1);
  if (interval < least) return "--interval: expected 1us or more";
  if (work && *work < Nanos(100)) return "--work: expected 100ns or more";
  if (work && method == Method::detour) return "--work: the method detour does no work";
  if (method == Method::fixed_time && !work && work_or_default() > interval / 10)
    return "--interval: expected 2us or more for ftq";
  if (method == Method::fixed_time && work_or_default() > interval / 10)
    return "--work: expected a tenth of --interval or less, of which ftq counts the units";
  if (threads < 1) return "--threads: expected 1 or more";
  if (duration < 10 * interval || (method != Method::detour && samples() < 10))
    return "--duration: expected ten times --interval and --work or more";
  if (method != Method::detour && samples() > samples_max)
    return fmt::format(
        "--duration: {} samples are more than the {} there is room for; expected "
        "longer ones or less time",
        samples(), samples_max);
  if (duration / interval > static_cast<std::int64_t>(samples_max))
    return fmt::format("--interval: expected at most {} of them in --duration", samples_max);
  return {};
}

Findings analyze(const Samples& samples, const Options& options) {
  Findings findings;
  findings.processor = samples.processor;
  findings.span = samples.span;
  findings.is_full = samples.is_full;
  switch (options.method) {
    case Method::fixed_work: analyze_pieces(samples, options, findings); break;
    case Method::fixed_time: analyze_units(samples, options, findings); break;
    case Method::detour: analyze_gaps(samples, options, findings); break;
  }
  std::vector<Nanos> durations;
  for (const Detour& detour : findings.detours) durations.push_back(detour.duration);
  findings.detour = distribution(std::move(durations));
  return findings;
}

Distribution distribution(std::vector<Nanos> durations) {
  if (durations.empty()) return {};
  std::sort(durations.begin(), durations.end());
  const auto count = static_cast<double>(durations.size());
  double total = 0;
  for (const Nanos one : durations) total += static_cast<double>(one.count());
  const auto ranked = [&](double part) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * count));
    return durations[std::max<std::size_t>(rank, 1) - 1];
  };
  return {durations.size(), durations.front(), ranked(0.5),  ranked(0.99),
          ranked(0.999),    durations.back(),  total / count};
}

std::vector<double> lost_by_bin(std::span<const Detour> detours, Nanos span, Nanos bin) {
  std::vector<double> lost(static_cast<std::size_t>(span / bin), 0);
  for (const Detour& detour : detours) {
    const Nanos end = detour.start + detour.duration;
    for (Nanos at = detour.start; at < end;) {
      const auto place = static_cast<std::size_t>(at / bin);
      if (place >= lost.size()) break;
      const Nanos next = std::min(end, bin * static_cast<std::int64_t>(place + 1));
      lost[place] += static_cast<double>((next - at).count());
      at = next;
    }
  }
  return lost;
}

}  // namespace bench::fixed_work
