// SPDX-License-Identifier: Apache-2.0
// commands/run_log.hpp — file with the times of all runs of `paths tune`, from which an ended tune
// continues.
#pragma once
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace commands {

/// A file of lines in JSON. The first line of a tune names what was tuned; then each run has a line
/// with the collective, its size, the schedule and the time. A void run has the time null. A tune
/// that has written its table adds a last line.
///
///     {"tune": "config 5b1f..., steady clock"}
///     {"run": "allreduce 64 tree:shape=flat", "nanos": 10110000}
///     {"finished": true}
///
/// Thread-safe: no.
class RunLog {
 public:
  /// Opens the file, or makes it. Reads the runs of the last tune of that name, unless it has
  /// finished. Lines that are no JSON are ignored: a killed tune leaves such a line.
  /// Throws: std::runtime_error if the file cannot be written.
  RunLog(std::string file, const std::string& tune);

  /// Returns the number of runs that the file had, and that take() has not returned yet.
  std::size_t remaining() const { return remaining_; }
  /// Returns the next time of that run in the file, which may be void. Returns nothing if the file
  /// has no more runs of that name.
  std::optional<std::optional<base::Nanos>> take(const std::string& run);
  /// Adds a run. Throws: std::runtime_error if the file cannot be written.
  void add(const std::string& run, std::optional<base::Nanos> time);
  /// Marks the tune as finished, so that the next one begins anew.
  void finish();

 private:
  void read(const std::string& tune);
  void write(const std::string& line);

  const std::string file_;
  std::ofstream out_;
  std::map<std::string, std::deque<std::optional<base::Nanos>>> runs_;
  std::size_t remaining_ = 0;
};

}  // namespace commands
