// SPDX-License-Identifier: Apache-2.0
// commands/run_log.hpp — file with the times of all runs of `paths tune`, so that an interrupted
// tune can continue.
#pragma once
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace commands {

/// A file with one JSON object per line. A *tune* is one execution of `paths tune`. The first line
/// of a tune names the config and the clock. Then each run adds a line with the collective, the
/// number of elements, the schedule and the time. A run that was disturbed is void: its time is
/// null. A tune that has written its table adds a last line.
///
///     {"tune": "config 5b1f..., steady clock"}
///     {"run": "allreduce 64 tree:shape=flat", "nanos": 10110000}
///     {"finished": true}
///
/// Thread-safe: no.
class RunLog {
 public:
  /// Opens or creates the file. If the last tune in the file has the name `tune` and has not
  /// finished, reads its runs. Ignores lines that are not JSON, because a killed tune may leave an
  /// incomplete line.
  /// Throws: std::runtime_error if the file cannot be written.
  RunLog(std::string file, const std::string& tune);

  /// Returns the number of runs that the constructor read from the file and that take() has not
  /// returned yet.
  std::size_t remaining() const { return remaining_; }
  /// Returns the next time that the file contains for a run with the text `run`, such as "allreduce
  /// 64 tree:shape=flat". Returns nullopt if the file contains no further run with this text. The
  /// inner optional is nullopt if the run was void.
  std::optional<std::optional<base::Nanos>> take(const std::string& run);
  /// Appends a run to the file. `time` is nullopt for a void run.
  /// Throws: std::runtime_error if the file cannot be written.
  void add(const std::string& run, std::optional<base::Nanos> time);
  /// Marks the tune as finished, so that the next tune does not use its runs.
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
