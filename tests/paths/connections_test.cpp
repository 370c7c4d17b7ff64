// SPDX-License-Identifier: Apache-2.0
// tests/paths/connections_test.cpp — tests of credits, coalesced pushes, greetings and losses,
// frame by frame.
#include "paths/connections/connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "tests/paths/connections_talk.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;
using namespace test_support;

/// Plan of two hosts, and of two more hosts that connect to alpha-0: gamma-0 and gamma-1.
std::shared_ptr<const Plan> plan_of_four() {
  auto plan = std::make_shared<Plan>(*plan_of_two(1));
  plan->clusters.emplace_back("gamma");
  for (const std::uint32_t number : {2u, 3u}) {
    plan->hosts.push_back(
        {fmt::format("gamma-{}", number - 2), 2, 0, 1, 1.0, "tcp://127.0.0.1:7702", {}});
    plan->shares.emplace_back();
    plan->shares[0].entrances.push_back({number, 3 + number, 0, 1, 1});
  }
  return plan;
}

/// Delivers the hello of gamma-0 or gamma-1 on a connection of its own. Returns the connection.
ConnectionId greet_from(Talk& talk, std::uint32_t host) {
  const ConnectionId connection = 2000 + host;
  Frame hello = talk.greeting_of(FrameKind::hello, 2, talk.plan->digest);
  hello.from_host = host;
  hello.text = talk.plan->hosts[host].name;
  hello.stage = 3 + host;
  talk.connections.deliver(connection, std::move(hello));
  return connection;
}

/// Delivers a heartbeat of beta-0 with a text.
void tell(Talk& talk, const std::string& text) {
  Frame heartbeat = talk.frame(FrameKind::heartbeat);
  heartbeat.text = text;
  talk.connections.deliver(Talk::inbound, std::move(heartbeat));
}

/// Returns the texts of the heartbeats that alpha-0 sent since the previous call.
std::vector<std::string> told(Talk& talk) {
  std::vector<std::string> texts;
  for (const Frame& one : std::exchange(talk.sent, {}))
    if (one.kind == FrameKind::heartbeat) texts.push_back(one.text);
  return texts;
}

constexpr const char* loss_of_gamma_1 = "host gamma-1 is gone: frozen";

}  // namespace

TEST_CASE("connections: a frame that cannot be sent loses only its connection") {
  Talk talk;
  talk.hello();
  Operation heavy = Talk::push_of(1);
  heavy.number = unsendable;
  talk.connections.sender().push(other, there, heavy);
  CHECK(talk.gone == std::vector<std::string>{"beta-0: a frame could not be sent: too heavy"});
  CHECK_THROWS_WITH(talk.push(2), Catch::Contains("a frame could not be sent: too heavy"));
  talk.sent.clear();
  talk.connections.sender().reply(Talk::inbound, talk.frame(FrameKind::reply));
  CHECK(talk.sent_of(FrameKind::reply) == 1);
}

TEST_CASE("connections: a hello is sent first and a push is one frame") {
  Talk talk;
  talk.push(1);
  talk.push(2);
  REQUIRE(talk.sent.size() == 3);
  CHECK(talk.sent[0].kind == FrameKind::hello);
  CHECK(talk.sent[0].text == "alpha-0");
  CHECK(talk.values() == std::vector<double>{1, 2});
  const Traffic traffic = talk.connections.traffic().to_other_clusters(0);
  CHECK(traffic.messages == 2);
  CHECK(traffic.bytes == 16);
  CHECK(traffic.control == 0);
}

TEST_CASE(
    "connections: without credits only the newest push of a path is kept and in its old place") {
  Talk talk;
  use_up_credits(talk);
  talk.push(300);
  talk.push(400, 1);
  talk.push(301);
  talk.push(500, 0, 1);  // from another thread, on the path of pushes 300 to 302
  talk.push(302);
  CHECK(talk.values().empty());
  talk.give_credits(2);
  CHECK(talk.values() == std::vector<double>{302, 400});
  talk.push(303);  // queued after the pushes that wait for credits
  CHECK(talk.values().empty());
  talk.give_credits(100);
  CHECK(talk.values() == std::vector<double>{500, 303});
  talk.push(304);
  CHECK(talk.values() == std::vector<double>{304});
}

TEST_CASE("connections: without credits a kept push stays and newer ones queue behind it") {
  Talk talk;
  use_up_credits(talk);
  talk.push(300);
  talk.send(301);
  talk.send(302);
  talk.push(303);
  talk.push(304);
  talk.give_credits(100);
  CHECK(talk.values() == std::vector<double>{300, 301, 302, 304});
}

TEST_CASE("connections: a release waits behind pushes without credits and needs none itself") {
  Talk talk;
  use_up_credits(talk);
  talk.release(1);
  CHECK(talk.values() == std::vector<double>{Talk::released});
  talk.push(300);
  talk.release();
  CHECK(talk.values().empty());
  talk.give_credits(1);
  CHECK(talk.values() == std::vector<double>{300, Talk::released});
}

