// SPDX-License-Identifier: Apache-2.0
// tests/paths/short_frames_test.cpp — standing calls, frame by frame.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "paths/wire/short_frame.hpp"
#include "tests/paths/connections_talk.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;

Operation move_of(double value, std::uint64_t sequence) {
  Operation operation;
  operation.sequence = sequence;
  operation.payload = base::Payload::of(value);
  return operation;
}

ShortFrame reply_of(double value, std::uint32_t standing = 0) {
  ShortFrame reply;
  reply.is_reply = true;
  reply.standing = standing;
  reply.result.payload = base::Payload::of(value);
  return reply;
}

/// Makes a call in another context, which sends its request within 1 ms. Stores the result as text,
/// such as "3.0", or the error.
struct Caller {
  Caller(Talk& talk, Operation operation)
      : task(talk.runtime.spawn(
            runtime::ContextRole::thread, {"thread"},
            [this, &talk, operation = std::move(operation)] { call(talk, operation); })) {
    talk.runtime.sleep_for(1ms);
  }
  void call(Talk& talk, const Operation& operation) {
    const std::string error = thrown<TravelError>([&] {
      const Result result = talk.call(operation, talk.runtime.now() + 1s);
      came = fmt::format("{:.1f}", result.payload.read<double>());
    });
    if (error != "nothing") came = error;
  }
  std::string came;
  runtime::Task task;
};

/// Makes the first request of a standing call and delivers its reply.
void begin(Talk& talk, std::uint64_t sequence = 0) {
  Caller caller(talk, move_of(1, sequence));
  talk.reply_to(talk.sent.back(), 2.0);
  caller.task.join();
  CHECK(caller.came == "2.0");
}

}  // namespace

TEST_CASE("short frames: a standing call's first request is a frame and the next ones are short") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    CHECK(talk.sent_of(FrameKind::request) == 1);
    CHECK(talk.sent.back().call == call_of_standing(0));
    for (std::uint64_t sequence = 1; sequence < 4; ++sequence) {
      Operation operation = move_of(double(sequence), sequence);
      operation.thread = 3;
      operation.contributions = 5;
      Caller caller(talk, std::move(operation));
      REQUIRE(talk.sent_short.size() == sequence);
      const ShortFrame& asked = talk.sent_short.back();
      CHECK_FALSE(asked.is_reply);
      CHECK(asked.standing == 0);
      CHECK(asked.thread == 3);
      CHECK(asked.result.sequence == sequence);
      CHECK(asked.result.contributions == 5);
      CHECK(asked.result.payload.read<double>() == double(sequence));
      talk.short_comes(Talk::outbound, reply_of(7));
      caller.task.join();
      CHECK(caller.came == "7.0");
    }
  });
  CHECK(talk.sent_of(FrameKind::request) == 1);
  CHECK(talk.connections.traffic().all(0).messages == 4);
  CHECK(talk.connections.traffic().all(0).bytes == 32);
  CHECK(talk.gone.empty());
}

TEST_CASE("short frames: a transport without short frames gets none") {
  Talk talk(false);
  talk.runtime.run([&] {
    begin(talk, 0);
    CHECK(talk.sent.back().call == 0);
    begin(talk, 1);
    CHECK(talk.sent.back().call == 1);
  });
}

TEST_CASE("short frames: operations that do not fit are sent as frames while others stay short") {
  struct Case {
    std::string what;
    std::function<void(Operation&)> change;
  };
  const std::vector<Case> cases = {
      {"another kind", [](Operation& o) { o.kind = OperationKind::observe; }},
      {"a large tuple",
       [](Operation& o) { o.payload = base::Payload::of(std::vector<double>(7)); }},
      {"a segment", [](Operation& o) { o.segments = 2; }},
      {"a failure",
       [](Operation& o) { o.failure = std::make_shared<TravelError>("", "", "", "failed"); }},
      {"a path that has not called yet", [](Operation& o) { o.path = 1; }},
      {"a slot that has not called yet", [](Operation& o) { o.slot = 1; }}};
  for (const Case& one : cases) {
    INFO(one.what);
    Talk talk(true);
    talk.runtime.run([&] {
      begin(talk);
      Operation operation = move_of(1, 1);
      one.change(operation);
      Caller caller(talk, std::move(operation));
      CHECK(talk.sent_short.empty());
      CHECK(talk.sent_of(FrameKind::request) == 2);
      Caller again(talk, move_of(1, 1));
      CHECK(talk.sent_short.size() == 1);
      talk.short_comes(Talk::outbound, reply_of(7));
      again.task.join();
      talk.connections.connection_lost(Talk::outbound, "that will do");
      caller.task.join();
    });
  }
}

