// SPDX-License-Identifier: Apache-2.0
// tests/messages/lanes_test.cpp — arrival times of messages, effects of windows, and errors of
// lanes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <vector>

#include "base/usage_error.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/lane_hosts.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/thrown.hpp"

namespace {

using base::Nanos;
using base::Payload;
using paths::LaneFrame;
using paths::LaneKind;
using namespace std::chrono_literals;
using namespace test_support;

Payload zeros(std::size_t bytes) {
  return Payload::filled(bytes, [](std::span<std::byte> place) {
    std::fill(place.begin(), place.end(), std::byte{0});
  });
}

Payload numbered(std::uint64_t number) { return Payload::of(number); }

/// Each link carries 100 MB/s, which is 10 ns per byte. The latency is 50 us inside clusters, and
/// 10 ms between clusters.
constexpr const char* network = "{latency: 50us, bandwidth: 800Mbit}";
constexpr const char* wan = "{latency: 10ms, bandwidth: 800Mbit}";

/// Two hosts in each of two clusters.
struct FourHosts {
  explicit FourHosts(std::function<void(paths::Plan&)> change = {}) {
    if (change) change(*plan);
  }
  /// Calls `thread` on each host, with the group of all hosts.
  void run(const std::function<void(std::uint32_t, paths::MessageGroup&)>& thread,
           paths::GroupOptions options = {}) {
    runtime.run([&] {
      LaneHosts made(runtime, plan);
      hosts = &made;
      in_threads(runtime, made.size(), [&](std::uint32_t host) {
        const auto group = made[host].group("all", made.all(), options);
        runtime.sleep_until(100ms);  // the receivers' credit has arrived before 100 ms
        thread(host, *group);
        try {
          group->leave();
        } catch (const paths::TravelError&) {  // an error that the test has caused
        } catch (const base::UsageError&) {    // `thread` has already left the group
        }
      });
      for (std::uint32_t host = 0; host < made.size(); ++host)
        CHECK(made[host].use().inbox_issued == 0);
    });
  }
  Nanos now() const { return runtime.now() - 100ms; }
  std::shared_ptr<paths::Plan> plan = lane_plan({2, 2}, network, wan);
  runtime::Runtime runtime{{.clock = runtime::ClockKind::virtual_time}};
  LaneHosts* hosts = nullptr;
};

}  // namespace

TEST_CASE("lanes: within a process a message in frames shares the memory of its sender") {
  for (const bool is_copied : {false, true}) {
    FourHosts four;
    const Payload sent = Payload::filled(1'000'000, [](std::span<std::byte> place) {
      for (std::size_t i = 0; i < place.size(); ++i) place[i] = std::byte(i % 251);
    });
    four.run([&](std::uint32_t host, paths::MessageGroup& group) {
      // If `is_copied`, copies the payloads of host 0 from the third frame on, as transports
      // between processes do.
      if (host == 0 && is_copied)
        four.hosts->on_frame = [frames = 0](std::uint32_t, std::uint32_t,
                                            LaneFrame& frame) mutable {
          if (frame.kind == LaneKind::data && ++frames > 2)
            frame.payload = Payload::copy_of(frame.payload.bytes());
        };
      if (host == 0) return group.send(3, 0, sent).wait();
      if (host != 3) return;
      const Payload came = group.receive(0, 0).wait().payload;
      CHECK(came == sent);
      CHECK(came.shares_bytes_with(sent) != is_copied);
    });
  }
}

TEST_CASE(
    "lanes: a message crosses its own network then both exits then the network of its receiver") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    // 1 KB takes 10 us on each link, but is forwarded while it arrives, so these 10 us count once.
    // The latencies are 50 us, 10 ms and 50 us.
    if (host == 1) group.send(3, 0, zeros(1000)).wait();
    if (host == 1) CHECK(t.now() == 10us);
    if (host == 3) {
      CHECK(group.receive(1, 0).wait().payload.size() == 1000);
      CHECK(t.now() == 50us + 10ms + 50us + 10us);
    }
  });
}

