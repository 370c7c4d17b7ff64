// SPDX-License-Identifier: Apache-2.0
// tests/paths/short_frames_real.cpp — short frames on the steady clock, from an invalid peer.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/local/transport.hpp"
#include "runtime/completion.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;

const char* const config = R"(
hosts:
  here: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:7700"}
  far: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:7701"}
elements:
  sum: {host: here, template: f64, keep_newest: 1}
wrappers:
  top: {kind: allreduce, host: here, template: f64, operation: sum}
paths:
  - {graph: sum, host: here, threads: 0, through: [top, store: {element: sum}]}
  - {graph: sum, host: far, threads: 0, through: [forward: {to: here}, top, store: {element: sum}]}
deadline: 10s
)";

/// Host "far". The test sends the frames of this host, and receives the frames for this host.
class Guest final : public Receiver {
 public:
  Guest(const Plan& plan, std::unique_ptr<Transport> transport)
      : plan_(plan), transport_(std::move(transport)) {
    for (const Plan::Entrance& one : plan.shares[0].entrances) entrance_ = one;
    transport_->start(*this);
    connection_ = transport_->connect(0);
    Frame hello = frame(FrameKind::hello);
    hello.text = "far";
    hello.stage = entrance_.stage;
    hello.deployment = std::make_shared<const DeploymentId>(DeploymentId{"", 1, 2, plan.digest});
    transport_->send(connection_, std::move(hello));
  }
  Frame frame(FrameKind kind) const {
    Frame made;
    made.kind = kind;
    made.run_high = plan_.digest.high;
    made.run_low = plan_.digest.low;
    made.from_host = 1;
    return made;
  }
  /// Sends the first request of standing call 0.
  void request(double value) {
    Operation operation;
    operation.path = entrance_.path;
    operation.slot = entrance_.slot;
    operation.payload = base::Payload::of(value);
    request(0, std::move(operation));
  }
  void request(std::uint32_t standing, Operation&& operation) {
    Frame made = frame(FrameKind::request);
    made.call = call_of_standing(standing);
    made.stage = entrance_.stage;
    made.operation = std::move(operation);
    transport_->send(connection_, std::move(made));
  }
  void short_request(std::uint64_t sequence, double value, std::uint32_t standing = 0) {
    ShortFrame made;
    made.standing = standing;
    made.result.sequence = sequence;
    made.result.contributions = 1;
    made.result.payload = base::Payload::of(value);
    transport_->short_way(connection_)->send(made);
  }
  void stop() { transport_->stop(); }

  void deliver(ConnectionId, Frame&& came) override {
    const runtime::Lock lock(mutex_);
    if (came.kind == FrameKind::refuse) refusal_ = came.text;
  }
  void deliver_short(ConnectionId, ShortFrame&& came) override {
    const runtime::Lock lock(mutex_);
    came_.push_back(came.result.payload.read<double>());
  }
  void connection_lost(ConnectionId, const std::string&) override {}
  std::vector<double> came() {
    const runtime::Lock lock(mutex_);
    return came_;
  }
  std::string refusal() {
    const runtime::Lock lock(mutex_);
    return refusal_;
  }

 private:
  const Plan& plan_;
  std::unique_ptr<Transport> transport_;
  Plan::Entrance entrance_;
  ConnectionId connection_ = 0;
  runtime::Mutex mutex_;
  std::vector<double> came_;
  std::string refusal_;
};

/// Runs `act` in each round. Returns the result of thread here/0 in each round: a value or an
/// error.
std::vector<std::string> play(int rounds, const std::function<void(Guest&, int round)>& act,
                              std::string& refusal, std::vector<double>& came) {
  const test_support::Sim sim(config);
  runtime::Runtime runtime({.clock = runtime::ClockKind::steady});
  std::vector<std::string> results;
  runtime.run([&] {
    LocalNetwork network(2, true);
    Host here(runtime, sim.shared_plan(), 0, sim.kinds(), network.transport(0));
    here.start();
    Guest guest(sim.plan(), network.transport(1));
    {
      Thread thread(here.deployment(), 0, 1);
      for (int round = 0; round < rounds; ++round) {
        act(guest, round);
        double sum = 0;
        const std::string error = test_support::thrown<TravelError>(
            [&] { sum = thread.path("sum").move_value(1.0).payload.read<double>(); });
        results.push_back(error == "nothing" ? fmt::format("{}", sum) : error);
      }
    }
    refusal = guest.refusal();
    came = guest.came();
    guest.stop();
    here.finish();
  });
  return results;
}

}  // namespace

TEST_CASE("short frames: a peer that makes standing calls is served in every round") {
  std::string refusal;
  std::vector<double> came;
  const auto results = play(
      5,
      [](Guest& guest, int round) {
        if (round == 0) return guest.request(0);
        guest.short_request(static_cast<std::uint64_t>(round), round);
      },
      refusal, came);
  CHECK(results == std::vector<std::string>{"1", "2", "3", "4", "5"});
  CHECK(came == std::vector<double>{2, 3, 4, 5});
}

TEST_CASE("short frames: a peer that breaks a standing call is refused and the host continues") {
  struct Case {
    std::string wrong;
    std::function<void(Guest&)> act;  // function that is called after round 0
  };
  const std::vector<Case> cases = {
      {"standing call 1, which has not begun", [](Guest& guest) { guest.short_request(1, 1, 1); }},
      {"standing call 4294967295, which has not begun",
       [](Guest& guest) { guest.short_request(1, 1, ~0u); }},
      {"move 0 arrives twice", [](Guest& guest) { guest.short_request(0, 1); }},
      {"clock in a standing call",
       [](Guest& guest) {
         Operation question;  // an operation of the kind `clock`, which needs no path
         question.kind = OperationKind::clock;
         guest.request(1, std::move(question));
       }},
      {"before the reply to the last one",
       [](Guest& guest) {
         guest.short_request(1, 1);
         guest.short_request(2, 1);
       }},
  };
  for (const Case& one : cases) {
    INFO(one.wrong);
    std::string refusal;
    std::vector<double> came;
    const auto results = play(
        3,
        [&one](Guest& guest, int round) {
          if (round == 0) guest.request(0);
          if (round == 1) one.act(guest);
        },
        refusal, came);
    CHECK_THAT(refusal, Catch::Contains(one.wrong));
    REQUIRE(results.size() == 3);
    CHECK(results[0] == "1");
    CHECK_THAT(results[2], Catch::Contains("host far is gone"));
  }
}
