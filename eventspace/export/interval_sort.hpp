// SPDX-License-Identifier: Apache-2.0
// eventspace/export/interval_sort.hpp — external sort of records by track and time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "eventspace/record.hpp"
#include "eventspace/trace/file.hpp"

namespace eventspace {

/// Record with its position in a timeline: a track, and a depth. A record that encloses other
/// records has a lower depth than the enclosed records.
struct Span {
  std::uint32_t track = 0;
  std::uint32_t depth = 0;
  EventRecord record;
};

/// Sorts any number of records by track, begin, sequence and depth, in bounded memory.
///
/// Why:    Records arrive in the order of their ends. The record of a thread's life begins first
///         but arrives last, so sorting within a window is not enough. When the records need more
///         than `bytes` bytes, sorted runs are written to a file.
/// Owns:   A temporary file. It is unlinked immediately, so that a killed process leaves no file
///         behind.
/// Throws: std::runtime_error that names the file.
/// Memory: At most `bytes` bytes, as passed to the constructor.
class SpanSort {
 public:
  explicit SpanSort(std::filesystem::path scratch, std::size_t bytes = std::size_t{64} << 20);
  void add(const Span& span);
  /// Visits the spans in order, any number of times. Requires: no add() follows.
  void for_each(const std::function<void(const Span&)>& visit);

 private:
  class Run;
  void sort_held();
  void write_run();
  void merge(const std::function<void(const Span&)>& visit);

  std::filesystem::path scratch_;
  std::size_t held_max_;
  std::vector<Span> held_;
  bool is_sorted_ = true;
  std::unique_ptr<File> to_write_;
  std::unique_ptr<File> to_read_;
  std::vector<std::uint64_t> run_ends_;  // end of each run: number of spans before it
};

}  // namespace eventspace
