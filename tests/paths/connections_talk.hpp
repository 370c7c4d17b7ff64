// SPDX-License-Identifier: Apache-2.0
// tests/paths/connections_talk.hpp — connections of one host, while the test plays the other host.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "paths/connections/connections.hpp"
#include "paths/host/peers_of.hpp"
#include "tests/support/one_host.hpp"
#include "tests/support/short_way.hpp"

namespace test_support {

using namespace paths;
using namespace std::chrono_literals;

inline constexpr StageId there = 7;  // stage of beta-0 to which alpha-0 sends
inline constexpr std::uint32_t other = 1;

// Operation number for which Kept::send() throws an exception.
inline constexpr std::uint64_t unsendable = 4711;

/// Transport that stores sent frames instead of delivering them, for a test that plays the other
/// host. It calls `to_hello` after each hello.
class Kept final : public Transport {
 public:
  using Answer = std::function<void(ConnectionId)>;
  Kept(std::vector<Frame>& sent, std::vector<ShortFrame>* short_ones,
       std::vector<ConnectionId>& dropped, const PeerContact& contact, Answer to_hello)
      : sent_(sent),
        short_(short_ones),
        dropped_(dropped),
        contact_(contact),
        to_hello_(std::move(to_hello)) {}
  void start(Receiver&) override {}
  ConnectionId connect(std::uint32_t) override { return ++last_; }
  void send(ConnectionId connection, Frame&& frame) override {
    if (frame.operation.number == unsendable) throw std::runtime_error("too heavy");
    sent_.push_back(std::move(frame));
    if (sent_.back().kind == FrameKind::hello) to_hello_(connection);
  }
  std::shared_ptr<ShortWay> short_way(ConnectionId) override {
    if (short_ == nullptr) return nullptr;
    return test_support::short_way([this](const ShortFrame& frame) { short_->push_back(frame); });
  }
  void drop(ConnectionId connection) override { dropped_.push_back(connection); }
  PeerContact contact(ConnectionId) override { return contact_; }
  void stop() override {}

 private:
  std::vector<Frame>& sent_;
  std::vector<ShortFrame>* short_;  // nullptr = the transport carries no short frames
  std::vector<ConnectionId>& dropped_;
  const PeerContact& contact_;
  Answer to_hello_;
  ConnectionId last_ = 0;
};

inline std::shared_ptr<const Plan> plan_of_two(std::uint64_t digest) {
  auto plan = std::make_shared<Plan>();
  plan->clusters = {"alpha", "beta"};
  plan->hosts = {{"alpha-0", 0, 1, 0, 1.0, "", {}},
                 {"beta-0", 1, 0, 1, 1.0, "tcp://127.0.0.1:7701", {}}};
  plan->graphs.resize(2);
  plan->graphs[0].name = "work";
  plan->graphs[1].name = "more";
  for (std::uint32_t graph = 0; graph < 2; ++graph) {
    Plan::PlanPath path;
    path.graph = plan->graphs[graph].name;
    path.graph_number = graph;
    plan->paths.push_back(path);
  }
  plan->digest = {digest, 2};
  // beta-0 opens two connections to alpha-0: one from one stage, the other from two stages.
  plan->shares.resize(2);
  plan->shares[0].entrances = {{1, 3, 0, 1, 0}, {1, 4, 0, 1, 1}, {1, 4, 1, 1, 1}};
  return plan;
}

/// Connections of alpha-0. The test plays beta-0.
struct Talk {
  explicit Talk(bool carries_short = false, std::shared_ptr<const Plan> of = plan_of_two(1))
      : has_short(carries_short), plan(std::move(of)) {}
  const bool has_short;
  runtime::Runtime runtime{{.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024}};
  std::shared_ptr<const Plan> plan;
  std::vector<Frame> sent;
  std::vector<ShortFrame> sent_short;
  std::vector<ConnectionId> dropped;
  std::vector<std::pair<ConnectionId, Frame>> served;
  std::vector<std::pair<ConnectionId, ShortFrame>> served_short;
  std::vector<std::string> gone;
  PeerContact contact;   // what the operating system knows about beta-0
  bool welcomes = true;  // whether beta-0 replies to a hello immediately
  RejectionLog rejections{"alpha-0"};
  Connections connections{
      runtime,
      peers_of(*plan),
      0,
      {std::make_shared<const DeploymentId>(DeploymentId{"", 1, 1, plan->digest})},
      std::make_unique<Kept>(sent, has_short ? &sent_short : nullptr, dropped, contact,
                             [this](ConnectionId id) {
                               if (welcomes) connections.deliver(id, frame(FrameKind::welcome));
                             }),
      rejections,
      [this](ConnectionId id, Frame&& frame) { served.emplace_back(id, std::move(frame)); },
      [this](ConnectionId id, ShortFrame&& frame) {
        served_short.emplace_back(id, std::move(frame));
      },
      [this](std::uint32_t host, const std::string& reason, bool) {
        gone.push_back(plan->hosts[host].name + ": " + reason);
      }};
  static constexpr ConnectionId outbound = 1, inbound = 1000, second_inbound = 1001,
                                third_inbound = 1002;
  static constexpr StageId first_stage = 3;

