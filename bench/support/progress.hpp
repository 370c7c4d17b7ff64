// SPDX-License-Identifier: Apache-2.0
// bench/support/progress.hpp — progress of a program, and its end by Ctrl-C.
#pragma once
#include <cstdint>
#include <string>

namespace bench {

/// A line on standard error that is written over, if that is a terminal.
///
/// Thread-safe: no.
class Progress {
 public:
  /// `all` = 0: how many there will be is not known.
  Progress(std::string what, std::uint64_t all, bool is_wanted = true);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows about every hundredth of them.
  void at(std::uint64_t done);
  void clear();

 private:
  const std::string what_;
  const std::uint64_t all_;
  const bool is_shown_;
  bool is_there_ = false;
  std::uint64_t next_ = 0;
};

/// Ctrl-C in a process that has figures: it may print those so far. A second Ctrl-C ends the
/// process at once, and so do five seconds in which the program did not look.
class Interruption {
 public:
  Interruption();  ///< from here on, unless the process ignores Ctrl-C
  bool is_asked() const;
  /// Prints the text and ends the process by the signal.
  [[noreturn]] void end(const std::string& text) const;
};

}  // namespace bench
