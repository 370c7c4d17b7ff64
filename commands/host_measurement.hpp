// SPDX-License-Identifier: Apache-2.0
// commands/host_measurement.hpp — measurement of the time that hosts spend on frames, folds and
// copies.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "base/link_model/measurement.hpp"
#include "base/units.hpp"
#include "commands/bursts.hpp"
#include "commands/link_measurement.hpp"

namespace commands {

/// Costs of the frames from one host to another. The struct is trivially copyable, because hosts
/// send it to each other.
struct FrameFigures {
  static constexpr std::size_t points_most = 16;
  struct Point {
    std::uint64_t bytes = 0;
    base::Nanos send{0}, receive{0};  ///< processor time of sender and receiver for a frame
  };
  std::array<Point, points_most> points = {};  ///< sizes ascend; points[0] is for one byte
  std::size_t count = 0;                       ///< number of valid points
  double spread = 0;                           ///< median of the spreads of the points
  /// Whether the hosts are slower than the link for the largest frame. The measured bandwidth is
  /// then the rate of the hosts, not of the link.
  bool are_hosts_slower = false;
  bool is_usable = false;  ///< false if other programs disturbed the measurement

  /// Returns the total processor time of both hosts for a frame of one byte.
  base::Nanos costs_of_one_byte() const { return points[0].send + points[0].receive; }
  tuning::FrameCosts costs() const;
};

/// Measures the time that two hosts spend on the frames from this host to `target`, by size. The
/// sizes go from one byte to one frame. For each size, these times are measured:
/// - the time of a single message;
/// - the time that each further message of a train adds;
/// - the time that each further message of a train adds on the receiving host, if that host sends
///   each message back.
///
/// Each host has one processor. If the processors are slower than the link, a further message adds
/// the larger of the two hosts' costs. If the receiving host sends the messages back, a further
/// message adds the sum of the two hosts' costs. If the link is slower than the processors, a
/// further message adds the link's time in both cases. The sum of the costs is then the time of a
/// single message minus the link's latency and the link's time for the bytes. This sum is divided
/// between the hosts in the same ratio as for the next smaller size.
///
/// Why: The time of a single message does not show which part of it is latency, and which part is
///      work of the hosts.
/// Blocks: until the measurement is done.
/// Requires: the host `target` is in help(). Frames in the opposite direction have the same costs.
FrameFigures measure_frames(Bursts& bursts, std::uint32_t target, std::uint64_t frame_bytes);

/// Returns whether the costs of frames of all `wanted` sizes can be computed from the costs of the
/// `measured` sizes. The measured sizes suffice if they contain the smallest wanted size, and are
/// at least half as many as the wanted sizes. In addition, they must contain the largest wanted
/// size, or a size well above 4 KiB. Frames just above 4 KiB cost suddenly more, because they are
/// sent in a different way. A line through this rise would be far too steep for larger frames.
/// Requires: both lists increase.
bool suffice_for_costs(const std::vector<std::uint64_t>& measured,
                       const std::vector<std::uint64_t>& wanted);

/// Costs of folds and copies in nanoseconds per byte of one operand, with the spreads of the
/// measurements.
struct WorkFigures {
  double fold_nanos_per_byte = 0, fold_spread = 0;
  double copy_nanos_per_byte = 0, copy_spread = 0;
  bool is_usable = false;  ///< false if other programs disturbed the measurement
};

/// Computes the costs of folds and copies from batches of samples.
class WorkMeasurement {
 public:
  static constexpr std::size_t block_bytes = 64 << 10;

  WorkMeasurement();
  /// Adds a batch: times of folds and of copies of a block.
  void add(const std::vector<base::Nanos>& folds, const std::vector<base::Nanos>& copies,
           bool is_disturbed);
  bool needs_more() const { return undisturbed_.needs_more(); }
  /// Returns the costs from the undisturbed batches. If there are too few undisturbed batches,
  /// returns the costs from all batches.
  WorkFigures figures() const;

 private:
  struct Work {
    tuning::Measurement fold, copy;
    bool needs_more() const;
    bool is_usable() const { return fold.is_usable() && copy.is_usable(); }
  };
  Work undisturbed_, all_;
};

/// Measures sums and copies of doubles on this host, with blocks of 64 KiB.
/// Requires: the steady clock.
WorkFigures measure_work(paths::Thread& thread);
/// Returns the expected duration of measure_work().
base::Nanos expected_time_of_work();

/// Returns the expected time and traffic of measure_frames().
Cost cost_of_frames(base::Nanos latency, double bits_per_second, std::uint64_t frame_bytes,
                    bool is_virtual);

}  // namespace commands