TEST_CASE("connections: a goodbye waits behind pushes without credits") {
  Talk talk;
  talk.runtime.run([&] {
    use_up_credits(talk);
    talk.send(300);
    talk.send(301);
    talk.release();
    auto stopping = talk.stop();
    talk.runtime.sleep_for(1ms);
    talk.give_credits(1);
    CHECK(talk.sent_of(FrameKind::goodbye) == 0);
    talk.give_credits(9);
    REQUIRE(talk.sent_of(FrameKind::goodbye) == 1);
    CHECK(talk.sent.back().kind == FrameKind::goodbye);
    CHECK(talk.values() == std::vector<double>{300, 301, Talk::released});
    talk.give_credits(9);
    CHECK(talk.sent.empty());
    talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::goodbye));
    stopping.join();
  });
}

TEST_CASE("connections: an end is awaited as long as held pushes continue to leave") {
  Talk talk;
  talk.runtime.run([&] {
    use_up_credits(talk);
    for (int i = 0; i < 4; ++i) talk.send(300 + i);
    auto stopping = talk.stop();
    for (int i = 0; i < 4; ++i) {
      talk.runtime.sleep_for(700ms);
      CHECK_FALSE(stopping.done());
      talk.give_credits(1);
    }
    CHECK(talk.sent_of(FrameKind::goodbye) == 1);
    CHECK(talk.values() == std::vector<double>{300, 301, 302, 303});
    const base::Nanos left = talk.runtime.now();
    stopping.join();  // takes 1 s: the peer does not reply to the goodbye
    CHECK(talk.runtime.now() == left + 1s);
  });
}

TEST_CASE("connections: unneeded credits from a peer do not prolong the wait for an end") {
  Talk talk;
  talk.runtime.run([&] {
    talk.push(1);
    auto stopping = talk.stop();
    for (int i = 0; i < 4; ++i) {
      talk.runtime.sleep_for(700ms);
      talk.give_credits(1);
    }
    stopping.join();
  });
  CHECK(talk.ended == 1s);
  CHECK(talk.connections.given_up() ==
        "host alpha-0: host beta-0 gave no sign of life at the end for 1s");
}

TEST_CASE("connections: a failed push is never replaced") {
  Talk talk;
  use_up_credits(talk);
  Operation failed = Talk::push_of(300);
  failed.failure = std::make_shared<TravelError>("alpha-0", "work", "", "went wrong");
  talk.connections.sender().push(other, there, failed);
  talk.push(301);
  talk.give_credits(9);
  REQUIRE(talk.sent.size() == 2);
  CHECK(talk.sent[0].operation.failure != nullptr);
  CHECK(talk.sent[1].operation.payload.read<double>() == 301);
}

TEST_CASE("connections: credits travel in replies and alone when half of them are used") {
  Talk talk;
  talk.hello();
  for (int i = 0; i < 5; ++i)
    talk.connections.deliver(Talk::inbound, talk.operation(FrameKind::request));
  talk.connections.sender().reply(Talk::inbound, talk.frame(FrameKind::reply));
  REQUIRE(talk.sent.back().kind == FrameKind::reply);
  CHECK(talk.sent.back().credits == 5);
  const bool are_requests = GENERATE(false, true);
  const FrameKind kind = are_requests ? FrameKind::request : FrameKind::one_way;
  // alpha-0 returns the credit of a request when the request arrives. It returns the credit of a
  // push when the push has been carried out.
  auto come_in = [&] {
    talk.connections.deliver(Talk::inbound, talk.operation(kind));
    if (!are_requests) talk.connections.sender().end_push(Talk::inbound);
  };
  for (std::uint32_t i = 1; i < CreditWindow::size / 2; ++i) come_in();
  CHECK(talk.sent_of(FrameKind::credits) == 0);
  come_in();
  REQUIRE(talk.sent_of(FrameKind::credits) == 1);
  CHECK(talk.sent.back().credits == CreditWindow::size / 2);
  CHECK(talk.served.size() == 5 + CreditWindow::size / 2);
}

TEST_CASE("connections: requests wait behind held pushes of their path until their deadline") {
  Talk talk;
  std::string late;
  double value = 0;
  talk.runtime.run([&] {
    use_up_credits(talk);
    talk.push(300);
    auto caller = talk.runtime.spawn(runtime::ContextRole::thread, {"thread", "alpha-0"},
                                     [&] { value = talk.call({}).payload.read<double>(); });
    auto impatient = talk.runtime.spawn(runtime::ContextRole::thread, {"thread", "alpha-0"}, [&] {
      try {
        talk.call({}, 10ms);
      } catch (const TravelError& error) {
        late = fmt::format("{} at {}", error.reason(), base::format_time(talk.runtime.now()));
      }
    });
    talk.runtime.sleep_for(20ms);
    CHECK(talk.sent_of(FrameKind::request) == 0);
    talk.give_credits(1);
    talk.runtime.sleep_for(1ms);
    CHECK(talk.sent_of(FrameKind::one_way) == 1);
    REQUIRE(talk.sent_of(FrameKind::request) == 1);
    talk.reply_to(talk.sent.back(), 4.5);
    caller.join();
    impatient.join();
  });
  CHECK(value == 4.5);
  CHECK_THAT(late, Catch::StartsWith("no credits from host beta-0") && Catch::EndsWith("at 10ms"));
}

