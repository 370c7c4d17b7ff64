// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/recorder_test.cpp — buffers of records: many threads fill them at the same time,
// but only one thread at a time empties them.
#include "eventspace/recorder.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/snapshot.hpp"

namespace {

using eventspace::EventRecord;
using eventspace::Recorder;
using eventspace::WhenFull;

EventRecord numbered(std::uint64_t sequence, std::uint32_t place = 7) {
  EventRecord record;
  record.place = place;
  record.slot = 3;
  record.sequence = sequence;
  record.down_nanos = -1;
  record.up_nanos = std::int64_t{1} << 40;
  record.bytes = 8;
  record.flags = eventspace::event_failed;
  return record;
}

void add(Recorder& recorder, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) recorder.add(numbered(i));
}

// The + makes a copy of the bit-field, because a reference cannot refer to a bit-field.
std::vector<std::uint64_t> sequences(const std::vector<EventRecord>& records) {
  std::vector<std::uint64_t> all;
  for (const EventRecord& record : records) all.push_back(+record.sequence);
  return all;
}

/// Runs work(number) in several OS threads at the same time, each with a number of its own. Repeats
/// `meanwhile` on the calling thread until all these threads have ended.
template <class Work, class Meanwhile>
void in_threads(std::uint64_t threads, const Work& work, const Meanwhile& meanwhile) {
  test_support::on_steady_clock([&](runtime::Runtime& runtime) {
    std::vector<runtime::Task> tasks;
    for (std::uint64_t t = 0; t < threads; ++t)
      tasks.push_back(
          runtime.spawn(runtime::ContextRole::thread, {"adder", "", t}, [&work, t] { work(t); }));
    for (runtime::Task& task : tasks) {
      while (!task.done()) meanwhile();
      task.join();
    }
  });
}

}  // namespace

