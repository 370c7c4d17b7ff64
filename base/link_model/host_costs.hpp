// SPDX-License-Identifier: Apache-2.0
// base/link_model/host_costs.hpp — time that hosts spend on messages, folds and copies
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "base/units.hpp"

namespace tuning {

/// Time that a host spends to send or receive one frame, as a function of the frame's size in
/// bytes.
class CostTable {
 public:
  struct Point {
    std::uint64_t bytes = 0;
    base::Nanos time{0};
    friend bool operator==(const Point&, const Point&) = default;
  };
  CostTable() = default;  ///< empty table: every frame takes no time
  /// Requires: from each point to the next, the bytes increase and the time does not decrease.
  explicit CostTable(std::vector<Point> points) : points_(std::move(points)) {}

  /// Returns the time for a frame. Between two points the time is linear in the bytes. Below the
  /// first point it is the time of the first point. Above the last point it rises as between the
  /// last two points.
  base::Nanos at(std::uint64_t bytes) const;
  /// Returns a table with the times of this table multiplied by `factor`.
  CostTable scaled(double factor) const;
  /// Returns a table that approximates this table, with at most as many points. At each size in
  /// this table, the times of both tables differ by at most the fraction `tolerance` of the time in
  /// this table.
  CostTable simplified(double tolerance) const;
  const std::vector<Point>& points() const { return points_; }
  friend bool operator==(const CostTable&, const CostTable&) = default;

 private:
  std::vector<Point> points_;
};

/// Time that the sending host spends on a frame, and time that the receiving host spends on it. One
/// FrameCosts applies to all frames inside a cluster, or to all frames from one cluster to another.
struct FrameCosts {
  CostTable send, receive;
  /// Maximum number of bytes in frames that a host has prepared and not yet sent. 0 = twice the
  /// maximum size of a frame. A host that has no prepared frame may always prepare a frame,
  /// whatever its size.
  std::uint64_t window_bytes = 0;
  /// Spreads of the measured costs, relative to the costs. 0 = not measured.
  double send_spread = 0, receive_spread = 0;
  friend bool operator==(const FrameCosts&, const FrameCosts&) = default;

  /// Returns the window in bytes: `window_bytes`, or by default twice `frame_bytes`. `frame_bytes`
  /// is the maximum size of a frame.
  std::uint64_t window(std::uint64_t frame_bytes) const {
    constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
    if (window_bytes != 0) return window_bytes;
    return frame_bytes > unlimited / 2 ? unlimited : 2 * frame_bytes;
  }
};

/// Returns a readable text such as "12us to 47us to send a frame of 1B to 64KiB, 9us to 38us to
/// receive it".
std::string describe(const FrameCosts& costs);

/// Returns whether the time to send or receive a frame differs between `before` and `now` at any
/// size in the tables. Only differences above the sum of both spreads plus 5 % count.
bool differs(const FrameCosts& before, const FrameCosts& now);

/// Costs of all hosts of a run. A host has one processor for all its work.
struct HostCosts {
  /// Costs of the frames from one cluster to another, or inside a cluster (`from` equals `to`).
  struct Link {
    std::string from, to;
    std::shared_ptr<const FrameCosts> costs;
    base::Position position = {};  ///< position of this entry in its file
  };
  /// Costs of frames for which `links` has no entry; nullptr = `links` has entries for all frames.
  std::shared_ptr<const FrameCosts> frames;
  std::vector<Link> links;
  /// Time in nanoseconds to fold or to copy one byte, on a host of speed 1. A fold of two operands
  /// of n bytes counts as n bytes.
  double fold_nanos_per_byte = 0, copy_nanos_per_byte = 0;
  double fold_spread = 0, copy_spread = 0;  ///< relative spreads; 0 = not measured
  /// Number of cores of each machine. The hosts on a machine share them (SharedCores). 0 = each
  /// host has a core of its own.
  std::uint32_t cores = 0;
  /// Additional time that a host needs to receive a frame if it is idle when the frame arrives. The
  /// thread of an idle host sleeps, so the operating system must wake it up.
  base::Nanos wake_up{0};
  std::string file = {};         ///< file with measured costs; "" = the costs are in the config
  base::Position position = {};  ///< position of the map `costs` in its file or config

  /// Return the rates of folds and copies for work_time(), which counts all bytes read and written.
  /// 0 = the work takes no time.
  double fold_bytes_per_second() const { return rate(3, fold_nanos_per_byte); }
  double copy_bytes_per_second() const { return rate(2, copy_nanos_per_byte); }

  /// Returns the costs of frames from the cluster `from` to the cluster `to`. Both may be the same
  /// cluster.
  /// Requires: check_clusters() has found no mistake.
  const std::shared_ptr<const FrameCosts>& between(std::string_view from,
                                                   std::string_view to) const;

 private:
  static double rate(double blocks, double nanos_per_byte) {
    return nanos_per_byte > 0 ? blocks * 1e9 / nanos_per_byte : 0;
  }
};

/// Returns the time of a fold or a copy. `bytes` counts bytes read and bytes written. If the rate
/// is 0, the work takes no time.
base::Nanos work_time(std::uint64_t bytes, double bytes_per_second);

/// Reads costs:
///
///     send: {1B: 4us, 4KiB: 6us, 64KiB: 30us}
///     receive: 5us
///     fold_ns_per_byte: 0.3
///     copy_ns_per_byte: 0.1
///     cores: 2
///     wake_up: 90us
///     links:
///       - {inside: alpha, send: 2us, receive: 2us}
///       - {from: alpha, to: beta, send: 9us, receive: 9us, window: 256KiB}
///
/// Mistakes are unknown keys, negative costs, costs that fall with the size, and duplicate links.
HostCosts read_host_costs(const base::Settings& settings, base::Mistakes& mistakes);

/// Adds a mistake for each cluster of the costs that is not in `clusters`, and for each pair of
/// clusters that has no costs.
void check_clusters(const HostCosts& costs, const std::vector<std::string>& clusters,
                    base::Mistakes& mistakes);

/// Returns settings that read_host_costs() reads back to the same costs.
base::Settings settings_of(const HostCosts& costs);

}  // namespace tuning