TEST_CASE("connections: requests beyond the credits leave in the order of their calls") {
  const bool is_behind_a_push = GENERATE(false, true);
  constexpr std::uint64_t calls = 2 * CreditWindow::size;
  Talk talk;
  std::vector<std::uint64_t> left;
  talk.runtime.run([&] {
    std::vector<runtime::Task> callers;
    const auto call = [&](std::uint64_t sequence) {
      callers.push_back(talk.runtime.spawn(runtime::ContextRole::service,
                                           {"round", "alpha-0", sequence}, [&talk, sequence] {
                                             Operation asked;
                                             asked.sequence = sequence;
                                             talk.call(asked);
                                           }));
    };
    if (is_behind_a_push) {
      use_up_credits(talk);
      talk.push(300);
    }
    for (std::uint64_t sequence = 0; sequence < calls; ++sequence) call(sequence);
    talk.runtime.sleep_for(1ms);
    call(calls);  // begins while earlier calls still wait for credits
    talk.give_credits(2);
    talk.runtime.sleep_for(1ms);
    for (const Frame& one : std::exchange(talk.sent, {})) {
      if (one.kind != FrameKind::request) continue;
      left.push_back(one.operation.sequence);
      talk.reply_to(one);
    }
    for (auto& caller : callers) caller.join();
  });
  REQUIRE(left.size() == calls + 1);
  CHECK(std::is_sorted(left.begin(), left.end()));
}

TEST_CASE("connections: a request of another path does not wait behind pushes without credits") {
  Talk talk;
  talk.runtime.run([&] {
    use_up_credits(talk);
    talk.send(300);
    auto caller = talk.runtime.spawn(runtime::ContextRole::thread, {"thread", "alpha-0"}, [&] {
      Operation asked;
      asked.thread = 1;
      talk.call(asked);
    });
    talk.runtime.sleep_for(1ms);
    REQUIRE(talk.sent_of(FrameKind::request) == 1);
    talk.reply_to(talk.sent.back(), 0, 1);  // the reply returns the credit of the request
    caller.join();
    CHECK(talk.sent_of(FrameKind::one_way) == 0);
    talk.give_credits(1);
    CHECK(talk.sent_of(FrameKind::one_way) == 1);
  });
}

TEST_CASE("connections: a request that was cancelled while it waited for credits is not sent") {
  Talk talk;
  talk.runtime.run([&] {
    use_up_credits(talk);
    talk.send(300);
    auto cancelled =
        talk.runtime.spawn(runtime::ContextRole::service, {"read"}, [&] { talk.call({}); });
    talk.runtime.sleep_for(1ms);
    talk.release();  // queued after the request that waits for credits
    CHECK(talk.values().empty());
    cancelled.cancel();
    cancelled.join();
    talk.give_credits(9);
    CHECK(talk.values() == std::vector<double>{300, Talk::released});
  });
}

TEST_CASE("connections: a peer with another config learns the word plan and is not served") {
  Talk talk;
  const base::Digest theirs{99, 2};
  talk.connections.deliver(Talk::inbound, talk.greeting_of(FrameKind::hello, 2, theirs));
  REQUIRE(talk.sent.size() == 1);
  CHECK(talk.sent[0].kind == FrameKind::refuse);
  CHECK(word_of_refusal(talk.sent[0]) == RefusalWord::plan);
  talk.connections.deliver(Talk::inbound, talk.frame(FrameKind::request));
  CHECK(talk.served.empty());
}

TEST_CASE("connections: no frame leaves before the peer's welcome and then all leave in order") {
  Talk talk;
  talk.welcomes = false;
  for (std::uint32_t i = 0; i < CreditWindow::size + 2; ++i) talk.push(i);
  talk.release(1);
  CHECK(talk.sent.size() == 1);
  talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::welcome));
  talk.give_credits(9);
  const std::vector<double> values = talk.values();
  // alpha-0 sends one push for each credit, and then the release. The last of these pushes is the
  // newest push.
  REQUIRE(values.size() == CreditWindow::size + 1);
  CHECK(values.front() == 0);
  CHECK(values[CreditWindow::size - 1] == CreditWindow::size + 1);
  CHECK(values.back() == Talk::released);
}

TEST_CASE("connections: a restarted peer is gone and its frames are refused") {
  Talk talk;
  talk.hello();
  Frame hello = talk.greeting_of(FrameKind::hello, 3, talk.plan->digest);
  hello.stage = Talk::first_stage + 1;
  talk.connections.deliver(Talk::second_inbound, Frame(hello));
  CHECK(talk.sent.back().kind == FrameKind::refuse);
  CHECK(talk.gone == std::vector<std::string>{std::string("beta-0: ") + restarted});
  talk.connections.deliver(Talk::second_inbound, talk.operation(FrameKind::request));
  talk.connections.deliver(Talk::inbound, talk.operation(FrameKind::request));
  CHECK(talk.served.empty());
}

TEST_CASE("connections: a peer whose welcome has another incarnation is gone as restarted") {
  Talk talk;
  talk.welcomes = false;
  talk.hello();
  talk.push(1);
  talk.sent.clear();
  talk.connections.deliver(Talk::outbound,
                           talk.greeting_of(FrameKind::welcome, 3, talk.plan->digest));
  CHECK(talk.gone == std::vector<std::string>{std::string("beta-0: ") + restarted});
  REQUIRE(talk.sent.size() == 1);
  CHECK(talk.sent[0].kind == FrameKind::refuse);
  CHECK(talk.sent[0].text == restarted);
}

