// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/dispatcher.cpp — execution of operations from other hosts, and the replies.
#include "paths/host/requests/dispatcher.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/requests/standing_calls.hpp"
#include "runtime/continuation.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {
namespace {

/// Returns whether the thread that received an operation may run the operation itself. It may if
/// two conditions hold. The operation never waits in the stages of its path on this host. No other
/// operation of the same slot runs (`is_alone`).
bool runs_at_once(const Frame& frame, const Stage& entered, bool is_alone) {
  if (frame.operation.kind == OperationKind::clock) return true;
  return is_alone && entered.nonblocking.has(frame.operation);
}

}  // namespace

Dispatcher::Dispatcher(Deployment& deployment, const WrapperKinds& kinds)
    : deployment_(deployment), validator_(deployment.plan(), deployment.index(), kinds) {}

/// Operation of another host that this host is running. Later operations reuse the object, so that
/// running an operation allocates no memory.
class Dispatcher::Service final : public runtime::Work,
                                  public runtime::Continuation,
                                  ServiceRoom,
                                  public OperationState {
 public:
  explicit Service(Dispatcher& dispatcher) : OperationState(room), dispatcher_(dispatcher) {}
  /// Cancels the present wait of the operation, if it has a context (fiber or thread) of its own.
  void cancel() {
    if (has_context()) Work::cancel();
  }
  void begin() {
    Deployment& deployment = dispatcher_.deployment_;
    if (!has_context()) return runtime::schedule(deployment.runtime(), *this);
    try {
      deployment.runtime().begin({"service", deployment.name(), number}, *this);
    } catch (...) {  // begin() fails if there is no memory for a stack
      ended(nullptr);
      throw;
    }
  }

  ConnectionId connection = 0;
  Frame frame;
  std::uint64_t number = 0;
  std::size_t place = 0;         // index in serving_
  const Stage* stage = nullptr;  // stage that the operation enters; guarded by mutex_ until begin()

 private:
  bool has_context() const { return stage->needs_context; }
  void run() override {
    const runtime::ApplicationCode inside;  // the operation may call reductions and X-functions
    dispatcher_.respond(connection, frame, dispatcher_.outcome_of(frame));
  }
  void resume() noexcept override {
    begin_stage(dispatcher_.deployment_, *stage, Operation(frame.operation), Responder(*this));
  }
  void arrived(Outcome&& outcome) noexcept override {
    dispatcher_.respond(connection, frame, std::move(outcome));
    ended(nullptr);
  }
  void ended(std::exception_ptr) override {
    frame.operation.payload = {};  // frees the payload before the mutex is locked
    frame.operation.failure = nullptr;
    const bool is_release = frame.operation.kind == OperationKind::release;
    const std::uint32_t path = frame.operation.path;
    Deployment& deployment = dispatcher_.deployment_;
    {
      const runtime::Lock lock(dispatcher_.mutex_);
      let_go();
      dispatcher_.validator_.complete(frame);
      auto& serving = dispatcher_.serving_;
      dispatcher_.resting_.push_back(std::exchange(serving[place], nullptr));
      if (place + 1 < serving.size()) {
        serving[place] = std::move(serving.back());
        serving[place]->place = place;
      }
      serving.pop_back();
    }
    if (is_release) deployment.releases().count(path);
    deployment.services().remove_operation();  // the deployment may end from here on
  }

  Dispatcher& dispatcher_;
};

Dispatcher::~Dispatcher() = default;

/// Returns an idle or new Service, and adds it to the running services.
/// Requires: mutex_ held.
Dispatcher::Service& Dispatcher::take_service() {
  if (resting_.empty()) resting_.push_back(std::make_unique<Service>(*this));
  serving_.push_back(std::move(resting_.back()));
  resting_.pop_back();
  Service& service = *serving_.back();
  service.place = serving_.size() - 1;
  service.number = deployment_.services().take_number();
  deployment_.services().add_operation();
  return service;
}

void Dispatcher::run(ConnectionId connection, Frame&& frame) {
  using Verdict = Validator::Verdict;
  frame.operation.until = deployment_.operation_end(frame.time_left);
  Verdict verdict;
  Service* service = nullptr;
  {
    const runtime::Lock lock(mutex_);
    verdict = validator_.validate(frame);
    if (verdict.kind != Verdict::Kind::wrong && frame.kind == FrameKind::request &&
        is_of_standing(frame.call) && !stand(connection, frame))
      verdict = {.kind = Verdict::Kind::wrong, .reason = "another operation in a standing call"};
    const bool enters = verdict.kind == Verdict::Kind::enters;
    const Stage* const entered = enters ? deployment_.instance().stage(frame.stage) : nullptr;
    if (enters && runs_at_once(frame, *entered, verdict.is_alone)) {
      validator_.complete(frame);  // early, so that the slot's next operation may enter
    } else if (enters) {
      service = &take_service();
      service->stage = entered;
    }
  }
  if (verdict.kind == Verdict::Kind::wrong)
    return deployment_.connections().liveness().refuse(connection, verdict.reason);
  if (verdict.kind == Verdict::Kind::late) return decline(connection, frame);
  if (service != nullptr) {
    service->connection = connection;
    service->frame = std::move(frame);
    return service->begin();
  }
  respond(connection, frame, outcome_of(frame));
  if (frame.operation.kind == OperationKind::release)
    deployment_.releases().count(frame.operation.path);
}