  static Operation push_of(double value, std::uint32_t path = 0, std::uint32_t thread = 0) {
    Operation operation;
    operation.one_way = true;
    operation.path = path;
    operation.thread = thread;
    operation.payload = base::Payload::of(value);
    return operation;
  }
  Result call(Operation operation, base::Nanos deadline = 1s) {
    operation.until = deadline;
    return connections.requests().call(other, there, std::move(operation), 1s);
  }
  /// Delivers a reply of beta-0 to the request `asked`. The reply contains `value` and gives
  /// alpha-0 `credits` credits.
  void reply_to(const Frame& asked, double value = 0, std::uint32_t credits = 0) {
    Frame reply = frame(FrameKind::reply);
    reply.call = asked.call;
    reply.credits = credits;
    reply.result.payload = base::Payload::of(value);
    connections.deliver(outbound, std::move(reply));
  }
  /// Spawns a fiber that ends the connections of alpha-0. The fiber waits for the peer's goodbye,
  /// at most until the virtual time is 1 s.
  runtime::Task stop() {
    return runtime.spawn(runtime::ContextRole::service, {"end"}, [this] {
      connections.goodbyes().part(runtime::Deadline::written_at(1s));
      ended = runtime.now();
    });
  }
  base::Nanos ended{0};  ///< time at which the context of stop() ended
  void push(double value, std::uint32_t path = 0, std::uint32_t thread = 0) {
    connections.sender().push(other, there, push_of(value, path, thread));
  }
  void send(double value) {
    Operation operation = push_of(value);
    operation.kept = true;
    connections.sender().push(other, there, std::move(operation));
  }
  void release(std::uint32_t path = 0) {
    Operation operation;
    operation.kind = OperationKind::release;
    operation.one_way = true;
    operation.path = path;
    connections.sender().push(other, there, std::move(operation));
  }
  Frame frame(FrameKind kind) const {
    Frame made;
    made.kind = kind;
    made.run_high = plan->digest.high;
    made.run_low = plan->digest.low;
    made.from_host = other;
    made.text = "beta-0";
    if (kind != FrameKind::hello && kind != FrameKind::welcome) return made;
    made.deployment = std::make_shared<const DeploymentId>(DeploymentId{"", 1, 2, plan->digest});
    return made;
  }
  /// Delivers a short frame of beta-0. Alternates between the two ways of a transport: the ShortEnd
  /// of the connection, and deliver_short().
  void short_comes(ConnectionId id, ShortFrame&& frame) {
    const auto end = comes_by_end ? connections.short_end(id) : nullptr;
    comes_by_end = !comes_by_end;
    if (!end || !end->deliver(std::move(frame))) connections.deliver_short(id, std::move(frame));
  }
  bool comes_by_end = true;
  void give_credits(std::uint32_t credits) { give_credits_on(outbound, credits); }
  void give_credits_on(ConnectionId on, std::uint32_t credits) {
    Frame given = frame(FrameKind::credits);
    given.credits = credits;
    connections.deliver(on, std::move(given));
  }
  /// Returns a hello or welcome of beta-0 with another incarnation number or another plan digest.
  Frame greeting_of(FrameKind kind, std::uint64_t incarnation, base::Digest digest) const {
    Frame made = frame(kind);
    made.deployment =
        std::make_shared<const DeploymentId>(DeploymentId{"", 1, incarnation, digest});
    return made;
  }
  void hello(ConnectionId on = inbound) {
    Frame greeting = frame(FrameKind::hello);
    greeting.stage = on == second_inbound ? first_stage + 1 : first_stage;
    connections.deliver(on, std::move(greeting));
  }
  /// Returns a frame of beta-0 with an operation for `first_stage`.
  Frame operation(FrameKind kind) const {
    Frame made = frame(kind);
    made.stage = first_stage;
    made.operation.one_way = kind == FrameKind::one_way;
    return made;
  }
  void goodbye(ConnectionId on) { connections.deliver(on, frame(FrameKind::goodbye)); }
  /// Returns the values in frames that alpha-0 sent since the previous call of values(). A release
  /// counts as the value `released`. Control frames are skipped.
  std::vector<double> values() {
    std::vector<double> found;
    for (const Frame& one : std::exchange(sent, {})) {
      if (is_control(one.kind)) continue;
      found.push_back(one.operation.kind == OperationKind::release
                          ? released
                          : one.operation.payload.read<double>());
    }
    return found;
  }
  std::size_t sent_of(FrameKind kind) const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [kind](const Frame& one) { return one.kind == kind; }));
  }
  static constexpr double released = -1;
};

inline void use_up_credits(Talk& talk) {
  for (std::uint32_t i = 0; i < CreditWindow::size; ++i) talk.push(i);
  REQUIRE(talk.values().size() == CreditWindow::size);
}

/// Returns whether alpha-0 refused beta-0 with a reason that contains `wrong`, and then reported
/// beta-0 as gone.
inline bool is_refused(Talk& talk, const std::string& wrong) {
  const bool is_notified = std::any_of(talk.sent.begin(), talk.sent.end(), [&](const Frame& one) {
    return one.kind == FrameKind::refuse && one.text.find(wrong) != std::string::npos;
  });
  return is_notified && talk.gone.size() == 1 && talk.gone[0].find(wrong) != std::string::npos;
}

}  // namespace test_support