TEST_CASE("lanes: messages of an exit cross at once") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0) group.send(2, 0, zeros(1000)).wait();
    if (host == 2) {
      group.receive(0, 0).wait();
      CHECK(t.now() == 10ms + 10us);
    }
  });
}

TEST_CASE("lanes: a message of many frames crosses three links in the time of one") {
  FourHosts t;
  const std::size_t bytes = 10 * 65536;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 1) group.send(3, 0, zeros(bytes)).wait();
    if (host == 3) {
      CHECK(group.receive(1, 0).wait().payload == zeros(bytes));
      CHECK(t.now() == 10ms + 100us + Nanos(10 * bytes));
    }
  });
}

TEST_CASE("lanes: messages of a channel arrive in order and do not delay other channels") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0)
      for (std::uint64_t i = 0; i < 20; ++i) group.send(1, i % 2, numbered(i));
    if (host != 1) return;
    for (std::uint64_t i = 1; i < 20; i += 2)
      CHECK(group.receive(0, 1).wait().payload.read<std::uint64_t>() == i);
    for (std::uint64_t i = 0; i < 20; i += 2)
      CHECK(group.receive(0, 0).wait().payload.read<std::uint64_t>() == i);
  });
}

TEST_CASE("lanes: 8 bytes next to messages of 64 MiB wait for at most one frame on each link") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    const std::size_t large = 64 << 20;
    if (host == 1) {
      for (std::uint64_t channel = 1; channel < 4; ++channel) group.send(3, channel, zeros(large));
      t.runtime.sleep_until(300ms);
      group.send(3, 0, numbered(7)).wait();
    }
    if (host == 3) {
      std::vector<runtime::Handle<paths::Received>> others;
      for (std::uint64_t channel = 1; channel < 4; ++channel)
        others.push_back(group.receive(1, channel));
      CHECK(group.receive(1, 0).wait().payload.read<std::uint64_t>() == 7);
      const Nanos alone = 10ms + 100us + 80ns, frame = Nanos(10 * 65536);
      CHECK(t.now() - 200ms > alone);
      CHECK(t.now() - 200ms <= alone + 3 * frame);
      for (auto& other : others) CHECK(other.wait().payload.size() == large);
    }
  });
}

TEST_CASE("lanes: declared paths and lanes share the rate of a link") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0) {
      const auto link = t.hosts->links(0).named("network.a0", {50us, 800e6});
      {
        runtime::Lock lock(link->mutex);
        link->instance.pass(100ms, 100'000);  // another message occupies the link for 1 ms
      }
      group.send(1, 0, zeros(1000));
      // Waits 1 ns, because a link takes its next frame after all other events of the same virtual
      // time.
      t.runtime.sleep_for(1ns);
      {
        runtime::Lock lock(link->mutex);
        CHECK(link->instance.pass(100ms, 0) == 100ms + 1ms + 10us + 50us);
      }
    }
    if (host == 1) {
      group.receive(0, 0).wait();
      CHECK(t.now() == 1ms + 10us + 50us);
    }
  });
}

TEST_CASE("lanes: without credit a message leaves when its receiver grants it") {
  FourHosts t([](paths::Plan& plan) { plan.lanes.inbox_bytes = 0; });
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0) group.send(2, 0, zeros(1000)).wait();
    if (host == 0) CHECK(t.now() == 30ms + 10us);
    if (host == 2) {
      t.runtime.sleep_for(20ms);
      group.receive(0, 0).wait();
      // The grant leaves at 20 ms and takes 10 ms. Then the message takes 10 ms + 10 us.
      CHECK(t.now() == 20ms + 10ms + 10ms + 10us);
      CHECK(t.hosts->operator[](2).use().inbox_held_most == 0);
    }
  });
}

