// SPDX-License-Identifier: Apache-2.0
// commands/host_measurement.hpp — time that hosts spend on frames, folds and copies, measured by
// trains of messages.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "base/units.hpp"
#include "commands/bursts.hpp"
#include "commands/link_measurement.hpp"

namespace commands {

/// Costs of the frames from one host to another. Trivially copyable, because hosts send them to
/// each other.
struct FrameFigures {
  static constexpr std::size_t points_most = 16;
  struct Point {
    std::uint64_t bytes = 0;
    base::Nanos send{0}, receive{0};  ///< time of the processors of both hosts for a frame
  };
  std::array<Point, points_most> points = {};  ///< by increasing size; the first is one byte
  std::size_t count = 0;                       ///< number of valid points
  double spread = 0;                           ///< median of the spreads of the points
  /// Whether the hosts are slower than the link for the largest frame. The measured bandwidth is
  /// then that of the hosts.
  bool are_hosts_slower = false;
  bool is_usable = false;  ///< false if other programs disturbed the measurement

  /// Returns the time of both hosts for a frame of one byte.
  base::Nanos costs_of_one_byte() const { return points[0].send + points[0].receive; }
  tuning::FrameCosts costs() const;
};

/// Measures the time that two hosts spend on the frames from this host to `target`, by size. The
/// sizes go from one byte to one frame. For each size, these times are measured:
/// - the time of a single message
/// - in a train of messages, the time that each further message adds
/// - the same on the receiving host, which sends each message back
///
/// Each host has one processor. If the processors are slower than the link, a further message adds
/// the larger of the two costs. If it is sent back, it adds the sum of the two costs. If the link
/// is slower than the processors, a further message adds the link's time in both cases. The sum of
/// the costs is then the time of a single message minus the link's latency and its time for the
/// bytes. It is divided between the hosts in the same ratio as for the next smaller size.
/// Requires: frames in the other direction cost the same.
///
/// Why: the time of a single message does not show which part is latency and which part is work of
///      the hosts.
/// Blocks: until the measurement is done. The host `target` must be in help().
FrameFigures measure_frames(Bursts& bursts, std::uint32_t target, std::uint64_t frame_bytes);

/// Returns whether the costs of frames of all `wanted` sizes can be computed from those of the
/// `measured` sizes. The smallest size and half of all sizes are enough. But if larger sizes are
/// wanted, a size well above 4 KiB must be among them. Frames just above 4 KiB cost suddenly more,
/// because they are sent in another way. A line through this rise would be far too steep for larger
/// frames.
/// Requires: both lists increase.
bool suffice_for_costs(const std::vector<std::uint64_t>& measured,
                       const std::vector<std::uint64_t>& wanted);

/// Nanoseconds to fold or to copy a byte of one operand, with the spreads of both figures.
struct WorkFigures {
  double fold_nanos_per_byte = 0, fold_spread = 0;
  double copy_nanos_per_byte = 0, copy_spread = 0;
  bool is_usable = false;  ///< false if other programs disturbed the measurement
};

/// Measures sums of doubles and copies, with blocks of 64 KiB, on this host. Not on the virtual
/// clock.
WorkFigures measure_work(paths::Thread& thread);

/// Returns the expected time and traffic of measure_frames().
Cost cost_of_frames(base::Nanos latency, double bits_per_second, std::uint64_t frame_bytes,
                    bool is_virtual);

}  // namespace commands