TEST_CASE("short frames: a second call while one is under way is a frame with another number") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    Caller first(talk, move_of(1, 1)), second(talk, move_of(1, 2));
    CHECK(talk.sent_short.size() == 1);
    REQUIRE(talk.sent_of(FrameKind::request) == 2);
    CHECK_FALSE(is_of_standing(talk.sent.back().call));
    talk.reply_to(talk.sent.back(), 8.0);
    talk.short_comes(Talk::outbound, reply_of(7));
    first.task.join();
    second.task.join();
    CHECK(first.came == "7.0");
    CHECK(second.came == "8.0");
  });
}

TEST_CASE("short frames: a call that was given up is reused after its reply has arrived") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    Caller late(talk, move_of(1, 1));
    late.task.join();  // the call ends at its deadline
    CHECK_THAT(late.came, Catch::Contains("no reply from host beta-0 in time"));
    Caller next(talk, move_of(1, 2));
    CHECK(talk.sent_short.size() == 1);
    CHECK(talk.sent_of(FrameKind::request) == 2);
    talk.short_comes(Talk::outbound, reply_of(7));  // no caller waits for this reply
    CHECK(next.came.empty());
    Caller after(talk, move_of(1, 3));
    CHECK(talk.sent_short.size() == 2);
    talk.short_comes(Talk::outbound, reply_of(9));
    after.task.join();
    CHECK(after.came == "9.0");
    talk.connections.connection_lost(Talk::outbound, "that will do");
    next.task.join();
  });
  CHECK(talk.gone.size() == 1);
}

TEST_CASE("short frames: a failure or a large tuple returns as a frame") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    Caller caller(talk, move_of(1, 1));
    Frame error = talk.frame(FrameKind::error);
    error.call = call_of_standing(0);
    error.operation.failure = std::make_shared<TravelError>("beta-0", "work", "join", "too late");
    talk.connections.deliver(Talk::outbound, std::move(error));
    caller.task.join();
    CHECK_THAT(caller.came, Catch::Contains("too late"));
    Caller again(talk, move_of(1, 2));
    CHECK(talk.sent_short.size() == 2);
    talk.short_comes(Talk::outbound, reply_of(7));
    again.task.join();
    CHECK(again.came == "7.0");
  });
}

TEST_CASE("short frames: a waiter for a reply gets an error when the peer is lost") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    Caller caller(talk, move_of(1, 1));
    talk.connections.connection_lost(Talk::outbound, "died");
    caller.task.join();
    CHECK_THAT(caller.came, Catch::Contains("host beta-0 is gone: died"));
  });
}

TEST_CASE("short frames: pushes without credits are not overtaken by later calls") {
  Talk talk(true);
  talk.runtime.run([&] {
    begin(talk);
    for (std::uint32_t i = 0; i < CreditWindow::size - 1; ++i) talk.push(i);
    talk.sent.clear();
    talk.push(4711);  // this push waits for credits
    CHECK(talk.sent.empty());
    Caller caller(talk, move_of(1, 1));
    CHECK(talk.sent_short.empty());
    talk.connections.connection_lost(Talk::outbound, "that will do");
    caller.task.join();
  });
}

