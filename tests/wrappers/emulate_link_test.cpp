// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/emulate_link_test.cpp — arrival times over an emulated link.
#include "wrappers/emulate_link.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "eventspace/record.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/snapshot.hpp"
#include "tests/wrappers/chain.hpp"

namespace {

using base::Nanos;
using paths::OperationKind;
using tuning::LinkModel;
using wrappers::EmulateLink;
using namespace std::chrono_literals;
using namespace wrapper_tests;

constexpr std::uint32_t down = 0;
constexpr std::uint32_t up = 1;

paths::Operation push_of(std::size_t bytes, std::uint64_t sequence, std::uint32_t slot = 0) {
  paths::Operation push = move_of(zeros(bytes), sequence);
  push.one_way = true;
  push.slot = slot;
  return push;
}

std::vector<std::uint64_t> in_order(std::size_t count) {
  std::vector<std::uint64_t> sequences(count);
  std::iota(sequences.begin(), sequences.end(), 0);
  return sequences;
}

/// Returns a result with a copy of the moved bytes.
paths::Result another_tuple(const paths::Operation& operation) {
  paths::Result result;
  result.payload = base::Payload::copy_of(operation.payload.bytes());
  return result;
}

/// One direction of a link. Operations of one path pass the link on the way down. Results of
/// another path pass it on the way up.
struct Linked {
  explicit Linked(LinkModel model, Answer element_below = Answer())
      : element(std::move(element_below)), link(chain.deployment(), std::move(model)) {}
  Chain chain;
  Answer element;
  EmulateLink link;
  const paths::Stage& end = chain.stage(element);
  const paths::Stage& going_down = chain.stage(link, &end, down);
  const paths::Stage& coming_up = chain.stage(link, &end, up);

  std::vector<std::uint64_t> sequences() const {
    std::vector<std::uint64_t> found;
    for (const paths::Operation& operation : element.arrived) found.push_back(operation.sequence);
    return found;
  }
};

}  // namespace

TEST_CASE("emulate_link: down delays operations on the way down and nothing else") {
  Linked t(LinkModel(10ms, 8e6));  // a byte takes a microsecond
  t.chain.run([&] {
    t.chain.operate(t.going_down, move_of(zeros(500)));
    CHECK(t.element.times == std::vector<Nanos>{10ms + 500us});
    CHECK(t.chain.now() == 10ms + 500us);  // the result took no time on the way up
  });
}

TEST_CASE("emulate_link: up delays the result by its size") {
  Linked t(LinkModel(10ms, 8e6), Answer([](const paths::Operation&) {
             paths::Result result;
             result.payload = zeros(2000);
             return result;
           }));
  t.chain.run([&] {
    const paths::Result result = t.chain.operate(t.coming_up, operation(OperationKind::observe));
    CHECK(result.payload.size() == 2000);
    CHECK(t.element.times == std::vector<Nanos>{0ms});
    CHECK(t.chain.now() == 12ms);
  });
}

TEST_CASE("emulate_link: a failure travels up like a result without bytes") {
  Linked t(LinkModel(10ms, 8e6), Answer([](const paths::Operation&) -> paths::Result {
             throw std::runtime_error("gone");
           }));
  t.chain.run([&] {
    const std::string error =
        thrown<paths::TravelError>([&] { t.chain.operate(t.coming_up, move_of(zeros(500))); });
    CHECK_THAT(error, Catch::Contains("gone"));
    CHECK(t.chain.now() == 10ms);
  });
}

TEST_CASE("emulate_link: a failed contribution travels down like any message") {
  Linked t(LinkModel(10ms, 8e6));
  t.chain.run([&] {
    paths::Operation failed = move_of(zeros(500));
    failed.failure = std::make_shared<paths::TravelError>("here", "graph", "x", "gone");
    const paths::Stage stage = t.going_down;
    t.link.operate(failed, paths::Next(t.chain.deployment(), stage, nullptr));
    CHECK(t.chain.now() == 10ms);
  });
}

TEST_CASE("emulate_link: a tuple that returns unchanged costs no bytes") {
  Linked t(LinkModel(10ms, 8e6));
  t.chain.run([&] {
    const paths::Result result = t.chain.operate(t.coming_up, move_of(zeros(500)));
    CHECK(result.payload == zeros(500));
    CHECK(t.chain.now() == 10ms);
    // A small payload is stored inside the operation. The link cannot recognise that the reply has
    // the payload of the request. It therefore counts the bytes of the reply, which take 40 us.
    t.chain.operate(t.coming_up, move_of(zeros(40)));
    CHECK(t.chain.now() == 20ms + 40us);
  });
}

