// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/link_instance_test.cpp — frames and whole messages that share a link or
// cross several links.
#include "base/link_model/link_instance.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace {

using base::Nanos;
using tuning::LinkInstance;
using tuning::LinkModel;
using namespace std::chrono_literals;

const LinkModel a_byte_a_microsecond(10ms, 8e6);

/// Sends a message at `now` over consecutive links in frames of at most `frame` bytes. Each frame
/// is offered as soon as the first link has accepted the previous frame. Returns the time at which
/// the last byte arrives.
Nanos cross(const std::vector<LinkInstance*>& links, Nanos now, std::uint64_t bytes,
            std::uint64_t frame) {
  Nanos arrived = now;
  Nanos offered = now;
  for (std::uint64_t sent = 0; sent < bytes || sent == 0; sent += frame) {
    LinkInstance::Passage passage{offered, offered, 0ns};
    for (LinkInstance* link : links) {
      passage = link->carry(passage.head, passage.lag, std::min(frame, bytes - sent));
      if (link == links.front()) offered = passage.free_again;
    }
    arrived = std::max(arrived, passage.head + passage.lag);
  }
  return arrived;
}

/// Two clusters of 4 hosts, as in golden_prices_test.cpp. The network of each host carries 12.5
/// MB/s in each direction. The clusters are linked with 125 MB/s and 10 ms. Latency inside a
/// cluster is 50 us; processors take no time.
struct TwoClusters {
  TwoClusters() {
    for (int host = 0; host < 8; ++host) {
      out.emplace_back(LinkModel(0ns, 100e6));
      in.emplace_back(LinkModel(0ns, 100e6));
    }
  }
  Nanos send(std::size_t from, std::size_t to, Nanos ready, std::uint64_t bytes) {
    LinkInstance& between = from / 4 == to / 4 ? inside[from] : across[from / 4];
    return cross({&out[from], &between, &in[to]}, ready, bytes, bytes);
  }
  std::vector<LinkInstance> out, in;
  std::vector<LinkInstance> inside = std::vector<LinkInstance>(8, LinkInstance(LinkModel(50us, 0)));
  std::vector<LinkInstance> across{LinkInstance(LinkModel(10ms, 1e9)),
                                   LinkInstance(LinkModel(10ms, 1e9))};
};

constexpr std::uint64_t mebibyte = 1 << 20;

double milliseconds(Nanos span) { return static_cast<double>(span.count()) / 1e6; }

}  // namespace

TEST_CASE(
    "link instance: a whole message waits for the link and arrives one latency after its last "
    "byte") {
  LinkInstance link(a_byte_a_microsecond);
  CHECK(link.pass(0ns, 1000) == 11ms);
  CHECK(link.pass(0ns, 1000) == 12ms);
  CHECK(link.free_at() == 2ms);
  CHECK(link.pass(50ms, 0) == 60ms);
  CHECK(link.last_arrival() == 60ms);
}

TEST_CASE(
    "link instance: a frame's head leaves when its service begins and its tail when it ends") {
  LinkInstance link(a_byte_a_microsecond);
  const auto passage = link.carry(3ms, 0ns, 1000);
  CHECK(passage.free_again == 4ms);
  CHECK(passage.head == 13ms);
  CHECK(passage.lag == 1ms);
}

TEST_CASE("link instance: frames and whole messages queue for the same link") {
  LinkInstance link(a_byte_a_microsecond);
  link.pass(0ns, 1000);
  // The second message waits until the first message has entered the link, which takes 1 ms.
  CHECK(link.carry(0ns, 0ns, 1000).head == 11ms);
  CHECK(link.pass(0ns, 1000) == 13ms);  // the third message waits for the first two
}

TEST_CASE("link instance: cut-through costs the time of the slowest link once") {
  LinkInstance slow(a_byte_a_microsecond), fast(LinkModel(1ms, 80e6)), last(a_byte_a_microsecond);
  // 1000 bytes take 1 ms on the slow links. The head of a frame passes each link immediately. The
  // tail of the frame follows 1 ms later.
  CHECK(cross({&slow, &fast, &last}, 0ns, 1000, 1000) == 22ms);
  // The fast link is free for other frames at 10.1 ms, long before the last byte reaches the
  // receiver.
  CHECK(fast.free_at() == 10ms + 100us);
  CHECK(last.free_at() == 12ms);
}

TEST_CASE("link instance: a link after a slower one waits for the tail") {
  LinkInstance fast(LinkModel(1ms, 80e6));
  const auto passage = fast.carry(0ns, 5ms, 1000);
  CHECK(passage.head == 1ms);
  CHECK(passage.lag == 5ms);
  CHECK(passage.free_again == 100us);
}

TEST_CASE("link instance: a message waits for at most one frame of another message") {
  LinkInstance link(a_byte_a_microsecond);
  link.carry(0ns, 0ns, 1000);
  CHECK(link.carry(0ns, 0ns, 8).head == 11ms);
}

TEST_CASE("link instance: control messages never wait and keep their order") {
  LinkInstance link(LinkModel({{0ns, 10ms, 8e6}, {5ms, 1ms, 8e6}}, 100ms));
  link.carry(0ns, 0ns, 1'000'000);
  CHECK(link.carry_control(4ms) == 14ms);
  // This control message must not overtake the previous control message. Without the previous
  // message, this message would arrive at 6 ms + 1 ms.
  CHECK(link.carry_control(6ms) == 14ms);
  CHECK(link.carry_control(20ms) == 21ms);
}

TEST_CASE("link instance: no head overtakes an earlier one when the latency falls") {
  LinkInstance link(LinkModel({{0ns, 10ms, 0}, {5ms, 1ms, 0}}, 100ms));
  CHECK(link.carry(4ms, 0ns, 10).head == 14ms);
  const auto passage = link.carry(6ms, 0ns, 10);
  CHECK(passage.head == 14ms);
  CHECK(passage.lag == 0ns);
}

TEST_CASE("link instance: a binomial broadcast of 1 MiB over two clusters takes 261.7582 ms") {
  TwoClusters all;
  const Nanos at4 = all.send(0, 4, 0ns, mebibyte);
  const Nanos at2 = all.send(0, 2, all.out[0].free_at(), mebibyte);
  const Nanos at1 = all.send(0, 1, all.out[0].free_at(), mebibyte);
  const Nanos at6 = all.send(4, 6, at4, mebibyte);
  const Nanos at5 = all.send(4, 5, all.out[4].free_at(), mebibyte);
  const Nanos at3 = all.send(2, 3, at2, mebibyte);
  const Nanos at7 = all.send(6, 7, at6, mebibyte);
  CHECK(milliseconds(std::max({at1, at3, at5, at7})) == Approx(261.7582).margin(0.00005));
}

TEST_CASE("link instance: a chain of 16 KiB segments over two clusters takes 102.0504 ms") {
  TwoClusters all;
  Nanos last{0};
  for (std::uint64_t segment = 0; segment < 64; ++segment) {
    Nanos ready = all.out[0].free_at();
    for (std::size_t host = 0; host < 7; ++host) ready = all.send(host, host + 1, ready, 16 << 10);
    last = ready;
  }
  CHECK(milliseconds(last) == Approx(102.0504).margin(0.00005));
}

TEST_CASE("link instance: three hosts that send to a fourth at once queue at the receiver") {
  TwoClusters all;
  Nanos last{0};
  for (std::size_t host = 1; host < 4; ++host)
    last = std::max(last, all.send(host, 0, 0ns, mebibyte));
  CHECK(milliseconds(last) == Approx(3 * 83.88608 + 0.05).margin(0.00005));
}