TEST_CASE("connections: a silent peer is called restarted if another process uses its name") {
  const bool is_alive = GENERATE(false, true);  // whether the first process sends a frame later
  Talk talk;
  talk.hello();
  talk.runtime.run([&] {
    Liveness& liveness = talk.connections.liveness();
    const auto look_for = [&](base::Nanos time) {
      for (const base::Nanos end = talk.runtime.now() + time; talk.runtime.now() < end;) {
        talk.runtime.sleep_for(liveness.look_pause());
        liveness.look_after_peers();
      }
    };
    look_for(1s);
    talk.give_credits_on(Talk::inbound, 0);
    Frame second = talk.greeting_of(FrameKind::hello, 3, talk.plan->digest);
    second.stage = Talk::first_stage;
    talk.connections.deliver(Talk::third_inbound, std::move(second));
    CHECK(word_of_refusal(talk.sent.back()) == RefusalWord::place);
    CHECK(talk.gone.empty());
    if (is_alive) talk.give_credits_on(Talk::inbound, 0);
    look_for(16s);
  });
  REQUIRE(talk.gone.size() == 1);
  const std::string called = std::string(restarted) + "; last sign of life 15s before (";
  if (is_alive)
    CHECK_THAT(talk.gone[0], Catch::StartsWith("beta-0: it gave no sign of life for 15s ("));
  else
    CHECK_THAT(talk.gone[0], Catch::StartsWith("beta-0: " + called));
}

TEST_CASE("connections: a lost peer is reported with the age of its last sign of life") {
  Talk talk;
  talk.hello();
  talk.runtime.run([&] {
    Liveness& liveness = talk.connections.liveness();
    liveness.look_after_peers();
    talk.runtime.sleep_for(200ms);
    liveness.look_after_peers();
  });
  talk.connections.connection_lost(Talk::inbound, process_ended);
  CHECK(talk.gone == std::vector<std::string>{std::string("beta-0: ") + process_ended +
                                              "; last sign of life 200ms before"});
}

TEST_CASE("connections: a host that is not in the plan is refused") {
  Talk talk;
  Frame hello = talk.frame(FrameKind::hello);
  hello.from_host = 17;
  talk.connections.deliver(Talk::inbound, Frame(hello));
  REQUIRE(talk.sent.size() == 1);
  CHECK(talk.sent[0].kind == FrameKind::refuse);
}

TEST_CASE("connections: a refusal is the error of every later operation") {
  Talk talk;
  talk.push(1);
  Frame refuse = talk.frame(FrameKind::refuse);
  refuse.text = "host alpha-0 runs config a, host beta-0 config b";
  talk.connections.deliver(Talk::outbound, Frame(refuse));
  CHECK_THAT(thrown<TravelError>([&] { talk.push(2); }),
             Catch::Contains("beta-0") && Catch::Contains(refuse.text));
  CHECK(talk.gone == std::vector<std::string>{"beta-0: " + refuse.text});
}

TEST_CASE("connections: a refusal by a host of another run is an error with this host's config") {
  Talk talk;
  talk.welcomes = false;
  talk.push(1);
  talk.connections.deliver(Talk::outbound, refusal_of_stranger(RefusalWord::plan));
  const std::string why = fmt::format(
      "host beta-0 refused: plan; this host has config {}; the log of beta-0 has the other",
      talk.plan->digest.text());
  CHECK(talk.gone == std::vector<std::string>{"beta-0: " + why});
  CHECK_THAT(thrown<TravelError>([&] { talk.push(2); }), Catch::Contains(why));
}

TEST_CASE("connections: a refusal of another run is a wrong frame after the welcome") {
  Talk talk;
  talk.push(1);
  talk.connections.deliver(Talk::outbound, refusal_of_stranger(RefusalWord::run));
  CHECK(is_refused(talk, "a refusal of another run"));
}

TEST_CASE("connections: a peer that is lost or has parted is reported once") {
  Talk talk;
  talk.hello();
  talk.push(1);
  SECTION("lost") {
    talk.connections.connection_lost(Talk::inbound, "it died");
    talk.connections.connection_lost(Talk::outbound, "it died");
    CHECK(talk.gone == std::vector<std::string>{"beta-0: it died"});
    CHECK_THROWS_AS(talk.push(2), TravelError);
  }
  SECTION("a goodbye on each connection of the plan gets a reply") {
    talk.goodbye(Talk::inbound);
    CHECK(talk.sent_of(FrameKind::goodbye) == 1);
    CHECK(talk.gone.empty());
    // This hello arrives after the goodbye of the first connection.
    talk.hello(Talk::second_inbound);
    talk.goodbye(Talk::second_inbound);
    CHECK(talk.sent_of(FrameKind::goodbye) == 2);
    talk.connections.connection_lost(Talk::outbound, "closed");
    talk.connections.connection_lost(Talk::inbound, "closed");
    CHECK(talk.gone == std::vector<std::string>{"beta-0: it has ended"});
  }
  SECTION("lost after a goodbye on one of two connections") {
    talk.goodbye(Talk::inbound);
    talk.connections.connection_lost(Talk::inbound, "closed");
    CHECK(talk.gone == std::vector<std::string>{"beta-0: closed"});
  }
  SECTION("stop sends a goodbye on its own connections and waits for the reply or the deadline") {
    const bool is_answered = GENERATE(true, false);
    talk.runtime.run([&] {
      auto stopping = talk.stop();
      talk.runtime.sleep_for(30ms);
      CHECK(talk.sent_of(FrameKind::goodbye) == 1);
      if (is_answered) talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::goodbye));
      stopping.join();
    });
    CHECK(talk.ended == (is_answered ? 30ms : 1000ms));
    CHECK(talk.gone.empty());
  }
}

