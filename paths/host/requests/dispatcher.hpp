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

/// Checks each operation from another host against the plan, runs it at its stage, and sends the
/// reply.
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
  /// Begins an operation that a thread of this host started without waiting. The operation must not
  /// block in `stage` (Wrapper::needs_context() is false). `state` receives the outcome.
  void begin(const Stage& stage, Operation operation, OperationState& state);
  /// Releases a path that begins at a wrapper of this host. Later calls for the same path have no
  /// effect. Deployment::finish() calls this function for the paths that are not released yet.
  /// Blocks: as the stages of the path do.
  void release_background(std::uint32_t path, Failure failure);
  /// Releases each path from `peer` that was not released yet. Operations that wait for such a path
  /// fail with `reason`.
  void release_paths_from(std::uint32_t peer, const std::string& reason);
  /// Cancels the present wait of each operation that has a thread or fiber of its own.
  void cancel();
  /// Checks `answer`, the result that another host sent for the operation `asked` at its stage
  /// `stage`. Returns a description of the mistake in the result; "" if the result is right.
  std::string wrong_answer(StageId stage, const OperationHead& asked, const Result& answer);

 private:
  class Service;   // operation of another host that is being served
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
  std::vector<std::unique_ptr<Service>> serving_;  // running services, unordered
  std::vector<std::unique_ptr<Service>> resting_;  // idle services for reuse
  std::unordered_map<std::uint64_t, std::unique_ptr<Standing>> standing_;
};

}  // namespace paths
