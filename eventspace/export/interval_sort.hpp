// SPDX-License-Identifier: Apache-2.0
// eventspace/export/interval_sort.hpp — records of any number in the order in which tracks have
// them.
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

/// A record on its track; what encloses others has a lower depth.
struct Span {
  std::uint32_t track = 0;
  std::uint32_t depth = 0;
  EventRecord record;
};

/// Sorts by track, begin, sequence and depth.
///
/// Why:    records come by their ends, a thread's life after all that happened in it, so no window
///         is wide enough. When they are more than fit into memory, sorted runs go to a file.
/// Memory: `bytes`.
/// Owns:   its file, which has no name any more when it is there, so nothing is left behind.
/// Throws: std::runtime_error, naming the file.
class SpanSort {
 public:
  explicit SpanSort(std::filesystem::path scratch, std::size_t bytes = std::size_t{64} << 20);
  void add(const Span& span);
  /// When all are added; as often as wanted.
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
  std::vector<std::uint64_t> run_ends_;  // counted in spans
};

}  // namespace eventspace
