// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/fixed_work.hpp — measurement and analysis of the noise of a processor
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace bench::fixed_work {

using base::Nanos;

enum class Method : std::uint8_t {
  fixed_work,  ///< fwq (fixed work quantum): times the same piece of work again and again
  fixed_time,  ///< ftq (fixed time quantum): counts units of work in each interval; intervals
               ///< begin at fixed multiples of their length
  detour,      ///< reads the clock continuously and keeps the gaps between readings
};

/// An interval in which a thread did not run. `start` counts from the start of the measurement.
struct Detour {
  Nanos start{0};
  Nanos duration{0};
  friend bool operator==(const Detour&, const Detour&) = default;
};

struct Options {
  Method method = Method::fixed_work;
  Nanos duration = std::chrono::seconds(10);
  /// fwq: duration of a piece of work; by default 100us. ftq: duration of a unit of work; by
  /// default a thousandth of the interval, but at least 200ns.
  std::optional<Nanos> work = std::nullopt;
  /// ftq: duration of an interval, in which units of work are counted. All methods: time resolution
  /// of the search for periodic noise.
  Nanos interval = std::chrono::milliseconds(1);
  /// Detours that are shorter than the threshold are ignored. The default for fwq is a hundredth of
  /// the shortest piece. For ftq it is a hundredth of the interval, but at least two units. For
  /// detour it is nine times the shortest time between two clock readings.
  std::optional<Nanos> threshold = std::nullopt;
  std::uint32_t threads = 1;

  Nanos work_or_default() const;
  Nanos gap_threshold(Nanos shortest_look) const;  ///< a gap longer than the result is a detour
  std::size_t samples() const;                     ///< number of samples per thread (fwq and ftq)
  std::string mistake() const;                     ///< error in the options; "" if there is none
};

/// Measurements of one thread. The comment on a member begins with the method (see Method) for
/// which the member is used.
struct Samples {
  std::uint32_t processor = 0;
  Nanos span{0};                    ///< time from the start to the end of the measurement
  std::vector<Nanos> ends;          ///< fwq: end of each piece, at which the next starts
  std::vector<std::uint32_t> done;  ///< ftq: number of units of work done in each interval
  std::vector<Detour> gaps;         ///< detour: gaps above the threshold, between clock readings
  Nanos shortest_look{0};           ///< detour: shortest time between two clock readings
  bool is_full = false;  ///< detour: true if it ended early, as the memory for gaps was full
};

/// Percentiles of a set of durations (nearest-rank method).
struct Distribution {
  std::size_t count = 0;
  Nanos min{0}, p50{0}, p99{0}, p99_9{0}, max{0};
  double mean_nanos = 0;
};

/// A period with which noise recurs.
struct Period {
  double nanos = 0;
  double explains = 0;  ///< share of the variation of lost time that this period explains
};

/// Results of the analysis of one thread's samples.
struct Findings {
  std::uint32_t processor = 0;
  Nanos span{0};
  Nanos threshold{0};
  double noise_share = 0;  ///< lost time divided by the span
  std::vector<Detour> detours;
  Distribution detour;
  /// Durations of what the method measures. With Method::fixed_work: the time of each piece of
  /// work. With Method::fixed_time: the time lost in each interval. Empty with Method::detour.
  Distribution work;
  std::vector<Period> periods;  ///< strongest first
  bool is_full = false;
};

/// Returns the processors on which the system permits this process to run.
std::vector<std::uint32_t> usable_processors();
/// Measures in real time, on `options.threads` threads. Each thread is pinned to a processor of its
/// own. Throws std::runtime_error if there are fewer usable processors than threads.
std::vector<Samples> measure(const Options& options);

// Pure functions on measured samples. ----------------------------------------------------------

Findings analyze(const Samples& samples, const Options& options);
Distribution distribution(std::vector<Nanos> durations);
/// Returns the time lost in each bin. A detour counts in every bin that it overlaps.
std::vector<double> lost_by_bin(std::span<const Detour> detours, Nanos span, Nanos bin);
/// Returns at most three periods with which time is lost. A period is at least two bins long and at
/// most a tenth of the measured time. Periods that chance explains are omitted; still, about one
/// run in a thousand without periodic noise gives a period. If a period is found, its fractions
/// (half, a third, ...) are omitted, too.
std::vector<Period> periods(std::vector<double> lost, Nanos bin);

nlohmann::ordered_json to_json(const Options& options, std::span<const Findings> threads);
/// Returns the JSON as readable text.
std::string to_text(const nlohmann::ordered_json& json);
/// Returns the samples as text, one line for each sample.
std::string to_csv(const Options& options, std::span<const Samples> threads);
/// Returns lines "start_ns<tab>duration_ns". The last line has duration 0 and marks the end of the
/// measurement, at which a replay starts again with the first line.
std::string to_noise(const Findings& findings);

}  // namespace bench::fixed_work
