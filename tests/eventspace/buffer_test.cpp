// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/buffer_test.cpp — the ring of records.
#include "eventspace/buffer.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/runtime.hpp"

namespace {

using eventspace::Buffer;
using eventspace::EventRecord;

EventRecord numbered(std::uint64_t sequence) {
  EventRecord record;
  record.collector = 7;
  record.slot = 3;
  record.sequence = sequence;
  record.down_nanos = -1;
  record.up_nanos = std::int64_t{1} << 40;
  record.bytes_and_flags = eventspace::event_failed | 8;
  return record;
}

}  // namespace

// Records are packed, so that a field is read as a value (+) where a reference could be taken.
TEST_CASE("buffer: records come back whole and in order") {
  Buffer buffer(4);
  for (std::uint64_t i = 0; i < 3; ++i) buffer.add(numbered(i));
  CHECK(buffer.added() == 3);
  CHECK(buffer.dropped() == 0);
  const auto records = buffer.snapshot();
  REQUIRE(records.size() == 3);
  CHECK(records[2].collector == 7u);
  CHECK(records[2].slot == 3u);
  CHECK(records[2].sequence == 2u);
  CHECK(records[2].down_nanos == -1);
  CHECK(records[2].up_nanos == std::int64_t{1} << 40);
  CHECK(records[2].bytes_and_flags == (eventspace::event_failed | 8u));
}

TEST_CASE("buffer: when there are too many, the newest stay, oldest of them first") {
  Buffer buffer(4);
  for (std::uint64_t i = 0; i < 11; ++i) buffer.add(numbered(i));
  CHECK(buffer.added() == 11);
  CHECK(buffer.dropped() == 7);
  std::vector<std::uint64_t> sequences;
  for (const EventRecord& record : buffer.snapshot()) sequences.push_back(+record.sequence);
  CHECK(sequences == std::vector<std::uint64_t>{7, 8, 9, 10});
}

TEST_CASE("buffer: collects nothing until room is reserved") {
  Buffer buffer;
  buffer.add(numbered(0));
  CHECK(buffer.added() == 0);
  CHECK(buffer.snapshot().empty());
  buffer.reserve(2);
  buffer.add(numbered(1));
  REQUIRE(buffer.snapshot().size() == 1);
  CHECK(buffer.snapshot()[0].sequence == 1);
}

TEST_CASE("buffer: threads that add at once lose nothing") {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each = 5'000;
  Buffer buffer(threads * each);
  runtime::Runtime runtime;
  runtime.run([&] {
    std::vector<runtime::Task> tasks;
    for (std::uint64_t t = 0; t < threads; ++t) {
      tasks.push_back(runtime.spawn(runtime::ContextRole::thread, {"adder", "", t}, [&, t] {
        for (std::uint64_t i = 0; i < each; ++i) buffer.add(numbered(t * each + i));
      }));
    }
    for (runtime::Task& task : tasks) task.join();
  });
  std::set<std::uint64_t> sequences;
  for (const EventRecord& record : buffer.snapshot()) sequences.insert(+record.sequence);
  CHECK(sequences.size() == threads * each);
  CHECK(buffer.dropped() == 0);
}