Outcome Dispatcher::outcome_of(const Frame& request) {
  Outcome outcome;
  if (request.operation.kind == OperationKind::clock) {
    outcome.result.number = static_cast<std::uint64_t>(deployment_.runtime().now().count());
    return outcome;
  }
  const Stage* entered = deployment_.instance().stage(request.stage);
  ENSURE(entered != nullptr);  // validate() has checked the stage
  const std::string& host = deployment_.name();
  try {
    outcome.result = run_stage(deployment_, *entered, request.operation);
  } catch (const TravelError& error) {
    outcome.failure = std::make_shared<TravelError>(error);
  } catch (const runtime::Stop& stop) {  // thrown when this host ends
    outcome.failure = std::make_shared<TravelError>(
        host, "", "", fmt::format("ended: {}", stop.what()), FailureCause::ended);
  } catch (const std::exception& error) {
    outcome.failure =
        std::make_shared<TravelError>(host, "", "", error.what(), FailureCause::application);
  }
  return outcome;
}

void Dispatcher::respond(ConnectionId connection, const Frame& request, Outcome&& outcome) {
  Connections& connections = deployment_.connections();
  if (request.kind != FrameKind::request) {
    if (!is_farewell(request.operation.kind)) connections.sender().end_push(connection);
    return;
  }
  Frame reply = error_reply_to(request);
  if (outcome.failure) {
    reply.operation.failure = std::move(outcome.failure);
  } else {
    reply.kind = FrameKind::reply;
    reply.result = std::move(outcome.result);
    if (request.operation.kind == OperationKind::traffic)
      deployment_.traffic().add_entry(request.operation, reply.result);
    reply.returns_moved = reply.result.payload.shares_bytes_with(request.operation.payload);
    if (reply.returns_moved) reply.result.payload = {};
  }
  connections.sender().reply(connection, std::move(reply));
}

/// Replies with an error to an operation that arrived after the release of its path.
void Dispatcher::decline(ConnectionId connection, const Frame& frame) {
  if (is_farewell(frame.operation.kind)) return;
  Connections& connections = deployment_.connections();
  if (frame.kind == FrameKind::one_way) return connections.sender().end_push(connection);
  Frame reply = error_reply_to(frame);
  reply.operation.failure = deployment_.failure(
      "", frame.operation.path, "the path was released before", FailureCause::released);
  connections.sender().reply(connection, std::move(reply));
}

Frame Dispatcher::error_reply_to(const Frame& request) const {
  Frame reply;
  reply.kind = FrameKind::error;
  reply.run_high = request.run_high;
  reply.run_low = request.run_low;
  reply.from_host = deployment_.index();
  reply.call = request.call;
  reply.operation.path = request.operation.path;
  reply.operation.kind = request.operation.kind;
  return reply;
}

std::string Dispatcher::wrong_answer(StageId stage, const OperationHead& asked,
                                     const Result& answer) {
  const runtime::Lock lock(mutex_);
  if (validator_.is_surely_right(stage, asked, answer)) return {};
  return validator_.wrong_answer(stage, asked, answer);
}

// ---- operations of this host ------------------------------------------------------------------

void Dispatcher::begin(const Stage& stage, Operation operation, OperationState& state) {
  ENSURE(!stage.needs_context);
  deployment_.services().add_operation();
  Responder responder(state);
  responder.on_reply([this](Responder up, Outcome&& outcome) {
    deployment_.services().remove_operation();
    up.reply(std::move(outcome));
  });
  begin_stage(deployment_, stage, std::move(operation), std::move(responder));
}

void Dispatcher::release_background(std::uint32_t path, Failure failure) {
  if (!deployment_.releases().begin_release(path)) return;
  Operation release;
  release.kind = OperationKind::release;
  release.path = path;
  release.failure = std::move(failure);
  try {
    run_stage(deployment_, *deployment_.instance().stage(deployment_.plan().paths[path].stage),
              std::move(release));
  } catch (const TravelError&) {  // no action: a lost peer needs no release
  }
}

// ---- lost peers --------------------------------------------------------------------------------

void Dispatcher::release_paths_from(std::uint32_t peer, const std::string& reason) {
  const Plan& plan = deployment_.plan();
  bool is_notified = false;
  for (const Plan::Entrance& entrance : plan.shares[deployment_.index()].entrances) {
    if (entrance.from_host != peer) continue;
    for (std::uint32_t slot = entrance.slot; slot < entrance.slot + entrance.slots; ++slot) {
      {
        const runtime::Lock lock(mutex_);
        if (!validator_.release(entrance.stage, slot)) continue;
      }
      if (!std::exchange(is_notified, true))
        spdlog::warn("host {}: {}", deployment_.name(), reason);
      Operation operation;
      operation.kind = OperationKind::release;
      operation.one_way = true;
      operation.path = entrance.path;
      operation.thread = slot - entrance.slot;
      operation.slot = slot;
      operation.failure = deployment_.failure("", entrance.path, reason, FailureCause::peer_gone);
      release(*deployment_.instance().stage(entrance.stage), std::move(operation));
    }
  }
}

/// Runs the release of a slot in a new service context, because a release may wait.
void Dispatcher::release(const Stage& stage, Operation release) {
  deployment_.services()
      .spawn("release",
             [this, &stage, release = std::move(release)] {
               try {
                 run_stage(deployment_, stage, release);
               } catch (const TravelError&) {  // no action: the path counts as released anyway
               }
               deployment_.releases().count(release.path);
             })
      .detach();
}

void Dispatcher::cancel() {
  const runtime::Lock lock(mutex_);
  for (const auto& service : serving_) service->cancel();
}

}  // namespace paths