TEST_CASE("emulate_link: messages in both directions queue for the link") {
  Linked t(LinkModel(10ms, 8e6), Answer(another_tuple));
  t.chain.run([&] {
    // Messages of 1000 bytes each are offered at time 0. They occupy the link one after another.
    const auto later = [&](const paths::Stage& stage, Nanos arrives) {
      return t.chain.spawn([&t, &stage, arrives] {
        t.chain.operate(stage, move_of(zeros(1000)));
        CHECK(t.chain.now() == arrives);
      });
    };
    runtime::Task messages[] = {later(t.going_down, 11ms), later(t.coming_up, 12ms),
                                later(t.going_down, 13ms)};
    for (runtime::Task& message : messages) message.join();
    // The link has been idle since 3 ms, so the next message does not wait.
    t.chain.operate(t.going_down, move_of(zeros(1000)));
    CHECK(t.chain.now() == 24ms);
  });
}

TEST_CASE("emulate_link: a push does not block and its bytes occupy the link") {
  Linked t(LinkModel(10ms, 8e6));
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(1000, 0));
    t.chain.operate(t.going_down, push_of(1000, 1));
    CHECK(t.chain.now() == 0ms);
    CHECK(t.element.arrived.empty());
    t.link.drain();
    CHECK(t.element.times == std::vector<Nanos>{11ms, 12ms});
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 1});
  });
}

TEST_CASE("emulate_link: pushes that arrive together keep their order") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    for (std::uint64_t i = 0; i < 100; ++i) t.chain.operate(t.going_down, push_of(8, i));
    t.link.drain();
    CHECK(t.sequences() == in_order(100));
    CHECK(t.chain.now() == 10ms);
  });
}

TEST_CASE("emulate_link: a request stays behind the pushes of its contributor") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(8, 0));
    t.chain.operate(t.going_down, push_of(8, 1));
    t.chain.operate(t.going_down, move_of(zeros(8), 2));
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 1, 2});
    CHECK(t.chain.now() == 10ms);
  });
}

TEST_CASE("emulate_link: a request does not wait for later pushes and they do not overtake it") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(8, 0));
    runtime::Task request =
        t.chain.spawn([&] { t.chain.operate(t.going_down, move_of(zeros(8), 1)); });
    for (std::uint64_t i = 2; i < 20; ++i) {
      t.chain.wait_until(i * 5ms);
      t.chain.operate(t.going_down, push_of(8, i));
    }
    request.join();
    t.link.drain();
    CHECK(t.sequences() == in_order(20));
    CHECK(t.element.times[1] == 10ms);
  });
}

TEST_CASE("emulate_link: a push that blocks below does not delay other contributors") {
  Chain* clock = nullptr;
  Linked t(LinkModel(10ms, 0), Answer([&](const paths::Operation& operation) {
             if (operation.slot == 0) clock->wait_until(50ms);
             return paths::Result{};
           }));
  clock = &t.chain;
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(8, 0, 0));
    t.chain.operate(t.going_down, push_of(8, 1, 0));
    t.chain.operate(t.going_down, push_of(8, 2, 1));
    t.link.drain();
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 2, 1});
    CHECK(t.element.times == std::vector<Nanos>{10ms, 10ms, 50ms});
  });
}

TEST_CASE("emulate_link: a failed push does not stop later ones") {
  Linked t(LinkModel(10ms, 0), Answer([](const paths::Operation& operation) -> paths::Result {
             if (operation.sequence == 0) throw std::runtime_error("gone");
             return {};
           }));
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(8, 0));
    t.chain.operate(t.going_down, push_of(8, 1));
    t.link.drain();
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 1});
  });
}

TEST_CASE("emulate_link: a release is not delayed but never overtakes pushes") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    t.chain.operate(t.going_down, operation(OperationKind::release));
    t.chain.operate(t.coming_up, operation(OperationKind::release));
    CHECK(t.element.times == std::vector<Nanos>{0ms, 0ms});
    t.chain.operate(t.going_down, push_of(8, 1));
    paths::Operation release = operation(OperationKind::release);
    release.sequence = 2;
    t.chain.operate(t.going_down, release);
    CHECK(t.chain.now() == 0ms);
    t.link.drain();
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 0, 1, 2});
    CHECK(t.chain.now() == 10ms);
  });
}

TEST_CASE("emulate_link: a withdrawal is not delayed and does not wait for pushes") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(8, 1));
    paths::Operation withdrawal = operation(OperationKind::withdraw);
    withdrawal.sequence = 2;
    t.chain.operate(t.going_down, withdrawal);
    t.chain.operate(t.coming_up, withdrawal);
    CHECK(t.sequences() == std::vector<std::uint64_t>{2, 2});
    t.link.drain();
    CHECK(t.sequences() == std::vector<std::uint64_t>{2, 2, 1});
  });
}