TEST_CASE("lanes: a requested message overtakes unread messages of other channels") {
  FourHosts t([](paths::Plan& plan) { plan.lanes.inbox_bytes = 2000; });
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0) {
      for (int i = 0; i < 10; ++i) group.send(1, 0, zeros(1000));
      group.send(1, 1, numbered(5)).wait();
    }
    if (host == 1) {
      CHECK(group.receive(0, 1).wait().payload.read<std::uint64_t>() == 5);
      CHECK(t.hosts->operator[](1).use().inbox_held <= 2000);
      for (int i = 0; i < 10; ++i) CHECK(group.receive(0, 0).wait().payload.size() == 1000);
    }
  });
}

TEST_CASE(
    "lanes: a window of the product of rate and round trip costs nothing and a part of it costs "
    "its share",
    "[without_asan]") {
  // The link carries 100 Mbit/s and has a latency of 10 ms in each direction. A message of 1000
  // bytes takes 80 us and costs 1128 bytes of credit. The receiver waits for one message at a time,
  // and sends a grant for that message.
  const std::uint64_t messages = 5000;
  const auto seconds = [&](std::uint64_t window) {
    auto plan = lane_plan({1, 1}, "", "{latency: 10ms, bandwidth: 100Mbit}");
    Nanos took{0};
    on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, plan);
      auto task = runtime.spawn(runtime::ContextRole::thread, {"receiver"}, [&] {
        const auto group = hosts[1].group("two", {0, 1}, {.window_bytes = window});
        for (std::uint64_t i = 0; i < messages; ++i) group->receive(0, 0).wait();
        took = runtime.now() - 20ms;
      });
      const auto group = hosts[0].group("two", {0, 1}, {.window_bytes = window});
      runtime.sleep_until(20ms);
      for (std::uint64_t i = 0; i < messages; ++i) group->send(1, 0, zeros(1000));
      task.join();
    });
    return std::chrono::duration<double>(took).count();
  };
  const double wire = messages * 80e-6 + 10e-3;
  CHECK(seconds(0) == Approx(wire).epsilon(0.001));
  const std::uint64_t product = 282'000;  // credit for 250 messages: 20 ms / 80 us
  CHECK(seconds(product) == Approx(wire).epsilon(0.01));
  // Each round trip of 20 ms carries the messages that fit the window, and the granted message.
  for (const std::uint64_t window : {product / 2, product / 10}) {
    const double per_round_trip = static_cast<double>(window / 1128) + 1;
    CHECK(seconds(window) == Approx(messages / per_round_trip * 20e-3).epsilon(0.05));
  }
}

TEST_CASE("lanes: misuse throws a usage error and changes nothing") {
  FourHosts t;
  t.run(
      [&](std::uint32_t host, paths::MessageGroup& group) {
        if (host != 0) return;
        paths::MessageEndpoint& lanes = (*t.hosts)[0];
        const auto of = [&](const std::function<void()>& work) {
          return thrown<base::UsageError>(work);
        };
        CHECK_THAT(of([&] { group.send(0, 0, {}); }), Catch::Contains("no lane to itself"));
        CHECK_THAT(of([&] { group.send(9, 0, {}); }), Catch::Contains("number 9 is not in it"));
        CHECK_THAT(of([&] { group.receive(1, 4); }),
                   Catch::Contains("expected a channel below 4, found 4"));
        CHECK_THAT(of([&] { lanes.group("all", {0, 1}); }), Catch::Contains("in one of that name"));
        CHECK_THAT(of([&] {
                     lanes.group("x", std::vector<std::uint32_t>{1, 2});
                   }),
                   Catch::Contains("host a0 is not in it"));
        CHECK_THAT(of([&] {
                     lanes.group("x", std::vector<std::uint32_t>{0, 0});
                   }),
                   Catch::Contains("host a0 twice"));
        CHECK_THAT(of([&] { lanes.group("x", {0, 7}); }), Catch::Contains("some of the 4 hosts"));
        CHECK_THAT(of([&] {
                     lanes.group_of("x", {"a0", "c9"});
                   }),
                   Catch::Contains("the run has no host 'c9'"));
        group.leave();
        CHECK_THAT(of([&] { group.send(1, 0, {}); }), Catch::Contains("has left"));
      },
      {.channels = 4});
}

