// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_intervals_test.cpp — tracks (rows of a timeline) and their intervals,
// from which all exports are made.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "paths/operation.hpp"
#include "tests/eventspace/export_sample.hpp"

namespace {

using namespace eventspace;
using namespace export_sample;
using trace_sample::Folder;

/// Checks the guarantees that IntervalVisitor documents, and counts the intervals.
class Checking : public IntervalVisitor {
 public:
  explicit Checking(const Tracks& tracks) : tracks_(tracks) {}

  void enter(std::uint32_t track, std::uint32_t row, const Interval& interval) override {
    auto& open = open_[row];
    const auto at = at_.try_emplace(row, interval.begin_nanos).first;
    is_in_order_ = is_in_order_ && interval.begin_nanos >= at->second;
    at->second = interval.begin_nanos;
    if (!open.empty()) is_nested_ = is_nested_ && interval.end_nanos <= open.back().end_nanos;
    open.push_back(interval);
    rows_ = std::max(rows_, row + 1);
    std::string name;
    for (const Interval& around : open) name += "/" + tracks_.labels()[around.label].name;
    ++seen[tracks_.all()[track].name + name];
    nanos[tracks_.all()[track].name + name] += interval.end_nanos - interval.begin_nanos;
    if (interval.label != Tracks::computation_label && interval.leaf == none) ++records;
  }
  void leave(std::uint32_t, std::uint32_t row, const Interval& interval) override {
    is_nested_ = is_nested_ && !open_[row].empty() && open_[row].back().record == interval.record &&
                 open_[row].back().label == interval.label;
    is_in_order_ = is_in_order_ && interval.end_nanos >= at_[row];
    at_[row] = interval.end_nanos;
    if (!open_[row].empty()) open_[row].pop_back();
  }
  void end_track(std::uint32_t track) override {
    for (const auto& [row, open] : open_) is_nested_ = is_nested_ && open.empty();
    open_.clear();
    at_.clear();
    is_once_ = is_once_ && ended_.insert(track).second;
  }
  bool is_good() const { return is_nested_ && is_in_order_ && is_once_; }
  std::uint32_t rows() const { return rows_; }

  std::map<std::string, int> seen;
  std::map<std::string, std::int64_t> nanos;
  std::uint64_t records = 0;  ///< visited records; a thread that was recorded twice counts once

 private:
  const Tracks& tracks_;
  std::map<std::uint32_t, std::vector<Interval>> open_;  // open intervals of each row
  std::map<std::uint32_t, std::int64_t> at_;
  std::set<std::uint32_t> ended_;
  std::uint32_t rows_ = 0;
  bool is_nested_ = true, is_in_order_ = true, is_once_ = true;
};

EventRecord record_of(EventKind kind, std::uint32_t place, std::int64_t down, std::int64_t up) {
  EventRecord record;
  record.kind = static_cast<std::uint64_t>(kind);
  record.place = place;
  record.down_nanos = down;
  record.up_nanos = up;
  return record;
}

}  // namespace

TEST_CASE(
    "intervals: a thread lives and computes and operates and a join attributes time to its "
    "leader") {
  const Folder folder;
  write_run(folder.path() / "run", 3);
  const TraceDirectory trace(folder.path() / "run");
  Intervals intervals(trace, own_clocks(trace), folder.path() / "scratch");
  Checking seen(intervals.tracks());
  intervals.visit(seen);
  CHECK(seen.is_good());
  CHECK(seen.rows() == 1);
  CHECK(seen.records == intervals.exported().records);
  CHECK(seen.seen["alpha-0/1/thread"] == 1);
  CHECK(seen.seen["alpha-0/1/thread/computation"] == 3);
  CHECK(seen.nanos["alpha-0/1/thread/computation"] == 3 * 30 * sample::ms);
  CHECK(seen.seen["alpha-0/1/thread/sum/sum.join.alpha-0"] == 3);
  CHECK(seen.seen["sum.join.alpha-0/sum.join.alpha"] == 3);
  CHECK(seen.seen["sum.join/store"] == 3);
  CHECK(seen.seen["sum.join.beta/forward to beta-gateway"] == 3);
  CHECK(seen.seen["from beta-0: wan.beta.alpha/wan.beta.alpha/forward to alpha-0"] == 3);
}

