// SPDX-License-Identifier: Apache-2.0
// bench/support/progress.hpp — progress line of a program, and its end by Ctrl-C
#pragma once
#include <cstdint>
#include <string>

namespace bench {

/// A progress line on standard error, if standard error is a terminal. Each update overwrites the
/// previous text.
///
/// Thread-safe: no.
class Progress {
 public:
  /// `all` is the expected total; 0 = unknown.
  Progress(std::string what, std::uint64_t all, bool is_wanted = true);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows the progress about once for each hundredth of the total.
  void at(std::uint64_t done);
  void clear();

 private:
  const std::string what_;
  const std::uint64_t all_;
  const bool is_shown_;
  bool is_there_ = false;
  std::uint64_t next_ = 0;
};

/// Handles Ctrl-C in a process that has figures, so that the process can print the figures measured
/// so far. A second Ctrl-C ends the process immediately. If the process has not ended within five
/// seconds of the first Ctrl-C, SIGALRM ends it.
class Interruption {
 public:
  Interruption();  ///< handles Ctrl-C from now on, unless the process ignores SIGINT
  bool is_asked() const;
  /// Prints the text and ends the process by SIGINT, as if the process did not handle Ctrl-C.
  [[noreturn]] void end(const std::string& text) const;
};

}  // namespace bench