TEST_CASE(
    "connections: a peer that has not arrived at the deadline is gone and named with its address") {
  Talk talk;
  talk.welcomes = false;
  talk.connections.meet(other, there);
  base::Nanos ended{0};
  const int come = GENERATE(0, 1, 2);  // how many of beta-0's two connections arrive
  if (come > 0) talk.hello(Talk::inbound);
  if (come > 1) talk.hello(Talk::second_inbound);
  const bool is_met = come == 2 && GENERATE(true, false);
  talk.runtime.run([&] {
    auto meeting = talk.runtime.spawn(runtime::ContextRole::service, {"meeting"}, [&] {
      talk.connections.meeting().await_peers(runtime::Deadline::written_at(7s));
      ended = talk.runtime.now();
    });
    talk.runtime.sleep_for(1s);
    if (is_met) talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::welcome));
    meeting.join();
  });
  if (is_met) {
    CHECK(ended == 1s);
    CHECK(talk.gone.empty());
    CHECK(talk.connections.given_up().empty());
    return;
  }
  CHECK(ended == 7s);
  const std::string why = "it did not connect within 60s (tcp://127.0.0.1:7701)";
  CHECK(talk.gone == std::vector<std::string>{"beta-0: " + why});
  CHECK(talk.connections.given_up() == "host alpha-0: host beta-0 is gone: " + why);
  CHECK_THAT(thrown<TravelError>([&] { talk.push(1); }), Catch::Contains(why));
  talk.hello(Talk::third_inbound);
  CHECK(word_of_refusal(talk.sent.back()) == RefusalWord::place);
}

TEST_CASE("connections: the error about a missing peer names the refused one that used its name") {
  Talk talk;
  talk.connections.deliver(Talk::inbound, talk.greeting_of(FrameKind::hello, 2, {99, 2}));
  talk.runtime.run(
      [&] { talk.connections.meeting().await_peers(runtime::Deadline::written_at(1s)); });
  REQUIRE(talk.gone.size() == 1);
  CHECK_THAT(talk.gone[0], Catch::Contains("did not connect") &&
                               Catch::Contains("refused: host beta-0 runs config"));
}

TEST_CASE("connections: the first loss of a peer closes its connections that were never welcomed") {
  Talk talk;
  talk.welcomes = false;
  talk.push(1);  // opens a connection for which no welcome arrives
  talk.hello();
  talk.connections.connection_lost(Talk::inbound, "it died");
  CHECK_THROWS_AS(talk.push(2), TravelError);
  std::sort(talk.dropped.begin(), talk.dropped.end());
  CHECK(talk.dropped == std::vector<ConnectionId>{Talk::outbound, Talk::inbound});
  talk.hello(Talk::third_inbound);
  CHECK(talk.sent.back().kind == FrameKind::refuse);
}

TEST_CASE("connections: a peer that has been silent for the time of the config is gone") {
  Talk talk;
  talk.hello();
  talk.sent.clear();
  talk.runtime.run([&] {
    Liveness& liveness = talk.connections.liveness();
    const auto look_for = [&](base::Nanos time) {
      const base::Nanos end = talk.runtime.now() + time;
      while (talk.runtime.now() < end) {
        talk.runtime.sleep_for(liveness.look_pause());
        liveness.look_after_peers();
      }
      return talk.sent_of(FrameKind::heartbeat);
    };
    CHECK(liveness.look_pause() == 250ms);
    const auto first = look_for(5s);
    CHECK(first >= 4);  // a heartbeat each second
    CHECK(first <= 6);
    talk.give_credits_on(Talk::inbound, 0);  // any frame is a sign of life
    look_for(14s);
    CHECK(talk.gone.empty());
    look_for(2s);
    const std::string why = "it gave no sign of life for 15s (tcp://127.0.0.1:7701)";
    CHECK(talk.gone == std::vector<std::string>{"beta-0: " + why});
    CHECK(talk.connections.given_up() == "host alpha-0: host beta-0 is gone: " + why);
    const auto all = talk.sent_of(FrameKind::heartbeat);
    CHECK(look_for(5s) == all);
  });
}

TEST_CASE("connections: a peer is not silent while bytes of a long frame still arrive from it") {
  Talk talk;
  talk.hello();
  talk.runtime.run([&] {
    Liveness& liveness = talk.connections.liveness();
    const auto look_for = [&](base::Nanos time) {
      for (const base::Nanos end = talk.runtime.now() + time; talk.runtime.now() < end;) {
        talk.runtime.sleep_for(liveness.look_pause());
        liveness.look_after_peers();
      }
    };
    talk.contact.since_bytes = 14s;
    look_for(60s);
    CHECK(talk.gone.empty());
    talk.contact.since_bytes = 15s;
    look_for(16s);
    CHECK(talk.gone.size() == 1);
  });
}

TEST_CASE("connections: frames to a peer replace heartbeats") {
  Talk talk;
  talk.hello();
  talk.sent.clear();
  talk.runtime.run([&] {
    for (int i = 0; i < 20; ++i) {
      talk.give_credits_on(Talk::inbound, 0);
      talk.push(1);
      talk.runtime.sleep_for(talk.connections.liveness().look_pause());
      talk.connections.liveness().look_after_peers();
    }
  });
  CHECK(talk.sent_of(FrameKind::heartbeat) == 0);
}

