// SPDX-License-Identifier: Apache-2.0
// tests/paths/uncopied_real.cpp — tests that large tuples are not copied on their way over sockets.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/transport.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/forwarding_transport.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace paths;
using base::Payload;
using test_support::Sim;

/// Smallest size in bytes of a body that ZeroMQ does not copy.
constexpr std::size_t uncopied_bytes = 4096;
const std::vector<std::size_t> sizes = {uncopied_bytes, 100'000, std::size_t{3} << 20};

Frame frame_with(Payload body) {
  Frame frame;
  frame.kind = FrameKind::one_way;
  frame.operation.payload = std::move(body);
  return frame;
}

Payload numbers(std::size_t size) {
  return Payload::filled(size, [](std::span<std::byte> space) {
    for (std::size_t i = 0; i < space.size(); ++i) space[i] = static_cast<std::byte>(i % 251);
  });
}

std::vector<FrameMessage> in_order(FrameMessages messages) {
  std::vector<FrameMessage> all;
  all.push_back(std::move(messages.first));
  for (FrameMessage& message : messages.further) all.push_back(std::move(message));
  return all;
}

/// Passes a message to the assembly, which permits bodies of up to `most` bytes. Returns the frame
/// if it is complete.
std::optional<Frame> take(FrameAssembly& assembly, FrameMessage message, std::uint64_t most) {
  std::vector<zmq::message_t> rest;
  rest.push_back(std::move(message.body));
  if (message.position) rest.push_back(std::move(*message.position));
  return assembly.take(message.header, rest, [most](const Frame&) { return most; });
}

/// Large bodies that a host received and sent. The bodies are kept, so that later bodies do not
/// reuse their memory.
struct Seen {
  runtime::Mutex mutex;
  std::vector<Payload> received, sent;

  void add(std::vector<Payload>& to, const Frame& frame) {
    for (const Payload& body : {frame.operation.payload, frame.result.payload}) {
      if (body.size() < uncopied_bytes) continue;
      runtime::Lock lock(mutex);
      to.push_back(body);
    }
  }
};

bool shares(const std::vector<Payload>& all, const Payload& one) {
  return std::any_of(all.begin(), all.end(),
                     [&one](const Payload& other) { return other.shares_bytes_with(one); });
}

/// Records the frames between a host and its transport.
class Watched final : public test_support::ForwardingTransport, Receiver {
 public:
  Watched(std::unique_ptr<Transport> transport, Seen& seen)
      : ForwardingTransport(std::move(transport)), seen_(seen) {}
  void start(Receiver& receiver) override {
    receiver_ = &receiver;
    inner().start(*this);
  }
  void send(ConnectionId connection, Frame&& frame) override {
    seen_.add(seen_.sent, frame);
    inner().send(connection, std::move(frame));
  }
  std::shared_ptr<ShortWay> short_way(ConnectionId) override { return nullptr; }

 private:
  void deliver(ConnectionId connection, Frame&& frame) override {
    seen_.add(seen_.received, frame);
    receiver_->deliver(connection, std::move(frame));
  }
  void connection_lost(ConnectionId connection, const std::string& reason) override {
    receiver_->connection_lost(connection, reason);
  }
  void turned_away(const std::string& source, const std::string& reason) override {
    receiver_->turned_away(source, reason);
  }

  Seen& seen_;
  Receiver* receiver_ = nullptr;
};

/// Runs each host with a runtime of its own, as processes would. Fills `seen`, which is keyed by
/// host name.
void run_hosts(const Sim& sim, std::map<std::string, Seen>& seen,
               const std::function<void(Thread&)>& function) {
  const auto peers = peers_of(sim.plan());
  const auto run_host = [&](std::uint32_t index) {
    const auto& planned = sim.plan().hosts[index];
    test_support::on_steady_clock([&](runtime::Runtime& runtime) {
      Host host(runtime, sim.shared_plan(), index, sim.kinds(),
                std::make_unique<Watched>(make_zmq_transport(runtime, peers, index),
                                          seen.at(planned.name)),
                peers);
      host.start();
      if (planned.threads > 0) {
        Thread thread(host.deployment(), 0, 1);
        function(thread);
      }
      if (const std::string wrong = host.finish(); !wrong.empty()) throw std::runtime_error(wrong);
    });
  };
  for (const auto& host : sim.plan().hosts) seen[host.name];
  runtime::Runtime outer;
  outer.run([&] {
    test_support::in_threads(outer, sim.plan().hosts.size(),
                             [&](std::uint32_t index) { run_host(index); });
  });
}

}  // namespace