TEST_CASE("lanes: several clusters without ways between them are refused with a usage error") {
  FourHosts t([](paths::Plan& plan) { plan.ways.reset(); });
  t.runtime.run([&] {
    LaneHosts hosts(t.runtime, t.plan);
    CHECK_THAT(thrown<base::UsageError>([&] { hosts[0].group("x", hosts.all()); }),
               Catch::Contains("no way from host a0 to host b0: the config is at the low level"));
    // Hosts of one cluster need no route between clusters.
    const auto group = hosts[0].group("near", {0, 1});
  });
}

TEST_CASE("lanes: a host logs refused frames once for each of at most 32 senders") {
  const auto log_of = [](LaneKind kind, std::uint32_t source, std::uint64_t id) {
    return as_child(fmt::format("{} {} {}", static_cast<int>(kind), source, id), [=] {
      on_virtual_clock([=](runtime::Runtime& runtime) {
        LaneHosts hosts(runtime, lane_plan({100}, "", ""));
        for (int time = 0; time < 100; ++time)
          for (std::uint32_t host = 1; host < 100; ++host) {
            LaneFrame frame;
            frame.kind = kind;
            frame.source = source == 0 ? host : source;
            frame.group = id;
            hosts[0].deliver(host, std::move(frame));
          }
        runtime.sleep_for(1s);  // within 1 s, all data frames are handled
      });
    });
  };
  // Frames that must be refused. In the first case, no link leads to the host that the frame names
  // as its source.
  const std::vector<Said> logs = {log_of(LaneKind::data, 1'000'000, 0),
                                  log_of(LaneKind::data, 0, 77),  // group 77 does not exist
                                  log_of(LaneKind::refused, 0, 77)};
  for (const Said& said : logs) {
    CHECK(said.exit_code == 0);
    CHECK_THAT(said.text, Catch::Contains("from host a1: lanes: "));
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = said.text.find("] host a0: ", at)) != std::string::npos; ++at)
      ++lines;
    CHECK(lines == paths::RejectionLog::sources_max + 1);
  }
}

TEST_CASE("lanes: frames of one host for groups that are never made keep no other host out") {
  const auto count = test_support::from_environment("PATHS_GREETINGS", 70'000);
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({3}, "", ""));
    const auto flood = [&](std::size_t text_bytes) {
      for (std::uint64_t group = 0; group < count; ++group) {
        LaneFrame frame;
        frame.kind = text_bytes == 0 ? LaneKind::credit : LaneKind::left;
        frame.source = 1;
        frame.group = group;
        frame.text.assign(text_bytes, 'x');
        hosts[0].deliver(1, std::move(frame));
      }
    };
    flood(0);
    const auto resident = test_support::resident_kib();
    flood(4000);
    if (!test_support::keeps_freed_memory)
      CHECK(test_support::resident_kib() < resident + 16 * 1024);
    // The credit of host 2 arrives before host 0 makes the group.
    const auto theirs = hosts[2].group("true", {0, 2});
    auto received = theirs->receive(0, {.channel = 1});
    runtime.sleep_for(1ms);
    const auto ours = hosts[0].group("true", {0, 2});
    ours->send(2, {.channel = 1}, base::Payload::of(7.0)).wait();
    CHECK(received.wait().payload.read<double>() == 7.0);
  });
}