TEST_CASE("connections: a host that was stopped itself does not count its peers as silent") {
  Talk talk;
  talk.hello();
  talk.runtime.run([&] {
    talk.connections.liveness().look_after_peers();
    talk.runtime.sleep_for(40s);
    talk.connections.liveness().look_after_peers();
  });
  CHECK(talk.gone.empty());
}

TEST_CASE("connections: in a failed run a silent peer is gone within a second at the end") {
  Talk talk;
  talk.hello();
  talk.runtime.run([&] {
    Liveness& liveness = talk.connections.liveness();
    liveness.look_after_peers();
    talk.connections.sender().note_failure("thread alpha-0/0: it failed");
    liveness.begin_end();
    const base::Nanos begun = talk.runtime.now();
    while (talk.gone.empty() && talk.runtime.now() < 10s) {
      talk.runtime.sleep_for(liveness.look_pause());
      liveness.look_after_peers();
    }
    CHECK(talk.runtime.now() - begun <= 1100ms);
  });
  CHECK(talk.gone.size() == 1);
}

TEST_CASE("signs of life: the state of a silent peer follows from what its machine answers") {
  CHECK(silence_text({}, 5040ms) == "it gave no sign of life for 5s");
  CHECK(silence_text({.is_local = true}, 5120ms) ==
        "frozen: its process exists, but gave no sign of life for 5100ms");
  PeerContact contact;
  contact.since_bytes = 5s;
  contact.since_acknowledgement = 800ms;
  CHECK(silence_text(contact, 5s) ==
        "frozen: its machine answers, but it gave no sign of life for 5s");
  contact.since_acknowledgement = 4900ms;
  CHECK(silence_text(contact, 5s) ==
        "unreachable: nothing from its machine, not even acknowledgements, for 5s");
}

TEST_CASE("connections: a heartbeat on a welcomed connection gets a reply and others are refused") {
  Talk talk;
  talk.connections.deliver(Talk::second_inbound, talk.frame(FrameKind::heartbeat));
  REQUIRE(talk.sent.size() == 1);
  CHECK(talk.sent.back().kind == FrameKind::refuse);
  talk.hello();
  talk.connections.deliver(Talk::inbound, talk.frame(FrameKind::heartbeat));
  CHECK(talk.sent.back().kind == FrameKind::credits);
}

// ---- invalid frames

TEST_CASE(
    "connections: a frame that does not fit its connection refuses the peer with the reason") {
  struct Case {
    std::string wrong;
    std::function<void(Frame&)> change;
  };
  const std::vector<Case> cases = {
      {"a frame of another run", [](Frame& f) { f.run_high = 9; }},
      {fmt::format("protocol version {}", protocol_version + 1),
       [](Frame& f) { f.version = protocol_version + 1; }},
      {"a frame of host number 0 in place of host beta-0", [](Frame& f) { f.from_host = 0; }},
      {"4294967295 credits of 0", [](Frame& f) { f.credits = ~0u; }},
      {"stage 4 on the connection to stage 3", [](Frame& f) { f.stage = 4; }},
      {"stage 4294967295", [](Frame& f) { f.stage = no_stage; }},
      {"a second hello", [](Frame& f) { f.kind = FrameKind::hello; }},
      {"a reply in place of an operation", [](Frame& f) { f.kind = FrameKind::reply; }},
      {"a reply in place of an operation", [](Frame& f) { f.kind = FrameKind::welcome; }},
  };
  for (const Case& one : cases) {
    Talk talk;
    talk.hello();
    talk.push(1);
    Frame made = talk.operation(FrameKind::request);
    one.change(made);
    talk.connections.deliver(Talk::inbound, Frame(made));
    INFO(one.wrong);
    CHECK(is_refused(talk, one.wrong));
    CHECK(talk.served.empty());
    CHECK_THROWS_AS(talk.push(2), TravelError);  // the refusal closed all connections of the peer
    talk.connections.deliver(Talk::inbound, talk.operation(FrameKind::request));
    CHECK(talk.served.empty());
  }
}

TEST_CASE("connections: only heartbeats and credits may follow a goodbye") {
  Talk talk;
  talk.hello();
  talk.goodbye(Talk::inbound);
  talk.give_credits_on(Talk::inbound, 0);
  talk.connections.deliver(Talk::inbound, talk.frame(FrameKind::heartbeat));
  CHECK(talk.gone.empty());
  talk.connections.deliver(Talk::inbound, talk.operation(FrameKind::request));
  CHECK(is_refused(talk, "a frame after its goodbye"));
}

