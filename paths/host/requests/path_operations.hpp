// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/path_operations.hpp — operations of one thread on one path
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "paths/host/owner.hpp"
#include "paths/operation.hpp"
#include "paths/path_values.hpp"
#include "runtime/handle.hpp"

namespace paths {

class Deployment;
struct Stage;

/// Handle of an operation that Path::start() has started.
using Started = runtime::Handle<Result>;

/// Numbers the operations of a path, starts and runs them, and counts those under way. Ends the
/// path. Path has the functions for programs.
///
/// Thread-safe: no. A path belongs to one thread.
/// Throws:      as Path.
class PathOperations {
 public:
  PathOperations(Deployment& deployment, std::uint32_t path, std::uint32_t thread, Owner& owner,
                 std::shared_ptr<Failure> last_failure);
  // Not copyable, because a copy would give its moves the same numbers as the original.
  PathOperations(const PathOperations&) = delete;
  PathOperations& operator=(const PathOperations&) = delete;

  // Properties. Any thread or fiber may read them.
  Deployment& deployment() const { return *deployment_; }
  const Stage& first_stage() const { return *first_stage_; }
  const PathValues& values() const { return *values_; }
  const std::string& graph() const;
  std::uint64_t moves() const { return sequence_; }

  /// Begins a use of the path by the calling thread. `what` names the use, such as "move".
  /// Throws: UsageError if the thread may not use the path now.
  Owner::Use use(std::string_view what) const;
  /// Checks a payload that will be moved. If it is wrong, fails the round for the other threads.
  void check_moved(std::string_view what, const base::Payload& payload);
  /// Throws UsageError because a result cannot be read as values of type `wanted`.
  [[noreturn]] void refuse_memory(base::ValueType wanted);
  /// Returns the next operation of the path.
  Operation next(OperationKind kind, std::uint64_t number, base::Payload payload);
  Result operate(OperationKind kind, std::uint64_t number, base::Payload payload);
  /// Runs an operation and waits for its result. The operation enters the first stage after all
  /// operations that the path has started before.
  Result run(Operation&& operation);
  /// Starts an operation. Blocks while `started_max` operations are under way.
  Started begin(Operation operation, bool is_recorded = false);
  static constexpr std::uint64_t started_max = 256;

  // ---- end of a path

  bool has_started() const;  ///< whether a started operation has not ended yet
  void wait_for_started() { wait_while_started(1); }
  /// Announces that this thread contributes to no further round on this path. Does not wait for
  /// started operations.
  void withdraw(Failure failure);
  void release(Failure failure);  ///< see Path::release()
  /// Returns whether release() may block. It may block if started operations must end first, or if
  /// stages of the path may hold the release until other threads or hosts have acted.
  bool holds_release() const;
  bool released() const { return released_; }

 private:
  struct UnderWay;
  struct StartedOperation;
  template <class Check>
  void check_move(const Check& check);
  void fail_round(std::string_view mistake);
  void wait_while_started(std::uint64_t at_least);
  Operation farewell(OperationKind kind, Failure failure);

  Deployment* deployment_;
  const Stage* first_stage_;
  const PathValues* values_;
  std::uint32_t path_;
  std::uint32_t thread_;
  Owner* owner_;
  std::uint64_t sequence_ = 0;
  bool released_ = false;
  std::shared_ptr<Failure> last_failure_;
  std::shared_ptr<UnderWay> under_way_;  // nullptr until an operation is started
};

/// Sets the type of a result's value, and whether the value is partial. This function is called
/// when the result arrives at the thread.
void describe(Result& result, const PathValues& values);

}  // namespace paths
