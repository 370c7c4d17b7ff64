// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/fixed_work.hpp — how much of a processor's time something else takes: measuring,
// and what the measured numbers say.
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
  fixed_work,  ///< fwq: the same piece of work again and again, each of them timed
  fixed_time,  ///< ftq: units of work done in each interval of a grid that does not drift
  detour,      ///< looks at the clock all the time and keeps the gaps
};

/// A time in which a thread did not run: since its measurement began.
struct Detour {
  Nanos start{0};
  Nanos duration{0};
  friend bool operator==(const Detour&, const Detour&) = default;
};

struct Options {
  Method method = Method::fixed_work;
  Nanos duration = std::chrono::seconds(10);
  /// A piece of fwq, by default 100us; a unit of ftq, by default a thousandth of the interval
  /// but not under 200ns.
  std::optional<Nanos> work = std::nullopt;
  /// Of ftq's grid; also how finely periods are searched for.
  Nanos interval = std::chrono::milliseconds(1);
  /// Longer is a detour. Default: a hundredth of the shortest piece (fwq) or of the interval,
  /// two units at least (ftq), nine times the shortest look at the clock (detour).
  std::optional<Nanos> threshold = std::nullopt;
  std::uint32_t threads = 1;

  Nanos work_or_default() const;
  Nanos gap_threshold(Nanos shortest_look) const;  ///< of detour
  std::size_t samples() const;                     ///< of fwq and ftq, by thread
  std::string mistake() const;  ///< what cannot be measured like this; empty: nothing
};

/// The numbers of one thread, as measured.
struct Samples {
  std::uint32_t processor = 0;
  Nanos span{0};                    ///< from its begin to its end
  std::vector<Nanos> ends;          ///< fwq: of each piece; the next one begins there
  std::vector<std::uint32_t> done;  ///< ftq: units of work in each interval
  std::vector<Detour> gaps;         ///< detour: between two looks at the clock, over the threshold
  Nanos shortest_look{0};           ///< detour: what a gap is without anything in it
  bool is_full = false;             ///< detour: ended early, there was no room for more gaps
};

/// Of durations, by nearest rank.
struct Distribution {
  std::size_t count = 0;
  Nanos min{0}, p50{0}, p99{0}, p99_9{0}, max{0};
  double mean_nanos = 0;
};

/// Noise that comes again and again.
struct Period {
  double nanos = 0;
  double explains = 0;  ///< share of the variation of lost time that goes when it goes
};

/// What the samples of one thread say.
struct Findings {
  std::uint32_t processor = 0;
  Nanos span{0};
  Nanos threshold{0};
  double noise_share = 0;  ///< time that was lost, over the span
  std::vector<Detour> detours;
  Distribution detour;
  /// fwq: time of a piece. ftq: time lost in an interval. detour: empty.
  Distribution work;
  std::vector<Period> periods;  ///< the strongest first
  bool is_full = false;
};

/// Those this process may run on.
std::vector<std::uint32_t> usable_processors();
/// Real time passes, on as many threads as `options` say, each alone on one of the first usable
/// processors. Throws std::runtime_error when there are fewer.
std::vector<Samples> measure(const Options& options);

// The rest is arithmetic. ---------------------------------------------------------------------

Findings analyze(const Samples& samples, const Options& options);
Distribution distribution(std::vector<Nanos> durations);
/// How much of each bin was lost; a detour counts in every bin it lasts in.
std::vector<double> lost_by_bin(std::span<const Detour> detours, Nanos span, Nanos bin);
/// At most three, of two bins to a tenth of the whole. What follows from chance alone is left out
/// (but for one run in a thousand), and so is a fraction of a period that was found.
std::vector<Period> periods(std::vector<double> lost, Nanos bin);

nlohmann::ordered_json to_json(const Options& options, std::span<const Findings> threads);
/// The JSON as a person reads it.
std::string to_text(const nlohmann::ordered_json& json);
/// The samples themselves, a line for each.
std::string to_csv(const Options& options, std::span<const Samples> threads);
/// Lines "start_ns<tab>duration_ns"; the last one, of 0, says when the measurement ended, so that
/// a replay begins again there.
std::string to_noise(const Findings& findings);

}  // namespace bench::fixed_work
