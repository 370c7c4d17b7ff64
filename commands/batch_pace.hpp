// SPDX-License-Identifier: Apache-2.0
// commands/batch_pace.hpp — pauses between batches of samples, and the detection of disturbances.
#pragma once
#include <chrono>
#include <functional>

#include "base/units.hpp"
#include "paths/host/thread.hpp"

namespace commands {

/// Runs batches of samples with pauses between them, and detects batches that other processes
/// disturbed.
///
/// Why: A machine is often slow for 0.1 to 2 seconds at a time. With pauses between batches, not
///      all batches fall into the same slow period.
/// Thread-safe: no.
/// Blocks: run().
class BatchPace {
 public:
  /// Least time between the starts of two batches.
  static constexpr base::Nanos apart = std::chrono::milliseconds(100);

  explicit BatchPace(paths::Thread& thread) : thread_(thread) {}

  /// Returns whether other processes can distort measured times; false on the virtual clock.
  bool can_be_disturbed() const;

  /// Calls `batch`, no earlier than `apart` after the start of the previous batch. Returns whether
  /// other processes disturbed this batch.
  bool run(const std::function<void()>& batch);

 private:
  paths::Thread& thread_;
  base::Nanos next_{0};
};

}  // namespace commands