TEST_CASE("intervals: sorting in runs gives the same result as sorting in memory") {
  const Folder folder;
  write_run(folder.path() / "run", 50);
  const TraceDirectory trace(folder.path() / "run");
  Intervals large(trace, own_clocks(trace), folder.path() / "scratch");
  Intervals small(trace, own_clocks(trace), folder.path() / "scratch", {}, 100 * sizeof(Span));
  Checking of_large(large.tracks()), of_small(small.tracks()), again(small.tracks());
  large.visit(of_large);
  small.visit(of_small);
  small.visit(again);
  CHECK(of_small.is_good());
  CHECK(of_small.seen == of_large.seen);
  CHECK(again.nanos == of_large.nanos);
  // All temporary files were removed.
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("intervals: rows nest and no record is lost with any records") {
  const auto seed = GENERATE(range(1u, 30u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const Folder folder;
  sample::Options options;
  options.hosts = 2;
  sample::Run run(options);
  const auto stages = static_cast<std::uint32_t>(run.structure.stages.size());
  std::uint64_t records = 0;
  std::set<std::pair<std::uint32_t, std::int64_t>> lives;
  {
    Writing writing(folder.path() / "run", run.structure);
    for (; records < 2000; ++records) {
      const auto host = static_cast<std::uint32_t>(random() % run.structure.hosts.size());
      auto record = record_of(static_cast<EventKind>(random() % 22), random() % (stages + 2),
                              static_cast<std::int64_t>(random() % 50) - 10, 0);
      record.up_nanos = record.down_nanos + static_cast<std::int64_t>(random() % 20) - 2;
      record.slot = random() % 3;
      record.sequence = random() % 10;
      if (record.kind == static_cast<std::uint64_t>(EventKind::thread)) record.kind = 1;
      writing.add(host, record);
    }
  }
  const TraceDirectory trace(folder.path() / "run");
  Intervals intervals(trace, own_clocks(trace), folder.path() / "scratch");
  Checking seen(intervals.tracks());
  intervals.visit(seen);
  CHECK(seen.is_good());
  CHECK(seen.records == records);
}

TEST_CASE("intervals: a thread recorded at its start and again at its end lives once") {
  const Folder folder;
  sample::Run run({});
  {
    Writing writing(folder.path() / "run", run.structure);
    writing.add(0, record_of(EventKind::thread, 1, 5, 6));
    writing.add(0, record_of(EventKind::thread, 1, 5, 900));
  }
  const TraceDirectory trace(folder.path() / "run");
  Intervals intervals(trace, own_clocks(trace), folder.path() / "scratch");
  Checking seen(intervals.tracks());
  intervals.visit(seen);
  CHECK(seen.seen == std::map<std::string, int>{{"alpha-0/1/thread", 1}});
  CHECK(seen.nanos["alpha-0/1/thread"] == 895);
}

TEST_CASE("intervals: time during lost operations is unknown and not computation") {
  const Folder folder;
  sample::Options options;
  options.hosts = 2;
  sample::Run run(options);
  {
    Writing writing(folder.path() / "run", run.structure);
    for (int round = 0; round < 5; ++round) {
      const auto& records = run.next_round();
      if (round != 2) writing.add(records);
    }
    writing.add(run.thread_records());
  }
  const TraceDirectory trace(folder.path() / "run");
  Intervals intervals(trace, own_clocks(trace), folder.path() / "scratch");
  Checking seen(intervals.tracks());
  intervals.visit(seen);
  CHECK(seen.seen["alpha-0/0/thread/sum"] == 4);
  CHECK(seen.seen["alpha-0/0/thread/computation"] == 3);
}

TEST_CASE("intervals: a path first recorded on another host enters there") {
  const Folder folder;
  Structure plan;
  plan.clusters = {"alpha"};
  plan.hosts = {{"alpha-0", 0, 0, 1}, {"alpha-1", 0, 1, 1}};
  plan.wrappers = {{"", "forward", 0, 1, "to: alpha-1", ""},
                   {"", "event_collector", 1, 1, "", ""},
                   {"values", "store", 1, 1, "", ""}};
  for (Structure::Wrapper& wrapper : plan.wrappers) set_job_by_kind(wrapper);
  plan.stages = {{0, 1, 0, 0}, {1, 2, 0, 0}, {2, no_stage, 0, 0}};
  plan.paths = {{"values", 0, 0, 1, 0, 0}};
  { Writing(folder.path() / "run", plan).add(1, record_of(EventKind{1}, 1, 5, 9)); }
  const TraceDirectory trace(folder.path() / "run");
  Intervals intervals(trace, own_clocks(trace), folder.path() / "scratch");
  Checking seen(intervals.tracks());
  intervals.visit(seen);
  CHECK(seen.seen == std::map<std::string, int>{{"values/values", 1}});
}

TEST_CASE("intervals: offsets bring all hosts to the clock of the first one") {
  const Folder folder;
  write_run(folder.path() / "run", 2);
  const TraceDirectory trace(folder.path() / "run");
  const Intervals own(trace, own_clocks(trace), folder.path() / "scratch");
  const Intervals first(trace, one_clock(trace), folder.path() / "scratch");
  CHECK(own.end_nanos() > 1'000 * sample::ms);
  CHECK(first.begin_nanos() == 0);
  CHECK(first.end_nanos() < 100 * sample::ms);
}

TEST_CASE("intervals: operations have the same names as on paths") {
  for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(paths::OperationKind::traffic);
       ++kind)
    CHECK(name_of_operation(record_of(static_cast<EventKind>(kind), 0, 0, 0)) ==
          paths::operation_name(static_cast<paths::OperationKind>(kind)));
}