TEST_CASE("short frames: requests are passed on and get replies without credits") {
  Talk talk(true);
  talk.hello();
  Frame first = talk.operation(FrameKind::request);
  first.call = call_of_standing(2);
  talk.connections.deliver(Talk::inbound, std::move(first));
  REQUIRE(talk.served.size() == 1);
  ShortFrame asked;
  asked.standing = 2;
  asked.result.payload = base::Payload::of(1.0);
  talk.short_comes(Talk::inbound, ShortFrame(asked));
  REQUIRE(talk.served_short.size() == 1);
  CHECK(talk.served_short[0].first == Talk::inbound);
  CHECK(talk.served_short[0].second.standing == 2);
  talk.connections.sender().reply(Talk::inbound, 0, reply_of(3, 2));
  REQUIRE(talk.sent_short.size() == 1);
  CHECK(talk.sent_short[0].result.payload.read<double>() == 3);
  CHECK(talk.connections.traffic().all(0).messages == 1);
}

TEST_CASE("short frames: an unexpected short frame refuses the peer with the reason") {
  struct Case {
    std::string wrong;
    // Function that is called after the hello and after a standing call that got its reply.
    std::function<void(Talk&)> act;
  };
  ShortFrame asked;
  const std::vector<Case> cases = {
      {"a reply to standing call 0, which does not wait",
       [](Talk& talk) { talk.short_comes(Talk::outbound, reply_of(1)); }},
      {"a reply to standing call 1, which does not wait",
       [](Talk& talk) { talk.short_comes(Talk::outbound, reply_of(1, 1)); }},
      {"a reply to standing call 4294967295",
       [](Talk& talk) { talk.short_comes(Talk::outbound, reply_of(1, ~0u)); }},
      {"cluster 2 of 2",
       [](Talk& talk) {
         ShortFrame reply = reply_of(1);
         reply.result.origin.cluster = 2;
         talk.short_comes(Talk::outbound, std::move(reply));
       }},
      {"an operation in place of a reply",
       [&](Talk& talk) { talk.short_comes(Talk::outbound, ShortFrame(asked)); }},
      {"a reply in place of an operation",
       [](Talk& talk) { talk.short_comes(Talk::inbound, reply_of(1)); }},
      {"a frame after its goodbye",
       [&](Talk& talk) {
         talk.goodbye(Talk::inbound);
         talk.short_comes(Talk::inbound, ShortFrame(asked));
       }},
      {"standing call 8 of 8",
       [](Talk& talk) {
         Frame first = talk.operation(FrameKind::request);
         first.call = call_of_standing(standing_max);
         talk.connections.deliver(Talk::inbound, std::move(first));
       }},
      {"a reply to standing call 5, which does not wait",
       [](Talk& talk) {
         Frame reply = talk.frame(FrameKind::reply);
         reply.call = call_of_standing(5);
         talk.connections.deliver(Talk::outbound, std::move(reply));
       }},
  };
  for (const Case& one : cases) {
    INFO(one.wrong);
    Talk talk(true);
    talk.runtime.run([&] {
      talk.hello();
      begin(talk);
      one.act(talk);
    });
    CHECK(is_refused(talk, one.wrong));
    CHECK(talk.served_short.empty());
  }
}

TEST_CASE("short frames: before a hello they are refused and no host is gone") {
  Talk talk(true);
  talk.short_comes(Talk::inbound, ShortFrame());
  CHECK(talk.served_short.empty());
  CHECK(talk.gone.empty());
  CHECK(talk.sent_of(FrameKind::refuse) == 1);
}

TEST_CASE("short frames: the end of a closed connection refuses a frame and leaves it unchanged") {
  Talk talk(true);
  CHECK(talk.connections.short_end(Talk::inbound) == nullptr);
  talk.hello();
  const auto end = talk.connections.short_end(Talk::inbound);
  REQUIRE(end != nullptr);
  CHECK(talk.connections.short_end(Talk::inbound) == end);
  talk.connections.liveness().refuse(Talk::inbound, "enough");  // refuse() closes the connection
  REQUIRE(talk.dropped == std::vector{Talk::inbound});
  ShortFrame asked;
  asked.result.payload = base::Payload::of(1.0);
  CHECK_FALSE(end->deliver(std::move(asked)));
  CHECK(asked.result.payload.read<double>() == 1.0);
  CHECK(talk.served_short.empty());
}
