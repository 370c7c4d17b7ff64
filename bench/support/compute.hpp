// SPDX-License-Identifier: Apache-2.0
// bench/support/compute.hpp — what a thread does between two collective operations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/thread.hpp"

namespace bench {

using base::Nanos;

/// Recorded delays of a thread by something else: the file has lines "start_ns duration_ns" in
/// order of start, and begins again behind the end of its last delay.
class Noise {
 public:
  explicit Noise(const std::string& file);  ///< throws base::ConfigError
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

/// How all threads compute.
struct ComputeOptions {
  enum class Kind : std::uint8_t {
    sort,      ///< sorts integers, as many as take the time when nothing else runs
    spin,      ///< calculates until the time has passed
    sleep,     ///< lets the time pass
    declared,  ///< the same, by the name that says what it means on the virtual clock
    replay,    ///< sleeps, with the delays of a recording
  };
  Kind kind = Kind::declared;
  Nanos time{0};
  std::shared_ptr<const Noise> noise = nullptr;
};

/// One thread's computing. The time is divided by the speed of its host.
class Compute {
 public:
  /// For `sort`, finds out how many integers take the time.
  Compute(paths::Thread& thread, const ComputeOptions& options);
  void run();

 private:
  void sort();
  void tune();
  void spin();

  paths::Thread& thread_;
  const ComputeOptions& options_;
  const Nanos time_;
  Nanos noise_begins_{0};  // where in the recording the thread's time 0 is
  std::vector<std::uint32_t> integers_;
  std::uint64_t spun_ = 0;
};

}  // namespace bench
