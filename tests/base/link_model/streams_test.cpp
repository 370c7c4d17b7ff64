// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/streams_test.cpp — messages on parallel streams of a link, if the caller
// reports the ends of messages late.
#include "base/link_model/streams.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace {

const tuning::Streams<char>::Pair pair(0, 1);

/// A link with one stream that takes 1 us per byte.
tuning::Link slow_link() {
  tuning::Link link;
  link.stream_rate = 8e6;
  link.streams = 1;
  return link;
}

}  // namespace

TEST_CASE("streams: a message offered late does not start before the previous one has ended") {
  tuning::LinkInstance link{tuning::LinkModel(1ms, 0)};
  tuning::Streams<char> streams(slow_link(), 1);

  streams.offer(pair, {'a', 1000});
  const auto first = streams.start(5ms, link);
  REQUIRE(first);
  CHECK(first->begin == 5ms);
  CHECK(first->stream_free == 6ms);
  streams.end_of_stream(pair, first->stream_free);

  // Message `b` is due at 5.5 ms, while the stream is busy. The test offers `b` later, but states
  // 5.5 ms as its due time.
  streams.offer(pair, {'b', 1000});
  const auto second = streams.start(5'500us, link);
  REQUIRE(second);
  CHECK(second->begin == 6ms);
  CHECK(second->stream_free == 7ms);
  streams.end_of_stream(pair, second->stream_free);

  streams.offer(pair, {'c', 1000});
  CHECK(streams.start(9ms, link)->begin == 9ms);
}

TEST_CASE(
    "streams: a message behind an end that is reported late starts no earlier than its own "
    "arrival") {
  tuning::LinkInstance link{tuning::LinkModel(1ms, 0)};
  tuning::Streams<char> streams(slow_link(), 1);
  streams.offer(pair, {'a', 1000});
  const auto first = streams.start(1ms, link);
  REQUIRE(first);
  streams.offer(pair, {'b', 1000, 8ms, 8ms});
  CHECK_FALSE(streams.start(8ms, link));
  streams.end_of_stream(pair, first->stream_free);
  const auto second = streams.start(first->stream_free, link);
  REQUIRE(second);
  CHECK(second->begin == 8ms);
  CHECK(second->stream_free == 9ms);
}
