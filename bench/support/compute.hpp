// SPDX-License-Identifier: Apache-2.0
// bench/support/compute.hpp — computation of a thread between two collective operations
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/host/thread.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

using base::Nanos;

/// Returns the time that a host with the speed `speed` needs for work that takes `time` at speed 1.
/// Throws std::invalid_argument if the result exceeds base::time_max.
Nanos at_speed(Nanos time, double speed);

/// Returns the processor time of this OS thread, without the time of other threads.
Nanos processor_time();

/// Delays of a thread by other activity on its processor. The sequence repeats after the end of the
/// last delay.
class Noise {
 public:
  /// Reads recorded delays: lines "start_ns duration_ns" in order of start. Throws
  /// base::ConfigError.
  explicit Noise(const std::string& file);
  Noise(Nanos duration, Nanos period);  ///< makes one delay at the end of each period
  /// Returns noise with a single delay, at the time `when`. The noise repeats only after a year.
  static Noise once(Nanos duration, Nanos when);
  Nanos period() const { return period_; }
  /// Returns how long a computation takes with this noise. It takes `span` without noise, and
  /// begins at the time `from` of the recording. Each delay that begins during the computation adds
  /// its duration. A delay that is under way at `from` adds its remaining time.
  Nanos stretched(Nanos from, Nanos span) const;

 private:
  struct Delay {
    Nanos start;
    Nanos duration;
  };
  std::vector<Delay> delays_;
  Nanos period_{0};
};

/// Noise that the user injects, by a text such as "HOST/THREAD=5ms/100ms". A * for HOST or THREAD
/// stands for all hosts or threads. "5ms/100ms" is a delay of 5 ms in each period of 100 ms, with a
/// random phase. "10s@20s" is a single delay of 10 s at the time 20 s.
struct InjectedNoise {
  std::string thread;
  std::shared_ptr<const Noise> noise;
  bool is_once = false;
  /// Throws std::invalid_argument if the text is invalid, or the plan has no such thread.
  static InjectedNoise parse(const std::string& text, const paths::Plan& plan);
};

/// Computation time of each thread before each of its contributions to a collective. The times are
/// from the trace of an earlier run.
class ComputationTimes {
 public:
  /// Throws std::runtime_error if the directory contains no trace. Throws std::invalid_argument if
  /// the trace and the plan have different numbers of threads, or if the trace lacks a thread's
  /// computations.
  ComputationTimes(const std::string& directory, const std::string& collective,
                   std::uint32_t threads);
  /// Returns the thread's computation time in iteration `iteration`. After the last recorded
  /// iteration, the first recorded iteration follows again.
  Nanos of(std::uint32_t rank, std::uint64_t iteration) const;

 private:
  // Computation times of each thread, indexed by rank.
  std::vector<std::vector<std::int64_t>> nanos_;
};

/// Kind, duration and delays of the computation; equal for all threads.
struct ComputeOptions {
  /// Kind of the computation. `time`, `noise` and `times` are data members of ComputeOptions.
  enum class Kind : std::uint8_t {
    sort,      ///< sorts as many integers as an idle processor sorts in `time`
    spin,      ///< calculates until `time` has passed
    sleep,     ///< sleeps for `time`
    declared,  ///< same as `sleep`, under its name for runs on the virtual clock
    replay,    ///< sleeps for `time` plus the delays of `noise`, or for the recorded times of
               ///< `times`
  };
  Kind kind = Kind::declared;
  Nanos time{0};
  std::shared_ptr<const Noise> noise = nullptr;  ///< `replay` uses `noise` or `times`
  std::shared_ptr<const ComputationTimes> times = nullptr;
  double variation = 0;  ///< standard deviation as a share of `time`; ignored by `sort`
  std::vector<InjectedNoise> injected = {};
};

/// Calls `work` until `span` has passed, which keeps a processor busy. On the virtual clock, sleeps
/// for `span` instead.
void occupy_processor(paths::Thread& thread, Nanos span, const std::function<void()>& work);

/// Computation of one thread. Its duration is ComputeOptions::time, divided by the speed of the
/// host.
class Compute {
 public:
  /// If the kind is `sort`, measures how many integers can be sorted in ComputeOptions::time.
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
  Nanos noise_begins_{0};  // time in the recording of `noise` at which the thread starts
  struct Injected {
    std::shared_ptr<const Noise> noise;
    Nanos begins;
  };
  std::vector<Injected> injected_;  // noise of this thread only
  std::uint64_t iteration_ = 0;
  std::vector<std::uint32_t> integers_;
  std::uint64_t spun_ = 0;
};

}  // namespace bench