TEST_CASE("lanes: a message in the name of another host is refused") {
  const auto log_of = [](LaneFrame frame, std::uint32_t from) {
    const std::string name =
        fmt::format("{} {} {}", static_cast<int>(frame.kind), frame.source, from);
    return as_child(name,
                    [=] {
                      on_virtual_clock([=](runtime::Runtime& runtime) {
                        LaneHosts hosts(runtime, lane_plan({3, 2}, "", ""));
                        hosts[1].deliver(from, LaneFrame(frame));
                        runtime.sleep_for(1s);
                      });
                    })
        .text;
  };
  std::vector<std::string> of_other, of_exit, forwarded;
  for (const LaneKind kind : {LaneKind::done, LaneKind::left, LaneKind::failed, LaneKind::lost}) {
    const LaneFrame forged{.kind = kind, .source = 2, .target = 1};
    of_other.push_back(log_of(forged, 4));
    // This frame is refused, because its exit may only forward frames of cluster b.
    of_exit.push_back(log_of(forged, 0));
    forwarded.push_back(log_of({.kind = kind, .source = 4, .target = 1, .bytes = 3}, 0));
  }
  // Host a2 is not an exit, so it is permitted to report only its own end.
  const std::string of_all =
      log_of({.kind = LaneKind::done, .source = 2, .target = 1, .bytes = 2}, 2);
  for (const std::string& log : of_other)
    CHECK_THAT(log,
               Catch::Contains("from host b1: lanes: a message of host a2, for which it does"));
  for (const std::string& log : of_exit)
    CHECK_THAT(log,
               Catch::Contains("from host a0: lanes: a message of host a2, for which it does"));
  for (const std::string& log : forwarded)
    CHECK_THAT(log, !Catch::Contains("for which it does not forward"));
  CHECK_THAT(of_all, Catch::Contains("from host a2: lanes: a report about hosts of others"));
}

TEST_CASE("lanes: a host that lives is not lost because a host of its cluster says so") {
  const Said said = as_child("", [] {
    runtime::Runtime runtime({.clock = runtime::ClockKind::steady});
    const auto plan = lane_plan({3}, "", "");
    plan->deadline = 400ms;
    runtime.run([&] {
      LaneHosts hosts(runtime, plan);
      auto groups = hosts.groups();
      LaneFrame lost{.kind = LaneKind::lost, .source = 1, .target = 2, .bytes = 0};
      lost.text = "it died";
      hosts[2].deliver(1, std::move(lost));
      runtime.sleep_for(300ms);  // tidy: real time
      groups[0]->send(2, 0, numbered(1));
      groups[2]->receive(0, 0).wait();
    });
  });
  INFO(said.text);
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("from host a1: lanes: the loss of host a0, which lives"));
}

TEST_CASE("lanes: an invalid frame fails both its sender and the receiver that waits for it") {
  const auto told = [](const std::function<void(LaneFrame&)>& change) {
    FourHosts t;
    std::pair<std::string, std::string> errors;
    t.run(
        [&](std::uint32_t host, paths::MessageGroup& group) {
          if (host == 0) {
            t.hosts->on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
              if (frame.kind == LaneKind::data && frame.target == 1) change(frame);
            };
            group.send(1, 0, zeros(100)).wait();
            errors.first = thrown<paths::TravelError>([&] { group.receive(1, 0).wait(); });
            CHECK_THAT(thrown<paths::TravelError>([&] { group.send(1, 0, {}).wait(); }),
                       Catch::Contains("host a1 was sent"));
            group.send(2, 0, numbered(1)).wait();  // the lane to host 2 still works
          }
          if (host == 1)
            errors.second = thrown<paths::TravelError>([&] { group.receive(0, 0).wait(); });
          if (host == 2) CHECK(group.receive(0, 0).wait().payload.read<std::uint64_t>() == 1);
        },
        {.channels = 4});
    return errors;
  };
  auto errors = told([](LaneFrame& frame) {
    frame.is_granted = false, frame.payload = zeros(5'000'000), frame.bytes = 5'000'000;
  });
  CHECK_THAT(errors.first, Catch::Contains("host a1 was sent 5000128 bytes beyond its window"));
  CHECK_THAT(errors.second, Catch::Contains("it sent 5000128 bytes beyond its window"));
  errors = told([](LaneFrame& frame) { frame.channel = 4; });
  CHECK_THAT(errors.first, Catch::Contains("a message on channel 4 of group all, which has 4"));
  errors = told([](LaneFrame& frame) { frame.is_granted = true, frame.ordinal = 9; });
  CHECK_THAT(errors.first, Catch::Contains("as granted, which it is not"));
  errors = told([](LaneFrame& frame) { frame.offset = 1; });
  CHECK_THAT(errors.first, Catch::Contains("bytes 1 to 101 of a message of 100"));
}

