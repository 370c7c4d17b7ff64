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
#include "tests/support/environment.hpp"
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

/// Returns the number of labels of deployments that a host remembers after a peer has sent
/// `greetings` greetings, each for another deployment. If `is_taken_back`, a goodbye follows each
/// greeting.
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

/// Receiver that keeps the last frame, and counts refusals with the word `busy`.
struct LastFrame final : Receiver {
  void deliver(ConnectionId, Frame&& frame) override {
    busy += word_of_refusal(frame) == RefusalWord::busy ? 1 : 0;
    last = std::move(frame);
  }
  void connection_lost(ConnectionId, const std::string&) override {}
  std::optional<Frame> last;
  std::size_t busy = 0;
};

/// A host, and peers that greet it.
struct Reception {
  Reception() {
    acceptor.start();
    peer->start(frames);
  }
  ~Reception() {
    peer->stop();
    acceptor.stop();
  }
  void greet(const std::string& name, const std::string& label, std::uint64_t number = 1) {
    Frame hello = frame_of(FrameKind::hello);
    hello.text = name;
    hello.deployment = std::make_shared<const DeploymentId>(DeploymentId{label, number, 7, run});
    peer->send(peer->connect(0), std::move(hello));
  }
  LocalNetwork network{2};
  Acceptor acceptor{"host", 0, run, run, 1, network.transport(0)};
  LastFrame frames;
  const std::unique_ptr<Transport> peer = network.transport(1);
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

TEST_CASE("reception: greetings of one peer for absent deployments keep no other peer out") {
  const auto count = test_support::from_environment("PATHS_GREETINGS", 10'000);
  constexpr std::uint64_t places = 4096, places_of_each = 64;
  test_support::on_virtual_clock([&](runtime::Runtime&) {
    Reception reception;
    for (std::uint64_t number = 0; number < count; ++number)
      reception.greet("flood", fmt::format("label {}", number));
    CHECK(reception.acceptor.labels() == places);
    CHECK(reception.frames.busy == count - places);
    // All places are in use. Each greeting of the peer `true` therefore replaces the newest waiting
    // greeting.
    for (std::uint64_t number = 0; number < places_of_each; ++number)
      reception.greet("true", fmt::format("true label {}", number));
    CHECK(reception.acceptor.labels() == places);
    CHECK(reception.frames.busy == count - places + places_of_each);
    reception.greet("true", "one label too many");
    reception.greet("flood", "one label too many");
    CHECK(reception.acceptor.labels() == places);
    CHECK(reception.frames.busy == count - places + places_of_each + 2);
    reception.greet("third", "a label");
    CHECK(reception.frames.busy == count - places + places_of_each + 3);
  });
}

TEST_CASE("reception: a number far ahead is refused and leaves later calls their numbers") {
  constexpr std::uint64_t ahead_max = 1024;
  const std::uint64_t number =
      GENERATE(as<std::uint64_t>(), ahead_max + 1, std::uint64_t{1} << 63, ~std::uint64_t{0});
  test_support::on_virtual_clock([&](runtime::Runtime&) {
    Reception reception;
    reception.greet("peer", "label", number);
    CHECK(reception.frames.busy == 1);
    CHECK(reception.acceptor.labels() == 0);
    const auto call = reception.acceptor.begin("label", run);
    CHECK(call->number == 1);
    reception.acceptor.hear(*call, number + 1);
    reception.acceptor.end(*call, "it has ended");
    CHECK(reception.acceptor.begin("label", run)->number == 2);
    reception.greet("peer", "label", ahead_max + 2);
    CHECK(reception.frames.busy == 1);
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

TEST_CASE(
    "reception: a greeting that waits for a skipped call is refused when a later one begins") {
  test_support::on_virtual_clock([&](runtime::Runtime&) {
    Reception reception;
    reception.greet("behind", "label", 1);
    reception.greet("ahead", "label", 2);
    CHECK_FALSE(reception.frames.last);
    CHECK(reception.acceptor.begin("label", run)->number == 2);
    REQUIRE(reception.frames.last);
    CHECK(reception.frames.last->kind == FrameKind::refuse);
    CHECK_THAT(reception.frames.last->text,
               Catch::Contains("number 1 of deployment 'label' has ended on host host"));
    REQUIRE(reception.frames.last->deployment);
    CHECK(reception.frames.last->deployment->number == 2);
  });
}
