// SPDX-License-Identifier: Apache-2.0
// tests/messages/lanes_property_test.cpp — random small programs over lanes. They must end with the
// right data, and never exceed the inbox.
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>

#include "tests/support/clocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using namespace std::chrono_literals;
using test_support::LaneHosts;

/// A list of random messages. Each host starts its sends and receives in the order of the list,
/// with at most `sends` sends and `receives` receives under way. This order needs no buffers, so
/// each program must end with any amount of credit.
struct Case {
  struct Message {
    std::uint32_t from = 0, to = 0, group = 0;
    std::uint64_t channel = 0, bytes = 0;
  };
  explicit Case(std::uint64_t seed) : random(seed) {
    const auto clusters = 1 + draw(2);
    std::vector<std::uint32_t> sizes;
    for (std::uint64_t i = 0; i <= clusters; ++i)
      sizes.push_back(1 + static_cast<std::uint32_t>(draw(1)));
    static constexpr const char* links[] = {"", "{latency: 1ms, bandwidth: 8Mbit}",
                                            "{latency: 30us}", "{bandwidth: 1Mbit}"};
    plan = test_support::lane_plan(sizes, links[draw(3)], links[draw(3)]);
    static constexpr std::uint64_t inboxes[] = {0, 200, 1000, 5000, 1 << 20};
    plan->lanes.inbox_bytes = inboxes[draw(4)];
    static constexpr std::uint64_t frames[] = {0, 64, 300, 65536};
    plan->lanes.frame_bytes = frames[draw(3)];
    groups = 1 + static_cast<std::uint32_t>(draw(2));
    for (std::uint32_t group = 0; group < groups; ++group)
      windows.push_back(draw(2) == 0 ? 0 : 100 + draw(2000));
    sends = 1 + draw(3);
    receives = 1 + draw(3);
    for (std::uint64_t left = draw(30); left > 0; --left) {
      Message message;
      const auto hosts = plan->hosts.size();
      message.from = static_cast<std::uint32_t>(draw(hosts - 1));
      message.to = static_cast<std::uint32_t>((message.from + 1 + draw(hosts - 2)) % hosts);
      message.group = static_cast<std::uint32_t>(draw(groups - 1));
      message.channel = draw(2);
      message.bytes = draw(3) == 0 ? 0 : draw(1500);
      messages.push_back(message);
    }
    draw_links();
  }
  /// Draws for each cluster whether it has a switch and whether its hosts limit the rate of
  /// receiving. Draws the number of streams of each link.
  void draw_links() {
    for (paths::Ways::Cluster& cluster : plan->ways->clusters) {
      cluster.receives = draw(1) == 1;
      cluster.has_switch = draw(1) == 1;
    }
    plan->lanes.striping = 1 + static_cast<std::uint32_t>(draw(1));
    if (draw(1) == 1) return;
    for (auto& [ends, link] : plan->ways->links)
      link = test_support::link_settings("{latency: 1ms, stream_rate: 3Mbit, streams: 2}");
  }
  std::uint64_t draw(std::uint64_t most) { return random() % (most + 1); }

  std::mt19937_64 random;
  std::shared_ptr<paths::Plan> plan;
  std::uint32_t groups = 0;
  std::vector<std::uint64_t> windows;
  std::uint64_t sends = 0, receives = 0;
  std::vector<Message> messages;
};

base::Payload payload_of(const Case::Message& message, std::size_t index) {
  return base::Payload::filled(message.bytes, [&](std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(index * 31 + i * 7);
  });
}

/// Runs the steps (sends and receives) of one host. A step begins when all steps before it have
/// begun, and the number of sends or of receives under way is below its limit.
void run_host(const Case& one, std::uint32_t host, LaneHosts& hosts) {
  std::vector<std::unique_ptr<paths::MessageGroup>> groups;
  for (std::uint32_t group = 0; group < one.groups; ++group)
    groups.push_back(hosts[host].group("group " + std::to_string(group), hosts.all(),
                                       {.window_bytes = one.windows[group]}));
  std::deque<runtime::Handle<void>> sending;
  std::deque<std::pair<std::size_t, runtime::Handle<paths::Received>>> receiving;
  const auto take = [&] {
    auto [index, next] = std::move(receiving.front());
    receiving.pop_front();
    REQUIRE(next.wait().payload == payload_of(one.messages[index], index));
  };
  for (std::size_t index = 0; index < one.messages.size(); ++index) {
    const Case::Message& message = one.messages[index];
    if (message.from == host) {
      for (; sending.size() >= one.sends; sending.pop_front()) sending.front().wait();
      sending.push_back(
          groups[message.group]->send(message.to, message.channel, payload_of(message, index)));
    } else if (message.to == host) {
      while (receiving.size() >= one.receives) take();
      receiving.emplace_back(index, groups[message.group]->receive(message.from, message.channel));
    }
    REQUIRE(hosts[host].use().inbox_held <= one.plan->lanes.inbox_bytes);
  }
  while (!receiving.empty()) take();
  for (auto& one_sent : sending) one_sent.wait();
  for (auto& group : groups) group->leave();
}

/// Checks that no credit is issued or held after all messages have ended.
void check_balance(LaneHosts& hosts) {
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    const auto use = hosts[host].use();
    REQUIRE(use.inbox_held == 0);
    REQUIRE(use.inbox_issued == 0);
  }
}

void run(std::uint64_t seed) {
  INFO("seed " << seed);
  const Case one(seed);
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, one.plan);
    test_support::in_threads(runtime, hosts.size(),
                             [&](std::uint32_t host) { run_host(one, host, hosts); });
    check_balance(hosts);
    for (std::uint32_t host = 0; host < hosts.size(); ++host)
      REQUIRE(hosts[host].use().inbox_held_most <= one.plan->lanes.inbox_bytes);
  });
}

}  // namespace

TEST_CASE("lanes: random small programs end with any window and inbox") {
  const std::uint64_t cases =
      test_support::from_environment("PATHS_LANE_CASES", test_support::or_fewer(1000));
  const std::uint64_t seed = test_support::from_environment("PATHS_LANE_SEED", 1);
  for (std::uint64_t i = 0; i < cases; ++i) run(seed + i);
}

TEST_CASE("lanes: usable credit equals issued credit when nothing is under way") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    Case one(seed);
    test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, one.plan);
      const auto groups = hosts.groups();
      std::vector<runtime::Handle<paths::Received>> receiving;
      for (std::size_t index = 0; index < one.messages.size(); ++index) {
        const auto& message = one.messages[index];
        groups[message.from]->send(message.to, message.channel, payload_of(message, index));
        receiving.push_back(groups[message.to]->receive(message.from, message.channel));
      }
      for (std::size_t index = 0; index < receiving.size(); ++index)
        REQUIRE(receiving[index].wait().payload == payload_of(one.messages[index], index));
      runtime.sleep_for(1s);
      for (std::uint32_t host = 0; host < hosts.size(); ++host)
        for (const auto& [lane, bytes] : hosts[host].credit_issued()) {
          const auto there = hosts[lane.second].credit_to_use();
          const auto use = there.find({lane.first, host});
          REQUIRE((use == there.end() ? 0 : use->second) == bytes);
        }
    });
  }
}