TEST_CASE("lanes: a message for an unknown group is rejected and the run continues") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 0) {
      LaneFrame stray;
      stray.source = 1;
      stray.group = 99;
      (*t.hosts)[0].deliver(1, stray);
      stray.source = 77;
      (*t.hosts)[0].deliver(1, stray);
      stray.kind = LaneKind::left;
      stray.source = 1;
      (*t.hosts)[0].deliver(1, stray);
      group.send(1, 0, numbered(3));
    }
    if (host == 1) CHECK(group.receive(0, 0).wait().payload.read<std::uint64_t>() == 3);
  });
}

TEST_CASE("lanes: a receive from a host that left fails after its last message was delivered") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 1) {
      group.send(3, 0, zeros(1'000'000));
      group.leave();
    }
    if (host == 3) {
      auto first = group.receive(1, 0), second = group.receive(1, 0);
      CHECK(first.wait().payload.size() == 1'000'000);
      CHECK_THAT(thrown<paths::TravelError>([&] { second.wait(); }),
                 Catch::Contains("it has left the group"));
      CHECK_THAT(thrown<paths::TravelError>([&] { group.send(1, 0, {}).wait(); }),
                 Catch::Contains("it has left the group"));
    }
  });
}

TEST_CASE("lanes: a lost host is reported to all hosts even if only relays were connected to it") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 3) return t.runtime.sleep_until(500ms);
    if (host == 2) {
      t.runtime.sleep_until(200ms);
      return t.hosts->kill(3);
    }
    CHECK_THAT(thrown<paths::TravelError>([&] { group.receive(3, 0).wait(); }),
               Catch::Contains("host b1 is gone: it died"));
    CHECK(t.now() == (host == 0 ? 110ms : 110ms + 50us));
    CHECK_THAT(thrown<paths::TravelError>([&] { group.send(3, 0, {}).wait(); }),
               Catch::Contains("host b1 is gone: it died"));
    // The surviving hosts still exchange messages.
    if (host == 0) group.send(1, 0, numbered(1)).wait();
    if (host == 1) CHECK(group.receive(0, 0).wait().payload.read<std::uint64_t>() == 1);
  });
}

TEST_CASE("lanes: a host that loses a relay also loses the hosts behind it") {
  FourHosts t;
  t.run([&](std::uint32_t host, paths::MessageGroup& group) {
    if (host == 2) {
      t.runtime.sleep_until(200ms);
      return t.hosts->kill(2);
    }
    if (host == 3) t.runtime.sleep_until(500ms);
    if (host == 1)
      CHECK_THAT(thrown<paths::TravelError>([&] { group.receive(3, 0).wait(); }),
                 Catch::Contains("host b0 is gone"));
  });
}

TEST_CASE("lanes: a host can send to members that have not joined yet") {
  FourHosts t;
  t.runtime.run([&] {
    LaneHosts hosts(t.runtime, t.plan);
    auto late = t.runtime.spawn(runtime::ContextRole::thread, {"late"}, [&] {
      t.runtime.sleep_until(1s);
      const auto group = hosts[3].group("x", {0, 3});
      CHECK(group->receive(0, 0).wait().payload.read<std::uint64_t>() == 4);
    });
    const auto group = hosts[0].group("x", {0, 3});
    group->send(3, 0, numbered(4)).wait();
    CHECK(t.runtime.now() > 1s);
    late.join();
  });
}

TEST_CASE("lanes: successive groups of one name do not mix") {
  FourHosts t;
  t.runtime.run([&] {
    LaneHosts hosts(t.runtime, t.plan);
    for (std::uint64_t use = 0; use < 5; ++use) {
      const auto here = hosts[0].group("x", {0, 1}), there = hosts[1].group("x", {0, 1});
      here->send(1, 0, numbered(use));
      here->send(1, 0, numbered(100));  // no thread receives it
      CHECK(there->receive(0, 0).wait().payload.read<std::uint64_t>() == use);
    }
    t.runtime.sleep_for(1s);
    CHECK(hosts[1].use().inbox_issued == 0);
  });
}

