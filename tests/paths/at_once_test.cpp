// SPDX-License-Identifier: Apache-2.0
// tests/paths/at_once_test.cpp — operations of other hosts that run in the context in which they
// arrive, without a service context.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/deployment.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;
using test_support::Sim;

struct Passage {
  OperationKind kind;
  const void* context;
};

/// Wrapper that records each operation and its context. It declares that the kinds of operations in
/// `at_once` never wait in it. Moves wait in it, except if `at_once` contains them.
class Spy final : public BlockingWrapper {
 public:
  Spy(OperationSet at_once, std::vector<Passage>& passages)
      : at_once_(at_once), passages_(passages) {}
  Result operate(Operation operation, Next next) override {
    passages_.push_back({operation.kind, runtime::calling_context()});
    if (operation.kind == OperationKind::move && !at_once_.has(operation))
      next.deployment().runtime().sleep_for(1s);
    return next(std::move(operation));
  }
  OperationSet nonblocking_operations() const override { return at_once_; }

 private:
  const OperationSet at_once_;
  std::vector<Passage>& passages_;
};

struct Scene {
  explicit Scene(OperationSet at_once, const std::string& element = "")
      : sim("hosts:\n"
            "  here: {cluster: alpha, threads: 0, address: \"tcp://127.0.0.1:7700\"}\n"
            "  far: {cluster: alpha, threads: 1, address: \"tcp://127.0.0.1:7701\"}\n"
            "elements: {log: {host: here, template: f64" +
                element +
                "}}\n"
                "paths:\n"
                "  - {graph: log, host: far, threads: 0,\n"
                "     through: [forward: {to: here}, spy: {}, store: {element: log}]}\n",
            {}, {kind(at_once)}) {}

  WrapperKind kind(OperationSet at_once) {
    WrapperKind spy;
    spy.name = "spy";
    spy.help = "Notes what passes.";
    spy.read = [this, at_once](base::MapReader&, const WrapperPlace&) -> MakeWrapper {
      return [this, at_once](Deployment&) { return std::make_unique<Spy>(at_once, passages); };
    };
    return spy;
  }
  void run(const std::function<void(Path&)>& operate) {
    sim.run_well([&](Thread& thread) {
      sender = runtime::calling_context();
      operate(thread.path("log"));
    });
  }

  std::vector<Passage> passages;
  const void* sender = nullptr;
  Sim sim;
};

}  // namespace

TEST_CASE(
    "at once: an operation that never waits runs where it arrives and within one process in its "
    "sender") {
  Scene scene(OperationSet::all(), ", keep_newest: 1");
  scene.run([](Path& path) {
    path.push(base::Payload::of(1.0));
    path.move_value(2.0);
    CHECK(path.last() == 2);
  });
  REQUIRE(scene.passages.size() >= 3);
  for (int i = 0; i < 3; ++i)
    CHECK(scene.passages[static_cast<std::size_t>(i)].context == scene.sender);
}

TEST_CASE("at once: one stage that may wait gives the operation its own context") {
  Scene scene(OperationSet::none());
  scene.run([](Path& path) { path.first(); });
  CHECK(scene.passages.front().context != scene.sender);
}

TEST_CASE("at once: a move into an element that may be full gets a context and a query does not") {
  Scene scene(OperationSet::all(), ", delta: 4");
  scene.run([](Path& path) {
    path.move_value(1.0);
    path.delta();
  });
  CHECK(scene.passages[0].context != scene.sender);
  CHECK(scene.passages[1].context == scene.sender);
}

TEST_CASE("at once: no operation overtakes an earlier one at its slot that has not begun") {
  Scene scene(OperationSet::of({OperationKind::first}));
  scene.run([](Path& path) {
    Started move = path.start(base::Payload::of(1.0));
    path.first();
    move.wait();
  });
  REQUIRE(scene.passages.size() >= 2);
  CHECK(scene.passages[0].kind == OperationKind::move);
  CHECK(scene.passages[1].kind == OperationKind::first);
}
