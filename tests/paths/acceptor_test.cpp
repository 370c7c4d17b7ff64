// SPDX-License-Identifier: Apache-2.0
// tests/paths/acceptor_test.cpp — limits on the greetings that wait for a deployment.
#include "paths/connections/acceptor.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "paths/wire/local/transport.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/forwarding_transport.hpp"

namespace {

using namespace paths;

constexpr base::Digest run{.high = 1, .low = 2};

Frame frame_of(FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.run_high = run.high;
  frame.run_low = run.low;
  frame.from_host = 1;
  frame.text = "peer";
  return frame;
}

/// Returns the number of labels that a host remembers after a peer has sent `greetings` greetings,
/// each for another deployment.
std::size_t labels_after(std::size_t greetings, bool is_taken_back) {
  std::size_t labels = 0;
  test_support::on_virtual_clock([&](runtime::Runtime&) {
    LocalNetwork network(2);
    Acceptor acceptor("host", 0, run, run, 1, network.transport(0));
    acceptor.start();
    test_support::NoReceiver nobody;
    const auto peer = network.transport(1);
    peer->start(nobody);
    for (std::size_t number = 0; number < greetings; ++number) {
      const ConnectionId connection = peer->connect(0);
      Frame hello = frame_of(FrameKind::hello);
      hello.deployment = std::make_shared<const DeploymentId>(
          DeploymentId{fmt::format("label {}", number), 1, 7, run});
      peer->send(connection, std::move(hello));
      if (is_taken_back) peer->send(connection, frame_of(FrameKind::goodbye));
    }
    labels = acceptor.labels();
    peer->stop();
    acceptor.stop();
  });
  return labels;
}

/// Keeps the last frame.
struct LastFrame final : Receiver {
  void deliver(ConnectionId, Frame&& frame) override { last = std::move(frame); }
  void connection_lost(ConnectionId, const std::string&) override {}
  std::optional<Frame> last;
};

}  // namespace

TEST_CASE("reception: a greeting for which there is no place to wait gets the word busy") {
  test_support::on_virtual_clock([&](runtime::Runtime&) {
    LocalNetwork network(2);
    Acceptor acceptor("host", 0, run, run, 1, network.transport(0));
    acceptor.start();
    LastFrame peer_frames;
    const auto peer = network.transport(1);
    peer->start(peer_frames);
    const auto greet = [&] {
      Frame hello = frame_of(FrameKind::hello);
      hello.deployment = std::make_shared<const DeploymentId>(DeploymentId{"later", 1, 7, run});
      peer->send(peer->connect(0), std::move(hello));
    };
    for (int count = 0; count < 4096; ++count) greet();
    CHECK_FALSE(peer_frames.last);
    greet();
    REQUIRE(peer_frames.last);
    CHECK(word_of_refusal(*peer_frames.last) == RefusalWord::busy);
    peer->stop();
    acceptor.stop();
  });
}

TEST_CASE("reception: labels of greetings that wait for a deployment are kept up to a limit") {
  CHECK(labels_after(100, false) == 100);
  CHECK(labels_after(20'000, false) == labels_after(10'000, false));
}

TEST_CASE("reception: labels of greetings that were taken back are kept up to a lower limit") {
  CHECK(labels_after(100, true) == 100);
  CHECK(labels_after(20'000, true) == labels_after(1'000, true));
  CHECK(labels_after(1'000, true) < labels_after(1'000, false));
}