TEST_CASE("lanes: very large groups have credit only on lanes that carry messages") {
  auto plan = lane_plan({70}, network, "");
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    const auto groups = hosts.groups();
    CHECK(hosts[5].use().inbox_issued == 0);
    groups[2]->send(5, 0, numbered(4)).wait();
    CHECK(hosts[5].use().inbox_issued > 0);
    CHECK(hosts[5].credit_issued().size() == 1);
    CHECK(groups[5]->receive(2, 0).wait().payload.read<std::uint64_t>() == 4);
    groups[9]->send(8, 0, numbered(4));
    groups[8]->receive(9, 0).wait();
  });
}

TEST_CASE("lanes: a group and its messages may outlive their host and then throw a usage error") {
  FourHosts t;
  std::unique_ptr<paths::MessageGroup> group;
  runtime::Handle<void> sending;
  runtime::Handle<paths::Received> receiving;
  t.runtime.run([&] {
    LaneHosts made(t.runtime, t.plan);
    group = made[0].group("all", made.all());
    sending = group->send(1, 0, numbered(1));
    receiving = group->receive(1, 0);
  });
  CHECK(thrown<base::UsageError>([&] { group->send(1, 0, numbered(2)); }) ==
        "main thread: group all: its host has ended");
  CHECK(thrown<base::UsageError>([&] { group->leave(); }) ==
        "main thread: group all: its host has ended");
  CHECK(thrown<base::UsageError>([&] { sending.wait(); }) ==
        "main thread: group all: a message to host a1 on channel 0: its host has ended");
  CHECK(thrown<base::UsageError>([&] { receiving.wait(); }) ==
        "main thread: group all: a message from host a1 on channel 0: its host has ended");
}

TEST_CASE("lanes: the named message of least order leaves first for any receiver") {
  on_virtual_clock([](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({3}, "{latency: 0s, bandwidth: 8Mbit}", ""));
    const auto groups = hosts.groups();
    // The link carries one megabyte per second, so a message of one kilobyte takes one millisecond.
    const auto message = [](std::uint64_t name, std::uint64_t order) {
      return paths::NamedMessage{.channel = 7, .name = name, .signature_digest = 5, .order = order};
    };
    const auto kilobyte = base::Payload::filled(1000, [](auto) {});
    auto last = groups[0]->send(1, message(0, 9), kilobyte);
    auto late = groups[0]->send(1, message(1, 3), kilobyte);
    auto early = groups[0]->send(2, message(1, 2), kilobyte);
    auto first = groups[0]->send(1, message(2, 1), kilobyte);
    first.wait();
    CHECK(runtime.now() == 1ms);
    early.wait();
    CHECK(runtime.now() == 2ms);
    late.wait();
    CHECK(runtime.now() == 3ms);
    last.wait();
    CHECK(runtime.now() == 4ms);
    for (const std::uint64_t name : {2, 0, 1})  // receives may be in another order than sends
      CHECK(groups[1]->receive(0, message(name, 0)).wait().payload.size() == 1000);
    CHECK(groups[2]->receive(0, message(1, 0)).wait().payload.size() == 1000);
    for (auto& group : groups) group->close(7);
    for (auto& group : groups) group->leave();
  });
}