TEST_CASE("recorder: records are returned whole and in order") {
  Recorder recorder(4);
  add(recorder, 0, 3);
  CHECK(recorder.dropped() == 0);
  const auto records = test_support::snapshot(recorder);
  REQUIRE(records.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(records[i] == numbered(i));
  CHECK(test_support::snapshot(recorder).empty());
}

TEST_CASE("recorder: it records nothing until room is reserved") {
  Recorder recorder;
  CHECK_FALSE(recorder.is_on());
  add(recorder, 0, 1);
  CHECK(test_support::snapshot(recorder).empty());
  recorder.reserve(2);
  CHECK(recorder.is_on());
  add(recorder, 1, 1);
  CHECK(sequences(test_support::snapshot(recorder)) == std::vector<std::uint64_t>{1});
}

TEST_CASE("recorder: a full lane drops the newest records and counts them and taking makes room") {
  Recorder recorder(4);
  add(recorder, 0, 11);
  CHECK(recorder.dropped() == 7);
  CHECK(sequences(test_support::snapshot(recorder)) == std::vector<std::uint64_t>{0, 1, 2, 3});
  add(recorder, 11, 2);
  CHECK(sequences(test_support::snapshot(recorder)) == std::vector<std::uint64_t>{11, 12});
  CHECK(recorder.dropped() == 7);
}

TEST_CASE("recorder: taken records are numbered without gaps in two spans if the ring wraps") {
  Recorder recorder(4);
  add(recorder, 0, 3);
  test_support::snapshot(recorder);
  add(recorder, 3, 5);
  int lanes = 0;
  recorder.take([&lanes](const Recorder::Taken& taken) {
    ++lanes;
    CHECK(taken.lane == 0);
    CHECK(taken.first == 3);
    CHECK(taken.dropped == 1);
    CHECK(taken.count() == 4);
    CHECK(taken.records[0].size() == 1);
    CHECK(taken.records[1].size() == 3);
    CHECK(taken.records[0][0].sequence == 3);
    CHECK(taken.records[1][2].sequence == 6);
  });
  CHECK(lanes == 1);
}

TEST_CASE("recorder: records stay if their consumer throws") {
  Recorder recorder(4);
  add(recorder, 0, 2);
  CHECK_THROWS_AS(recorder.take([](const Recorder::Taken&) { throw std::runtime_error("full"); }),
                  std::runtime_error);
  CHECK(sequences(test_support::snapshot(recorder)) == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("recorder: one that flushes when it is full drops nothing") {
  Recorder recorder(4, WhenFull::flush);
  std::vector<EventRecord> all;
  recorder.on_full([&] {
    for (const EventRecord& record : test_support::snapshot(recorder)) all.push_back(record);
  });
  add(recorder, 0, 10);
  CHECK(all.size() == 8);
  for (const EventRecord& record : test_support::snapshot(recorder)) all.push_back(record);
  CHECK(recorder.dropped() == 0);
  CHECK(sequences(all) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("recorder: one without a flush function drops records") {
  Recorder recorder(2, WhenFull::flush);
  add(recorder, 0, 3);
  CHECK(recorder.dropped() == 1);
  recorder.on_full([] {});  // this function frees no space in the buffers
  add(recorder, 3, 1);
  CHECK(recorder.dropped() == 2);
}

TEST_CASE("recorder: recorders of one thread do not mix with each other or with later ones") {
  for (int round = 0; round < 3; ++round) {
    Recorder one(4), other(4);
    one.add(numbered(1));
    other.add(numbered(2));
    CHECK(sequences(test_support::snapshot(one)) == std::vector<std::uint64_t>{1});
    CHECK(sequences(test_support::snapshot(other)) == std::vector<std::uint64_t>{2});
  }
}

TEST_CASE("recorder: a thread-local object may add a record while its thread ends") {
  Recorder recorder(100);
  bool has_wrong_memory = false;
  struct AtEnd {
    Recorder* recorder = nullptr;
    bool* has_wrong_memory = nullptr;
    ~AtEnd() {
      if (recorder == nullptr) return;
      // Takes the memory of the table if it was freed, whatever its size is.
      std::vector<std::vector<const void*>> memory;
      for (std::size_t size = 1; size < 1000; ++size) memory.emplace_back(size);
      recorder->add(numbered(1));
      for (const auto& one : memory)
        for (const void* const entry : one) *has_wrong_memory |= entry != nullptr;
    }
  };
  std::thread thread([&] {  // tidy: own thread
    static thread_local AtEnd at_end;
    // The object exists before the first record, so it is destroyed late.
    at_end.recorder = &recorder;
    at_end.has_wrong_memory = &has_wrong_memory;
    recorder.add(numbered(0));
  });
  thread.join();
  CHECK_FALSE(has_wrong_memory);
  std::size_t records = 0;
  recorder.take([&](const Recorder::Taken& taken) { records += taken.count(); });
  CHECK(records == 2);
}

TEST_CASE("recorder: threads that add concurrently lose nothing and keep their order") {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each = 5'000;
  Recorder recorder(each);
  in_threads(
      threads,
      [&](std::uint64_t t) {
        for (std::uint64_t i = 0; i < each; ++i)
          recorder.add(numbered(i, static_cast<std::uint32_t>(t)));
      },
      [] {});
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_thread;
  std::uint32_t lanes = 0;
  recorder.take([&](const Recorder::Taken& taken) {
    CHECK(taken.lane == lanes++);
    CHECK(taken.count() == each);
    for (const auto records : taken.records)
      for (const EventRecord& record : records) by_thread[record.place].push_back(record.sequence);
  });
  CHECK(lanes == threads);
  REQUIRE(by_thread.size() == threads);
  for (const auto& [thread, own] : by_thread)
    for (std::uint64_t i = 0; i < each; ++i) REQUIRE(own.at(i) == i);
  CHECK(recorder.dropped() == 0);
}

TEST_CASE(
    "recorder: taking during concurrent adds gives each record once or counts it as dropped") {
  constexpr std::uint64_t threads = 3;
  constexpr std::uint64_t each = 20'000;
  const WhenFull when_full = GENERATE(WhenFull::drop, WhenFull::flush);
  Recorder recorder(64, when_full);
  std::map<std::uint32_t, std::uint64_t> next;  // used only in consume()
  std::uint64_t taken_count = 0;
  std::atomic<bool> in_order{true};
  const auto consume = [&](const Recorder::Taken& taken) {
    for (const auto records : taken.records)
      for (const EventRecord& record : records) {
        if (record.sequence < next[record.place]) in_order = false;
        next[record.place] = record.sequence + 1;
        ++taken_count;
      }
  };
  recorder.on_full([&] { recorder.take(consume); });
  in_threads(
      threads,
      [&](std::uint64_t t) {
        for (std::uint64_t i = 0; i < each; ++i)
          recorder.add(numbered(i, static_cast<std::uint32_t>(t)));
      },
      [&] { recorder.take(consume); });
  recorder.take(consume);
  CHECK(in_order);
  CHECK(taken_count + recorder.dropped() == threads * each);
  if (when_full == WhenFull::flush) CHECK(recorder.dropped() == 0);
}
