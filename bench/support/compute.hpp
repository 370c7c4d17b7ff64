// SPDX-License-Identifier: Apache-2.0
// bench/support/compute.hpp — what a thread does between two collective operations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/host/thread.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

using base::Nanos;

/// How long a host of that speed computes what takes `time` at speed 1. Throws
/// std::invalid_argument when that is more than base::time_max.
Nanos at_speed(Nanos time, double speed);

/// What this OS thread has computed, whoever else had its processor meanwhile.
Nanos processor_time();

/// Delays of a thread by something else, which begin again behind the end of the last one.
class Noise {
 public:
  /// Recorded: lines "start_ns duration_ns" in order of start. Throws base::ConfigError.
  explicit Noise(const std::string& file);
  Noise(Nanos duration, Nanos period);            ///< once in each period, which is longer
  static Noise once(Nanos duration, Nanos when);  ///< at that time; then not for a year
  Nanos period() const { return period_; }
  /// How long a computation of `span` takes that begins at `from` of the recording's time: every
  /// delay that begins meanwhile adds its duration, one that lasts at the beginning what is left.
  Nanos stretched(Nanos from, Nanos span) const;

 private:
  struct Delay {
    Nanos start;
    Nanos duration;
  };
  std::vector<Delay> delays_;
  Nanos period_{0};
};

/// "HOST/THREAD=5ms/100ms": delays one thread, or with * all, for that long once in that period,
/// beginning somewhere in it; "HOST/THREAD=10s@20s": once, at that time.
struct InjectedNoise {
  std::string thread;
  std::shared_ptr<const Noise> noise;
  bool is_once = false;
  /// Throws std::invalid_argument for what is none, or of a thread that the plan has not.
  static InjectedNoise parse(const std::string& text, const paths::Plan& plan);
};

/// How long each thread of a traced run computed before each of its moves on a collective.
class ComputationTimes {
 public:
  /// Throws std::runtime_error for what is no trace, and std::invalid_argument for one that has
  /// other threads than the plan, or none of a thread's computations.
  ComputationTimes(const std::string& directory, const std::string& collective,
                   std::uint32_t threads);
  /// Of the thread's computation number `iteration`; begins again after the last one.
  Nanos of(std::uint32_t rank, std::uint64_t iteration) const;

 private:
  std::vector<std::vector<std::int64_t>> nanos_;  // by rank
};

/// How all threads compute.
struct ComputeOptions {
  enum class Kind : std::uint8_t {
    sort,      ///< sorts integers, as many as take the time when nothing else runs
    spin,      ///< calculates until the time has passed
    sleep,     ///< lets the time pass
    declared,  ///< the same, by the name that says what it means on the virtual clock
    replay,    ///< sleeps, with the delays of a recording, or as long as a traced run computed
  };
  Kind kind = Kind::declared;
  Nanos time{0};
  std::shared_ptr<const Noise> noise = nullptr;  ///< what `replay` replays: this, or
  std::shared_ptr<const ComputationTimes> times = nullptr;
  double variation = 0;  ///< standard deviation of the time, as a share of it; not of sort
  std::vector<InjectedNoise> injected = {};
};

/// One thread's computing. The time is divided by the speed of its host.
class Compute {
 public:
  /// For `sort`, finds out how many integers take the time.
  Compute(paths::Thread& thread, const ComputeOptions& options);
  void run();

 private:
  void compute();
  Nanos varied_time();
  void sort();
  void tune();
  void spin(Nanos span);

  paths::Thread& thread_;
  const ComputeOptions& options_;
  const Nanos time_;
  Nanos noise_begins_{0};  // where in the recording the thread's time 0 is
  struct Injected {
    std::shared_ptr<const Noise> noise;
    Nanos begins;
  };
  std::vector<Injected> injected_;  // those of this thread
  std::uint64_t iteration_ = 0;
  std::vector<std::uint32_t> integers_;
  std::uint64_t spun_ = 0;
};

}  // namespace bench