TEST_CASE("lanes: a message that two hosts take for different ones fails at both") {
  for (const bool is_sent_first : {true, false})
    on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, lane_plan({2}, "{latency: 1ms, bandwidth: 8Mbit}", ""));
      const auto a = hosts[0].group("all", hosts.all()), b = hosts[1].group("all", hosts.all());
      runtime::Handle<void> sending;
      if (is_sent_first)
        sending = a->send(1, {.channel = 1, .signature_digest = 5}, base::Payload::of(1));
      if (is_sent_first) runtime.sleep_for(5ms);
      auto receiving = b->receive(0, {.channel = 1, .signature_digest = 6});
      if (!is_sent_first) runtime.sleep_for(5ms);
      if (!is_sent_first) a->send(1, {.channel = 1, .signature_digest = 5}, base::Payload::of(1));
      CHECK_THROWS_WITH(receiving.wait(), Catch::Contains("for different messages"));
      runtime.sleep_for(5ms);
      auto next = a->send(1, {.channel = 2, .signature_digest = 5}, base::Payload::of(1));
      CHECK_THROWS_WITH(next.wait(), Catch::Contains("for different messages"));
      a->send(1, {.channel = 0, .signature_digest = 5}, base::Payload::of(std::uint8_t{7}));
      CHECK(b->receive(0, {.channel = 0, .signature_digest = 5}).wait().payload.size() ==
            1);  // this message arrived before the failure
    });
}

TEST_CASE(
    "lanes: failed channels fail for all current and later users and other channels still work") {
  on_virtual_clock([](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({3}, "{latency: 1ms, bandwidth: 8Mbit}", ""));
    const auto a = hosts[0].group("all", hosts.all()), b = hosts[1].group("all", hosts.all()),
               c = hosts[2].group("all", hosts.all());
    auto early = b->receive(0, {.channel = 4});
    auto below = b->receive(0, {.channel = 2});
    auto above = b->receive(0, {.channel = 5});
    const auto large = base::Payload::filled(200'000, [](auto) {});
    b->send(0, {.channel = 4}, large);  // this message is under way when channel 4 fails
    b->send(2, {.channel = 4}, large);
    runtime.sleep_for(3ms);
    a->fail({4, 4}, "the third thread broke");
    CHECK_THROWS_WITH(early.wait(), "host a1: the third thread broke");
    CHECK_THROWS_WITH(a->receive(1, {.channel = 4}).wait(), "host a0: the third thread broke");
    CHECK_THROWS_WITH(c->receive(1, {.channel = 4}).wait(), "host a2: the third thread broke");
    CHECK_THROWS_WITH(b->send(0, {.channel = 4}, large).wait(), "host a1: the third thread broke");
    runtime.sleep_for(1s);
    a->send(1, {.channel = 2}, base::Payload::of(1));
    a->send(1, {.channel = 5}, base::Payload::of(1));
    CHECK(below.wait().payload.size() == above.wait().payload.size());
    for (std::uint64_t channel : {0, 1, 2, 3, 5})
      for (const auto& group : {a.get(), b.get(), c.get()}) group->close(channel);
    // c reports a failure of all channels from 3 on. Channel 4 has failed before, and keeps its
    // first error.
    c->fail({.first = 3}, "no more");
    CHECK_THROWS_WITH(a->receive(1, {.channel = 4}).wait(), "host a0: the third thread broke");
    runtime.sleep_for(10ms);
    CHECK_THROWS_WITH(a->receive(1, {.channel = 6}).wait(), "host a0: no more");
    CHECK_THROWS_WITH(b->receive(0, {.channel = 4}).wait(), "host a1: the third thread broke");
    for (std::uint32_t to = 0; to < 3; ++to)
      for (std::uint32_t from = 0; from < 3; ++from)
        if (from != to)
          for (const auto& [lane, bytes] : hosts[to].credit_issued())
            if (lane.second == from)
              CHECK(bytes == hosts[from].credit_to_use().at({lane.first, to}));
    for (const auto& group : {a.get(), b.get(), c.get()}) group->leave();
  });
}

TEST_CASE("lanes: a receive from a host that leaves fails with the reason it gave") {
  on_virtual_clock([](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({2}, "{latency: 1ms, bandwidth: 8Mbit}", ""));
    const auto a = hosts[0].group("all", hosts.all()), b = hosts[1].group("all", hosts.all());
    auto receiving = b->receive(0, 1);
    a->abandon("its thread broke");
    CHECK_THROWS_WITH(receiving.wait(), "host a1: its thread broke");
  });
}