TEST_CASE("connections: an unsolicited or second reply refuses the peer") {
  struct Case {
    std::string wrong;
    // Function that gets a correct reply to the call. It delivers the reply, possibly changed.
    std::function<void(Talk&, Frame)> answer;
  };
  const std::vector<Case> cases = {
      {"reply to call 17",
       [](Talk& talk, Frame reply) {
         reply.call = 17;
         talk.connections.deliver(Talk::outbound, Frame(reply));
       }},
      {"reply to call 0",
       [](Talk& talk, const Frame& reply) {
         talk.connections.deliver(Talk::outbound, Frame(reply));
         talk.connections.deliver(Talk::outbound, Frame(reply));
       }},
      {"2 credits of 1",
       [](Talk& talk, Frame reply) {
         reply.credits = 2;
         talk.connections.deliver(Talk::outbound, Frame(reply));
       }},
      {"cluster 2 of 2",
       [](Talk& talk, Frame reply) {
         reply.result.origin.cluster = 2;
         talk.connections.deliver(Talk::outbound, Frame(reply));
       }},
      {"a wait of -1 ns",
       [](Talk& talk, Frame reply) {
         reply.result.origin.nanos = -1;
         talk.connections.deliver(Talk::outbound, Frame(reply));
       }},
      {"a goodbye that was not requested",
       [](Talk& talk, const Frame&) { talk.goodbye(Talk::outbound); }},
      {"an operation in place of a reply",
       [](Talk& talk, const Frame&) {
         talk.connections.deliver(Talk::outbound, talk.operation(FrameKind::request));
       }},
  };
  for (const Case& one : cases) {
    Talk talk;
    talk.runtime.run([&] {
      auto caller = talk.runtime.spawn(runtime::ContextRole::thread, {"thread"},
                                       [&] { thrown<TravelError>([&] { talk.call({}); }); });
      talk.runtime.sleep_for(1ms);
      one.answer(talk, talk.frame(FrameKind::reply));
      caller.join();
    });
    INFO(one.wrong);
    CHECK(is_refused(talk, one.wrong));
  }
}

TEST_CASE("connections: a host that ends first announces it and its closing is no loss") {
  Talk talk;
  talk.hello();
  talk.push(1);
  talk.goodbye(Talk::outbound);
  talk.connections.connection_lost(Talk::outbound, "closed");
  CHECK(talk.gone.empty());
  CHECK_THROWS_AS(talk.push(2), TravelError);
}

TEST_CASE("connections: a reply after its caller gave up is accepted once") {
  Talk talk;
  talk.runtime.run([&] {
    auto cancelled =
        talk.runtime.spawn(runtime::ContextRole::service, {"read"}, [&] { talk.call({}); });
    talk.runtime.sleep_for(1ms);
    cancelled.cancel();
    cancelled.join();
  });
  talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::reply));
  CHECK(talk.gone.empty());
  talk.connections.deliver(Talk::outbound, talk.frame(FrameKind::reply));
  CHECK(is_refused(talk, "reply to call 0"));
}

TEST_CASE(
    "connections: a second connection under the name of a connected host is refused and the host "
    "stays") {
  Talk talk;
  talk.hello();
  talk.hello(Talk::third_inbound);  // hello for the stage to which the first connection leads
  CHECK(word_of_refusal(talk.sent.back()) == RefusalWord::place);
  talk.connections.deliver(Talk::third_inbound, talk.operation(FrameKind::request));
  CHECK(talk.served.empty());
  talk.connections.deliver(Talk::inbound, talk.operation(FrameKind::request));
  CHECK(talk.served.size() == 1);
  CHECK(talk.gone.empty());
}

TEST_CASE("connections: a hello with a wrong name or stage is refused") {
  Talk talk;
  Frame hello = talk.frame(FrameKind::hello);
  hello.stage = 17;
  talk.connections.deliver(Talk::inbound, Frame(hello));
  CHECK(word_of_refusal(talk.sent.back()) == RefusalWord::place);
  hello.stage = Talk::first_stage;
  hello.text = "gamma-0";
  talk.connections.deliver(Talk::second_inbound, Frame(hello));
  CHECK(word_of_refusal(talk.sent.back()) == RefusalWord::place);
  talk.hello(Talk::third_inbound);
  CHECK(talk.sent.back().kind == FrameKind::welcome);
}

TEST_CASE("connections: a failure travels in goodbyes in both directions") {
  Talk talk;
  talk.hello();
  talk.connections.sender().note_failure("thread alpha-0/0: went wrong");
  talk.connections.sender().note_failure("and then this");
  talk.goodbye(Talk::inbound);
  CHECK(talk.sent.back().text == "thread alpha-0/0: went wrong");
  Talk other_talk;
  other_talk.hello();
  Frame goodbye = other_talk.frame(FrameKind::goodbye);
  goodbye.text = "thread beta-0/0: went wrong";
  other_talk.connections.deliver(Talk::inbound, std::move(goodbye));
  CHECK(other_talk.connections.sender().failure() == "thread beta-0/0: went wrong");
}

TEST_CASE("connections: a host never reports itself as gone even if a peer does") {
  Talk talk;
  talk.hello();
  Frame goodbye = talk.frame(FrameKind::goodbye);
  const std::string here = "alpha-0";
  goodbye.text = "host " + here + " is gone: it gave no sign of life";
  talk.connections.deliver(Talk::inbound, std::move(goodbye));
  CHECK(talk.connections.sender().failure() ==
        "host beta-0 counts host " + here + " as gone: it gave no sign of life");
}

TEST_CASE("connections: each peer receives a loss once and a later peer after its welcome") {
  Talk talk(false, plan_of_four());
  talk.hello();
  talk.hello(Talk::second_inbound);
  talk.connections.losses().report(loss_of_gamma_1);
  talk.connections.losses().report("host gamma-0 is gone: frozen");
  CHECK(told(talk) == std::vector<std::string>{loss_of_gamma_1});
  greet_from(talk, 2);
  REQUIRE(talk.sent.size() == 2);
  CHECK(talk.sent.front().kind == FrameKind::welcome);
  CHECK(told(talk) == std::vector<std::string>{loss_of_gamma_1});
}