TEST_CASE("uncopied: a tuple that crosses two hosts to an element and back is never copied") {
  const Sim sim(test_support::network_line("ipc", 3) + R"(
clusters:
  alpha: {hosts: 1, threads: 1, gateway: gate}
  beta: {hosts: 1, threads: 0}
links: [{between: [alpha, beta], latency: 1us}]
elements: {work: {host: beta-0, template: bytes, keep_newest: 0, reach: all}}
)");
  const pastset::Template bytes = *pastset::Template::parse("bytes");
  std::vector<Payload> moved, observed;
  std::map<std::string, Seen> seen;
  run_hosts(sim, seen, [&](Thread& thread) {
    for (const std::size_t size : sizes) {
      const std::vector<std::byte> value(size, static_cast<std::byte>(size % 251));
      moved.push_back(pastset::TupleWriter(bytes).put_bytes(value).payload());
      thread.path("work").move(moved.back());
      observed.push_back(thread.path("work").observe().payload);
    }
  });
  Seen &near = seen.at("alpha-0"), &gate = seen.at("gate"), &far = seen.at("beta-0");
  REQUIRE(far.received.size() == sizes.size());
  // If two payloads have the same memory, no copy was made between them.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK(observed[i] == moved[i]);
    CHECK(shares(near.sent, moved[i]));                  // host alpha-0 sent the thread's tuple
    CHECK(shares(gate.sent, gate.received[2 * i]));      // the gateway forwarded the tuple
    CHECK(shares(far.sent, far.received[i]));            // the element returned the tuple
    CHECK(shares(gate.sent, gate.received[2 * i + 1]));  // the gateway forwarded the reply
    CHECK(shares(near.received, observed[i]));           // the thread got the received tuple
  }
  CHECK(gate.received.size() == 2 * sizes.size());
  CHECK(gate.sent.size() == 2 * sizes.size());
}

// A received body is copied under the thread sanitizer, which does not see that it is safe to read.
TEST_CASE("uncopied: a body becomes a message and a message a body in place", "[without_tsan]") {
  for (const std::size_t size : {uncopied_bytes, std::size_t{100'000}, body_part_bytes}) {
    const Payload body = base::Buffer(size).freeze();
    FrameMessages messages = messages_of(frame_with(body));
    REQUIRE(messages.further.empty());
    REQUIRE_FALSE(messages.first.position.has_value());
    const void* const arrived = bytes_of(messages.first.body).data();
    CHECK(arrived == body.bytes().data());
    FrameAssembly assembly;
    const auto received =
        assembly.take(messages.first.header, {&messages.first.body, 1}, [](auto&) { return 0; });
    REQUIRE(received.has_value());
    CHECK(received->operation.payload.bytes().data() == arrived);
    CHECK(received->operation.payload.size() == size);
  }
}

TEST_CASE("uncopied: each part of a large body is sent in place as a message of its own") {
  const auto extra = GENERATE(as<std::size_t>(), 0, uncopied_bytes, 5000);
  const std::size_t size = 2 * body_part_bytes + extra;
  const Payload body = numbers(size);
  auto messages = in_order(messages_of(frame_with(body)));
  REQUIRE(messages.size() == (extra == 0 ? 2 : 3));
  FrameAssembly assembly;
  std::optional<Frame> received;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CHECK(bytes_of(messages[i].body).data() == body.bytes().data() + i * body_part_bytes);
    CHECK_FALSE(received.has_value());
    received = take(assembly, std::move(messages[i]), size);
    CHECK(assembly.wrong().empty());
  }
  REQUIRE(received.has_value());
  CHECK(received->operation.payload == body);
  // The next frame of the connection is independent.
  CHECK(take(assembly, messages_of(frame_with(Payload::of(1.0))).first, 0).has_value());
}

TEST_CASE("uncopied: parts in another order, with gaps, or beyond the maximum are no frame") {
  const std::size_t size = 2 * body_part_bytes + 5;
  const Frame frame = frame_with(numbers(size));
  const auto wrong_after = [&](std::vector<std::size_t> order, std::uint64_t most) {
    FrameAssembly assembly;
    for (const std::size_t index : order) {
      CHECK(assembly.wrong().empty());
      CHECK_FALSE(take(assembly, std::move(in_order(messages_of(frame))[index]), most));
    }
    return assembly.wrong();
  };
  CHECK(wrong_after({0, 1}, size) == "");
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{1}, {0, 2}, {0, 0}, {0, 1, 1}})
    CHECK_THAT(wrong_after(order, size), Catch::Contains("that are not a frame"));
  CHECK(wrong_after({0}, size - 1) ==
        fmt::format("a body of {} bytes, of which at most {} may come", size, size - 1));
  CHECK_THAT(wrong_after({0}, 0), Catch::Contains("at most 1048576 may come"));

  // Refused: a whole frame while parts of another frame are missing, and a message without a body.
  FrameAssembly assembly;
  CHECK_FALSE(take(assembly, messages_of(frame).first, size));
  CHECK_FALSE(take(assembly, messages_of(frame_with(Payload::of(1.0))).first, size));
  CHECK_FALSE(assembly.wrong().empty());
  FrameAssembly empty;
  CHECK_FALSE(empty.take(messages_of(frame).first.header, {}, [](auto&) { return 0; }));
  CHECK_FALSE(empty.wrong().empty());
}
