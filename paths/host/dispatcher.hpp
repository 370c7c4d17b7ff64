// SPDX-License-Identifier: Apache-2.0
// paths/host/dispatcher.hpp — runs operations that other hosts send to a host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/host/validator.hpp"
#include "paths/operation.hpp"
#include "paths/responder.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/short_frame.hpp"
#include "paths/wire/transport.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace paths {

class Deployment;

/// Checks each request and push against the plan, runs it at its stage, and sends the reply.
///
/// Sharing: any context may call anything. No function blocks, except release_background().
class Dispatcher {
 public:
  /// The deployment and the kinds outlive this object.
  Dispatcher(Deployment& deployment, const WrapperKinds& kinds);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Runs the operation of a request or push. Refuses the peer if the plan does not allow it.
  void run(ConnectionId connection, Frame&& frame);
  /// The same for a request of a standing call.
  void run(ConnectionId connection, ShortFrame&& frame);
  /// Begins a started operation at `stage`, which needs no context. `state` receives the outcome.
  void begin(const Stage& stage, Operation operation, OperationState& state);
  /// Releases a path that a wrapper of this host began, once. Deployment::finish() does so at the
  /// latest. Blocks like the path.
  void release_background(std::uint32_t path, Failure failure);
  /// Releases each path from `peer` that was not released, with `reason` as the failure.
  void release_paths_from(std::uint32_t peer, const std::string& reason);
  /// Cancels the present wait of each operation that runs in a context.
  void cancel();
  /// Returns what is wrong with the answer to an operation that this host sent to a stage of
  /// another host, "" if nothing is.
  std::string wrong_answer(StageId stage, const OperationHead& asked, const Result& answer);

 private:
  class Service;   // one operation of another host, in a context or without one
  class Standing;  // a call that another host makes again and again
  bool stand(ConnectionId connection, const Frame& request);
  Service& take_service();
  void run_here(ConnectionId connection, Frame& frame);
  Outcome outcome_of(const Frame& request);
  void respond(ConnectionId connection, const Frame& request, Outcome&& outcome);
  void decline(ConnectionId connection, const Frame& frame);
  Frame error_reply_to(const Frame& request) const;
  void release(const Stage& stage, Operation release);

  Deployment& deployment_;
  runtime::Mutex mutex_;
  Validator validator_;
  std::vector<std::unique_ptr<Service>> serving_;  // those that run; their order means nothing
  std::vector<std::unique_ptr<Service>> resting_;  // to run again
  std::unordered_map<std::uint64_t, std::unique_ptr<Standing>> standing_;  // by connection, number
};

}  // namespace paths