TEST_CASE("connections: the loss that a peer reports is passed on once and quoted in errors") {
  Talk talk(false, plan_of_four());
  talk.hello();
  greet_from(talk, 2);
  talk.sent.clear();
  tell(talk, loss_of_gamma_1);
  tell(talk, "host gamma-0 is gone: frozen");
  CHECK(told(talk) == std::vector<std::string>{loss_of_gamma_1});  // to gamma-0
  CHECK(talk.gone.empty());
  const LossReports& losses = talk.connections.losses();
  CHECK(losses.complete("it waits") ==
        std::string("it waits; ") + loss_of_gamma_1 + " (says beta-0)");
  const std::string named = "thread 0: host gamma-1 is gone: its process has ended";
  CHECK(losses.complete(named) == named);
}

TEST_CASE("connections: a text that is not the loss of a third host of the plan is ignored") {
  Talk talk(false, plan_of_four());
  talk.hello();
  greet_from(talk, 2);
  talk.sent.clear();
  for (const char* const text :
       {"", "host gamma-1", "gamma-1 is gone: frozen", "host gamma-2 is gone: frozen",
        "host alpha-0 is gone: frozen", "host beta-0 is gone: frozen", "host  is gone: "})
    tell(talk, text);
  CHECK(told(talk).empty());
  CHECK(talk.connections.losses().complete("it waits") == "it waits");
}

TEST_CASE("connections: a host that is missing for half of the deadline is reported to each peer") {
  Talk talk(false, plan_of_four());
  talk.runtime.run([&] {
    talk.hello();
    auto meeting = talk.runtime.spawn(runtime::ContextRole::service, {"meeting"}, [&] {
      talk.connections.meeting().await_peers(runtime::Deadline::written_at(60s));
    });
    talk.runtime.sleep_for(29s);
    greet_from(talk, 2);
    talk.runtime.sleep_for(2s);
    CHECK(told(talk).empty());
    talk.hello(Talk::second_inbound);
    talk.runtime.sleep_for(1ms);
    const std::string missing = "host gamma-1 is missing: it has not connected to alpha-0 for 30s";
    CHECK(told(talk) == std::vector<std::string>{missing, missing});  // to beta-0 and gamma-0
    const LossReports& losses = talk.connections.losses();
    CHECK(losses.complete("late") == "late; " + missing);
    greet_from(talk, 3);
    meeting.join();
    CHECK(losses.complete("late") == "late");
    const std::string arrived = "host gamma-1 has arrived";
    CHECK(told(talk) == std::vector<std::string>{arrived, arrived, arrived});
    CHECK(talk.gone.empty());
  });
}

TEST_CASE("connections: a missing host that a peer reports is quoted until it arrives or is lost") {
  Talk talk(false, plan_of_four());
  talk.hello();
  greet_from(talk, 2);
  greet_from(talk, 3);
  talk.sent.clear();
  const LossReports& losses = talk.connections.losses();
  const std::string missing = "host gamma-1 is missing: it has not connected to beta-0 for 30s";
  tell(talk, missing);
  tell(talk, "host gamma-0 is missing: it has not connected to beta-0 for 30s");
  CHECK(told(talk) == std::vector<std::string>{missing, missing});  // to gamma-0 and gamma-1
  CHECK(losses.complete("late") == "late; " + missing + " (says beta-0)");
  CHECK(losses.complete(missing) == missing);
  tell(talk, "host gamma-0 has arrived");
  CHECK(told(talk).empty());
  const std::string arrived = "host gamma-1 has arrived";
  tell(talk, arrived);
  CHECK(told(talk) == std::vector<std::string>{arrived, arrived});
  CHECK(losses.complete("late") == "late");
  tell(talk, missing);
  tell(talk, loss_of_gamma_1);
  CHECK(losses.complete("late") == std::string("late; ") + loss_of_gamma_1 + " (says beta-0)");
  CHECK(talk.gone.empty());
}

TEST_CASE("connections: a host that waits for a missing host keeps its report of the absence") {
  Talk talk(false, plan_of_four());
  talk.hello();
  const std::string missing = "host gamma-1 is missing: it has not connected to beta-0 for 30s";
  tell(talk, missing);
  tell(talk, "host gamma-1 has arrived");
  CHECK(talk.connections.losses().complete("late") == "late; " + missing + " (says beta-0)");
}

TEST_CASE(
    "connections: the loss that a peer reports ends the wait for a host that has not arrived") {
  const bool has_arrived = GENERATE(false, true);
  Talk talk(false, plan_of_four());
  talk.runtime.run([&] {
    talk.hello();
    talk.hello(Talk::second_inbound);
    if (has_arrived) greet_from(talk, 3);
    greet_from(talk, 2);
    auto meeting = talk.runtime.spawn(runtime::ContextRole::service, {"meeting"}, [&] {
      talk.connections.meeting().await_peers(runtime::Deadline::written_at(60s));
    });
    talk.runtime.sleep_for(1s);
    tell(talk, loss_of_gamma_1);
    meeting.join();
    CHECK(talk.runtime.now() == 1s);
    if (has_arrived)
      CHECK(talk.gone.empty());
    else
      CHECK(talk.gone == std::vector<std::string>{"gamma-1: frozen (says beta-0)"});
  });
}
