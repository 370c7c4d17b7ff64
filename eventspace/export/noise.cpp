// SPDX-License-Identifier: Apache-2.0
// eventspace/export/noise.cpp — export of noise: the first pass finds medians, the second pass the
// excess over these medians.
#include "eventspace/export/noise.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/export/export_file.hpp"
#include "eventspace/export/intervals.hpp"

namespace eventspace {
namespace {

/// Maximum number of durations from which a median is computed exactly. For more durations, the
/// error of the median is at most 1%.
constexpr std::size_t durations_kept_max = std::size_t{4} << 20;

/// Receives the computations between a thread's operations. The time before a thread's first
/// operation is left out, because it is the thread's preparation.
class Computations : public IntervalVisitor {
 public:
  void enter(std::uint32_t track, std::uint32_t, const Interval& interval) override {
    if (interval.label != Tracks::computation_label)
      has_operated_ = has_operated_ || interval.leaf != none;
    else if (has_operated_)
      add(tracks_.all()[track], interval);
  }
  void leave(std::uint32_t, std::uint32_t, const Interval&) override {}
  void end_track(std::uint32_t) override {
    has_operated_ = false;
    end();
  }

 protected:
  explicit Computations(const Tracks& tracks) : tracks_(tracks) {}
  virtual void add(const Track& thread, const Interval& computation) = 0;
  virtual void end() = 0;  ///< called at the end of each thread

 private:
  const Tracks& tracks_;
  bool has_operated_ = false;
};

class Medians : public Computations {
 public:
  explicit Medians(const Tracks& tracks) : Computations(tracks), medians_(tracks.leaves(), 0) {}
  std::int64_t of(std::uint32_t leaf) const { return medians_[leaf]; }
  std::uint64_t count() const { return count_; }

 private:
  void add(const Track&, const Interval& computation) override {
    ++count_;
    lasted_.try_emplace(computation.leaf, durations_kept_max)
        .first->second.add(computation.end_nanos - computation.begin_nanos);
  }
  void end() override {
    for (const auto& [leaf, lasted] : lasted_) medians_[leaf] = lasted.quantile(0.5);
    lasted_.clear();
  }

  // Durations of the current thread's computations, keyed by leaf.
  std::map<std::uint32_t, Distribution> lasted_;
  std::vector<std::int64_t> medians_;
  std::uint64_t count_ = 0;
};

class Writing : public Computations {
 public:
  Writing(const Tracks& tracks, const Medians& medians, ExportFile& out)
      : Computations(tracks), medians_(medians), out_(out) {}
  void finish() {
    line("{}\t0\n", written_);
    out_.finish();
  }

 private:
  void add(const Track& thread, const Interval& computation) override {
    if (!has_begun_) {
      has_begun_ = true;
      begin_ = computation.begin_nanos;
      // Writes the name of the thread as a comment line. Noise simulators skip such lines.
      line("# {}\n", thread.name);
    }
    end_ = computation.end_nanos;
    const std::int64_t over =
        computation.end_nanos - computation.begin_nanos - medians_.of(computation.leaf);
    std::int64_t at = written_;
    add_to(at, computation.begin_nanos - begin_);
    if (over > 0) line("{}\t{}\n", at, over);
  }
  void end() override {
    if (has_begun_) add_to(written_, end_ - begin_);
    has_begun_ = false;
  }
  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_.text()), format, std::forward<Values>(values)...);
    out_.write_when_much();
  }

  const Medians& medians_;
  ExportFile& out_;
  bool has_begun_ = false;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t written_ = 0;  // total time of the threads that are written
};

}  // namespace

Exported export_noise(const TraceDirectory& trace, const std::filesystem::path& file,
                      std::optional<std::uint32_t> rank) {
  const auto is_wanted = [&](const Track& track) {
    return track.thread != none && (!rank || track.thread == *rank);
  };
  Intervals intervals(trace, HostClocks::own(trace), file, is_wanted);
  Medians medians(intervals.tracks());
  intervals.visit(medians);
  if (medians.count() == 0)
    throw std::runtime_error(
        fmt::format("{}: no computations between operations of {} were recorded",
                    trace.path.string(), rank ? trace.structure.thread_name(*rank) : "any thread"));
  ExportFile out(file);
  Writing writing(intervals.tracks(), medians, out);
  intervals.visit(writing);
  writing.finish();
  return intervals.exported();
}

}  // namespace eventspace