TEST_CASE("emulate_link: no result travels up for a push") {
  Linked t(LinkModel(10ms, 0));
  t.chain.run([&] {
    t.chain.operate(t.coming_up, push_of(8, 0));
    CHECK(t.chain.now() == 0ms);
    CHECK(t.element.arrived.size() == 1);
  });
}

TEST_CASE(
    "emulate_link: trace times count from the start and a faster link lets no message overtake") {
  Linked t(LinkModel({{0ms, 50ms, 0}, {20ms, 5ms, 0}}, 100ms));
  t.chain.run([&] {
    runtime::Task early = t.chain.spawn([&] {
      t.chain.operate(t.going_down, move_of(zeros(8), 0));
      CHECK(t.chain.now() == 50ms);
    });
    t.chain.wait_until(30ms);
    t.chain.operate(t.going_down, move_of(zeros(8), 1));
    CHECK(t.chain.now() == 50ms);  // without the wait for the previous message it would be 35 ms
    early.join();
    t.chain.operate(t.going_down, move_of(zeros(8), 2));
    CHECK(t.chain.now() == 55ms);
    CHECK(t.sequences() == std::vector<std::uint64_t>{0, 1, 2});
  });
}

namespace {

std::string mistakes_of(const std::string& yaml, const std::string& file) {
  const paths::WrapperKind kind = wrappers::emulate_link_kind();
  base::Mistakes mistakes;
  base::MapReader reader(base::parse_settings(yaml, file), mistakes, "wrapper wan");
  const paths::Plan plan;
  kind.read(reader, {plan, 0, 0, 1});
  reader.finish();
  return thrown<base::ConfigError>([&] { mistakes.throw_if_any(); });
}

}  // namespace

TEST_CASE("emulate_link: settings are a latency or a trace and optionally a bandwidth") {
  const test_support::Folder folder;
  folder.write("good.trace", "0 9.1\n1 9.3\n");
  folder.write("bad.trace", "0 9.1\n1 fast\n");
  const std::string config = folder.file("test.yaml");
  CHECK(mistakes_of("{latency: 9ms, bandwidth: 100Mbit}", config) == "nothing");
  CHECK(mistakes_of("{bandwidth: unlimited}", config) == "nothing");
  CHECK(mistakes_of("{trace: good.trace, bandwidth: 1Gbit}", config) == "nothing");
  CHECK(mistakes_of("{trace: bad.trace}", config) ==
        folder.file("bad.trace") + ":2:3: expected a latency in ms, found 'fast'");
  CHECK(mistakes_of("{trace: none.trace}", config) ==
        config + ":1:9: trace: expected a file that can be read, found '" +
            folder.file("none.trace") + "'");
  CHECK_THAT(mistakes_of("{trace: /dev/zero}", config), Catch::Contains("found '/dev/zero'"));
  CHECK(mistakes_of("{trace: good.trace, latency: 9ms}", config) ==
        config + ":1:9: trace: expected either latency or trace, found both");
  CHECK_THAT(mistakes_of("{latency: fast}", config), Catch::Contains("a time such as 30ms"));
}

TEST_CASE("emulate_link: it records each message with its wait and its arrival time") {
  Linked t(LinkModel(10ms, 8e6), Answer(another_tuple));
  t.chain.deployment().recorder().reserve(16);
  t.chain.run([&] {
    t.chain.operate(t.going_down, push_of(2000, 0));
    t.chain.operate(t.going_down, push_of(500, 1));
    t.chain.wait_until(100ms);
    t.chain.operate(t.coming_up, move_of(zeros(500), 2));
  });
  const auto records = test_support::snapshot(t.chain.deployment().recorder());
  REQUIRE(records.size() == 3);
  for (const auto& record : records)
    CHECK(record.kind == static_cast<std::uint64_t>(eventspace::EventKind::link));
  const auto is = [](const eventspace::EventRecord& record, const paths::Stage& stage,
                     std::uint64_t sequence, Nanos sent, Nanos waited, Nanos arrived) {
    return record.place == stage.id && record.sequence == sequence &&
           record.down_nanos == sent.count() && record.slot == waited.count() &&
           record.up_nanos == arrived.count();
  };
  CHECK(is(records[0], t.going_down, 0, 0ms, 0ms, 12ms));
  CHECK(is(records[1], t.going_down, 1, 0ms, 2ms, 12ms + 500us));
  CHECK(is(records[2], t.coming_up, 2, 100ms, 0ms, 110ms + 500us));
  CHECK(records[1].bytes == 500);
}
