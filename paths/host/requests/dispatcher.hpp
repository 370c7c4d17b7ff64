// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/dispatcher.hpp — execution of operations that other hosts send.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/host/requests/validator.hpp"
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

/// Checks each operation from another host against the plan, runs the operation at its stage, and
/// sends the reply.
///
/// Thread-safe.
/// Blocks: no, except release_background().
class Dispatcher {
 public:
  /// `deployment` and `kinds` outlive this object.
  Dispatcher(Deployment& deployment, const WrapperKinds& kinds);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Runs the operation in a frame of another host. Refuses the sender if the plan does not allow
  /// the operation.
  void run(ConnectionId connection, Frame&& frame);
  /// Runs an operation of a standing call (repeated requests of one path, standing_calls.hpp), with
  /// the same checks as any other operation.
  void run(ConnectionId connection, ShortFrame&& frame);
  /// Begins an operation that a thread of this host has started without waiting for the result.
  /// `state` receives the outcome.
  /// Requires: `stage` needs no context (Stage::needs_context is false).
  void begin(const Stage& stage, Operation operation, OperationState& state);
  /// Releases a path that begins at a wrapper of this host. Later calls for the same path have no
  /// effect. Deployment::finish() calls this function for all paths of this kind.
  /// Blocks: as the stages of the path do.
  void release_background(std::uint32_t path, Failure failure);
  /// Releases each path from `peer` that has not been released yet. Operations that wait for a
  /// contribution from one of these paths fail with `reason`.
  void release_paths_from(std::uint32_t peer, const std::string& reason);
  /// Cancels the present wait of each operation that has a thread or fiber of its own.
  void cancel();
  /// Checks the result `answer` that another host sent for the operation `asked`. `stage` is the
  /// stage of the other host that the operation entered. Returns a description of the mistake in
  /// the result; "" if the result is right.
  std::string wrong_answer(StageId stage, const OperationHead& asked, const Result& answer);

 private:
  class Service;   // operation of another host that this host is running
  class Standing;  // standing call of another host
  bool stand(ConnectionId connection, const Frame& request);
  Service& take_service();
  Outcome outcome_of(const Frame& request);
  void respond(ConnectionId connection, const Frame& request, Outcome&& outcome);
  void decline(ConnectionId connection, const Frame& frame);
  Frame error_reply_to(const Frame& request) const;
  void release(const Stage& stage, Operation release);

  Deployment& deployment_;
  runtime::Mutex mutex_;
  Validator validator_;
  std::vector<std::unique_ptr<Service>> serving_;  // running Service objects, unordered
  std::vector<std::unique_ptr<Service>> resting_;  // idle Service objects, kept for reuse
  std::unordered_map<std::uint64_t, std::unique_ptr<Standing>> standing_;
};

}  // namespace paths
