// SPDX-License-Identifier: Apache-2.0
// tests/paths/frame_test.cpp — bytes of frames.
#include "paths/wire/frame.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace paths;

base::Payload bytes_of(const std::string& text) {
  return base::Payload::copy_of(std::as_bytes(std::span(text)));
}

Frame request() {
  Frame frame;
  frame.kind = FrameKind::request;
  frame.run_high = 0x0123456789abcdef;
  frame.run_low = 0xfedcba9876543210;
  frame.from_host = 3;
  frame.credits = 5;
  frame.call = 77;
  frame.stage = 9;
  frame.operation.kind = OperationKind::newest;
  frame.operation.path = 1;
  frame.operation.thread = 2;
  frame.operation.slot = 3;
  frame.operation.segment = 4;
  frame.operation.segments = 6;
  frame.time_left = std::chrono::milliseconds(7);
  frame.operation.sequence = 1ull << 40;
  frame.operation.number = 12;
  frame.operation.contributions = 140;
  frame.operation.payload = bytes_of("eight by");
  return frame;
}

std::optional<Frame> sent(const Frame& frame) {
  const auto header = encode_header(frame);
  CHECK(header.size() == header_bytes(frame));
  return decode_frame(header, encode_body(frame));
}

}  // namespace

TEST_CASE("frame: a request arrives as it was sent") {
  const Frame before = request();
  const auto after = sent(before);
  REQUIRE(after);
  CHECK(after->kind == FrameKind::request);
  CHECK(after->version == protocol_version);
  CHECK(after->run_high == before.run_high);
  CHECK(after->run_low == before.run_low);
  CHECK(after->from_host == 3);
  CHECK(after->credits == 5);
  CHECK(after->call == 77);
  CHECK(after->stage == 9);
  CHECK(after->operation.kind == OperationKind::newest);
  CHECK_FALSE(after->operation.one_way);
  CHECK(after->operation.path == 1);
  CHECK(after->operation.thread == 2);
  CHECK(after->operation.slot == 3);
  CHECK(after->operation.segment == 4);
  CHECK(after->operation.segments == 6);
  CHECK(after->time_left == std::chrono::milliseconds(7));
  CHECK(after->operation.sequence == 1ull << 40);
  CHECK(after->operation.number == 12);
  CHECK(after->operation.contributions == 140);
  CHECK(after->operation.payload == before.operation.payload);
  CHECK(after->operation.failure == nullptr);
}

TEST_CASE("frame: the time until a deadline arrives in whole milliseconds and at least one") {
  const auto arrived = [](base::Nanos time_left) {
    Frame frame = request();
    frame.time_left = time_left;
    return sent(frame)->time_left;
  };
  using namespace std::chrono_literals;
  CHECK(arrived(1ns) == 1ms);
  CHECK(arrived(999'999ns) == 1ms);
  CHECK(arrived(1'999'999ns) == 1ms);
  CHECK(arrived(-1ns) == -1ms);  // the deadline has passed
  CHECK(arrived(0ns) == 0ms);    // there is no deadline
}

TEST_CASE("frame: a push keeps its large payload without a copy") {
  Frame push = request();
  push.kind = FrameKind::one_way;
  push.operation.one_way = true;
  push.operation.payload = base::Payload::filled(1 << 20, [](auto bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  });
  const auto after = sent(push);
  REQUIRE(after);
  CHECK(after->kind == FrameKind::one_way);
  CHECK(after->operation.one_way);
  CHECK(after->operation.payload.bytes().data() == push.operation.payload.bytes().data());
}

TEST_CASE("frame: a reply carries its result") {
  Frame reply;
  reply.kind = FrameKind::reply;
  reply.call = 5;
  reply.result = {Condition::fails, true, 6, 7, 8, bytes_of("value"), {}};
  reply.result.origin = {paths::Origin::Kind::waited, 9, 10, 11};
  const auto after = sent(reply);
  REQUIRE(after);
  CHECK(after->kind == FrameKind::reply);
  CHECK(after->call == 5);
  CHECK(after->result.condition == Condition::fails);
  CHECK(after->result.proved);
  CHECK(after->result.number == 6);
  CHECK(after->result.sequence == 7);
  CHECK(after->result.contributions == 8);
  CHECK(after->result.origin.kind == paths::Origin::Kind::waited);
  CHECK(after->result.origin.cluster == 9);
  CHECK(after->result.origin.sequence == 10);
  CHECK(after->result.origin.nanos == 11);
  CHECK(after->result.payload == bytes_of("value"));
}

TEST_CASE("frame: a reply that returns the request's tuple must not have a body") {
  Frame reply;
  reply.kind = FrameKind::reply;
  reply.returns_moved = true;
  reply.result.proved = true;
  const auto after = sent(reply);
  REQUIRE(after);
  CHECK(after->returns_moved);
  CHECK(after->result.proved);
  CHECK(after->result.payload.empty());
  CHECK_FALSE(decode_frame(encode_header(reply), bytes_of("body")));
}

TEST_CASE("frame: a failure travels as four texts and a cause in place of the payload") {
  const FrameKind kind = GENERATE(FrameKind::request, FrameKind::one_way, FrameKind::error);
  Frame frame = request();
  frame.kind = kind;
  const auto cause = static_cast<FailureCause>(GENERATE(range(0, 7)));
  frame.operation.failure = std::make_shared<const TravelError>(
      "alpha-1", "sum", "", "deadline of 60s passed \xc3\xa9", cause);
  const auto after = sent(frame);
  REQUIRE(after);
  REQUIRE(after->operation.failure);
  CHECK(after->operation.failure->host() == "alpha-1");
  CHECK(after->operation.failure->path() == "sum");
  CHECK(after->operation.failure->wrapper().empty());
  CHECK(after->operation.failure->reason() == "deadline of 60s passed \xc3\xa9");
  CHECK(after->operation.failure->cause() == cause);
  CHECK(after->operation.payload.empty());
  std::vector<std::byte> header = encode_header(frame);
  header[7] = std::byte{1 | 7 << 1};
  CHECK_FALSE(decode_frame(header, encode_body(frame)));  // the failure cause is unknown
}

TEST_CASE("frame: control frames carry a text and no body") {
  for (const FrameKind kind : {FrameKind::hello, FrameKind::welcome, FrameKind::refuse,
                               FrameKind::credits, FrameKind::heartbeat, FrameKind::goodbye}) {
    CHECK(is_control(kind));
    Frame frame;
    frame.kind = kind;
    frame.text = "alpha-0";
    const auto after = sent(frame);
    REQUIRE(after);
    CHECK(after->kind == kind);
    CHECK(after->text == "alpha-0");
    CHECK_FALSE(decode_frame(encode_header(frame), bytes_of("more")));
  }
  for (const FrameKind kind :
       {FrameKind::request, FrameKind::reply, FrameKind::error, FrameKind::one_way})
    CHECK_FALSE(is_control(kind));
}

TEST_CASE("frame: a lane's frame carries its source and target and its part of a message") {
  Frame frame;
  frame.kind = FrameKind::lane;
  frame.text = "why";
  frame.lane = std::make_shared<paths::LaneFrame>();
  frame.lane->is_granted = true;
  frame.lane->source = 3;
  frame.lane->target = 700'000;
  frame.lane->group = 0xfedc'ba98'7654'3210;
  frame.lane->channel = 5;
  frame.lane->ordinal = 6;
  frame.lane->bytes = 10;
  frame.lane->offset = 6;
  frame.lane->signature_digest = 0x1234'5678'9abc'def0;
  frame.lane->lag = std::chrono::microseconds(5);
  frame.lane->late = std::chrono::nanoseconds(-7);
  frame.lane->head = std::chrono::hours(1);
  frame.lane->payload = bytes_of("tail");
  const auto after = sent(frame);
  REQUIRE(after);
  REQUIRE(after->lane);
  const paths::LaneFrame& lane = *after->lane;
  CHECK(after->text == "why");
  CHECK((lane.kind == paths::LaneKind::data && lane.is_granted));
  CHECK((lane.source == 3 && lane.target == 700'000 && lane.group == 0xfedc'ba98'7654'3210));
  CHECK((lane.channel == 5 && lane.ordinal == 6 && lane.bytes == 10 && lane.offset == 6));
  CHECK(lane.signature_digest == 0x1234'5678'9abc'def0);
  CHECK((lane.lag == frame.lane->lag && lane.late == frame.lane->late));
  CHECK(lane.head == frame.lane->head);
  CHECK(lane.payload == bytes_of("tail"));
  CHECK_FALSE(is_control(frame.kind));
  frame.lane->kind = paths::LaneKind::grant;  // this frame is invalid: only data frames have a body
  CHECK_FALSE(decode_frame(encode_header(frame), bytes_of("tail")));
  frame.lane->lag = base::Nanos(-1);  // a negative lag is invalid
  CHECK_FALSE(decode_frame(encode_header(frame), {}));
}

TEST_CASE("frame: a lane's frame with a time out of range is not a frame") {
  const auto is_frame = [](base::Nanos paths::LaneFrame::*time, base::Nanos value) {
    Frame frame;
    frame.kind = FrameKind::lane;
    frame.lane = std::make_shared<paths::LaneFrame>();
    (*frame.lane).*time = value;
    return decode_frame(encode_header(frame), {}).has_value();
  };
  const base::Nanos most = base::time_max, beyond = most + base::Nanos(1);
  for (base::Nanos paths::LaneFrame::*const time :
       {&paths::LaneFrame::lag, &paths::LaneFrame::late, &paths::LaneFrame::head}) {
    CHECK(is_frame(time, most));
    CHECK_FALSE(is_frame(time, beyond));
    CHECK_FALSE(is_frame(time, -beyond));
  }
  CHECK(is_frame(&paths::LaneFrame::late, -most));
}

TEST_CASE("frame: of another version only kind and version and run and text are read") {
  Frame hello = request();
  hello.kind = FrameKind::hello;
  hello.version = protocol_version + 1;
  hello.text = "beta-0";
  auto header = encode_header(hello);
  header.resize(header.size() + 100);  // fields that a later version might add
  const auto after = decode_frame(header, bytes_of("and its body"));
  REQUIRE(after);
  CHECK(after->version == protocol_version + 1);
  CHECK(after->kind == FrameKind::hello);
  CHECK(after->run_high == hello.run_high);
  CHECK(after->run_low == hello.run_low);
  CHECK(after->text == "beta-0");
  CHECK(after->from_host == 0);
}

TEST_CASE("frame: bytes are little-endian and in the documented places") {
  const auto header = encode_header(request());
  REQUIRE(header.size() == 26 + 20 + 50);
  const auto at = [&header](std::size_t place) { return std::to_integer<int>(header[place]); };
  CHECK(std::string(reinterpret_cast<const char*>(header.data()), 4) == "PATH");
  CHECK(at(4) == 8);
  CHECK(at(5) == 0);
  CHECK(at(6) == 0);     // kind: request
  CHECK(at(8) == 0xef);  // low byte first: byte 8 is the lowest byte of the run number's high half
  CHECK(at(15) == 0x01);
  CHECK(at(26) == 3);           // from_host; begins at byte 26 because the text before it is empty
  CHECK(at(34) == 77);          // call
  CHECK(at(46) == 4);           // operation: newest
  CHECK(at(46 + 26 + 5) == 1);  // sequence 2^40
}

TEST_CASE("frame: truncated and longer and out-of-range bytes are not a frame") {
  const Frame frame = request();
  const auto header = encode_header(frame);
  for (std::size_t size = 0; size < header.size(); ++size)
    CHECK_FALSE(decode_frame(std::span(header).first(size), encode_body(frame)));
  auto longer = header;
  longer.push_back(std::byte{0});
  CHECK_FALSE(decode_frame(longer, encode_body(frame)));

  const auto changed = [&header](std::size_t place, int value) {
    auto bytes = header;
    bytes[place] = static_cast<std::byte>(value);
    return decode_frame(bytes, {});
  };
  CHECK(changed(46, 12));
  CHECK_FALSE(changed(0, 'p'));   // first letter of the protocol's name
  CHECK_FALSE(changed(6, 10));    // an unknown kind of frame
  CHECK_FALSE(changed(7, 2));     // an unknown flag
  CHECK_FALSE(changed(7, 1));     // the failure flag without a failure in the body
  CHECK_FALSE(changed(25, 255));  // a text of 65,280 bytes
  CHECK_FALSE(changed(46, 15));   // an unknown kind of operation
  CHECK_FALSE(changed(47, 4));    // unknown flags of the operation
  CHECK_FALSE(changed(60, 6));    // segment 6 of 6
}

TEST_CASE("frame: a greeting carries the deployment of its connection") {
  Frame hello;
  hello.kind = FrameKind::hello;
  hello.text = "alpha-0";
  {
    hello.deployment =
        std::make_shared<const DeploymentId>(DeploymentId{"group", 7, 1ull << 60, {0x12, 0x34}});
    const auto after = sent(hello);
    REQUIRE(after);
    REQUIRE(after->deployment);
    CHECK(after->deployment->label == "group");
    CHECK(after->deployment->number == 7);
    CHECK(after->deployment->incarnation == 1ull << 60);
    CHECK(after->deployment->plan == base::Digest{0x12, 0x34});
  }
  auto header = encode_header(hello);
  header[26 + 7 + 20] = std::byte{2};  // neither 0 (no deployment) nor 1 (a deployment)
  CHECK_FALSE(decode_frame(header, {}));
}

TEST_CASE("frame: texts too long for the wire are truncated between characters") {
  Frame refuse;
  refuse.kind = FrameKind::refuse;
  refuse.text = std::string(4095, 'x') + "\xc3\xa9 and more";
  const auto after = sent(refuse);
  REQUIRE(after);
  CHECK(after->text == std::string(4095, 'x'));
}
