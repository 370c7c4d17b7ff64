// SPDX-License-Identifier: Apache-2.0
// paths/host/path.hpp — one thread's way through wrappers to an element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "pastset/access.hpp"
#include "pastset/template.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/owner.hpp"
#include "paths/operation.hpp"
#include "paths/path_values.hpp"
#include "runtime/completion.hpp"

namespace paths {

class Deployment;
struct HostTraffic;  // paths/host/deployment.hpp
struct Stage;

/// An operation under way. Dropping it lets it finish unobserved.
///
/// Sharing: for the thread that started it, as long as that runs.
class Started {
 public:
  Started() = default;
  Started(Started&&) noexcept = default;
  Started& operator=(Started&&) noexcept = default;
  /// Blocks until it has ended; throws what it threw. Throws UsageError when it was waited for
  /// before, was never started, or is another thread's.
  Result wait();
  /// For wait sets (runtime/completion.hpp). Throws UsageError when it was never started.
  std::shared_ptr<runtime::Completion> completion() const;

 private:
  friend class Path;
  struct State;
  std::shared_ptr<State> state_;
};

/// A chain of wrappers from one thread to an element; carries every operation of that element
/// (Bongo et al. 2004, §III-A).
///
/// Types:   a payload made of values knows their type (base/payload.hpp), which must be that of the
///          path's template. Bytes of unknown type, and structs, are only checked for their size,
///          where they are used.
/// Sharing: one thread's own, as long as its function runs. Moves are numbered from 0 in the order
///          they are started and enter each wrapper in that order.
/// Throws:  TravelError from everything. UsageError for values of another type or number, which are
///          not sent; threads that wait for this contribution to a round get that as its failure.
///          UsageError from everything after the release, in a process made by
///          fork, for another thread, and inside another operation of the thread, as a reduction or
///          an X-function is.
class Path {
 public:
  /// The owner outlives it. `last_failure` is its thread's: what its last operation on any path
  /// failed with, if it did.
  Path(Deployment& deployment, std::uint32_t path, std::uint32_t thread, Owner& owner,
       std::shared_ptr<Failure> last_failure = std::make_shared<Failure>());
  Path(const Path&) = delete;  // a copy would number its moves alike
  Path& operator=(const Path&) = delete;

  /// Memory for a tuple that is to be moved down this path, to be written and frozen. Where the
  /// path ends in an element that this process maps, and that has some to spare, moving it copies
  /// nothing; else it is as any other. The first operation of a path may have to find the element.
  base::Buffer buffer(std::size_t bytes);
  /// Moves a tuple down the path: into an element, or as this thread's contribution to the round.
  Result move(base::Payload payload);
  /// The same with the bytes of the result, if one comes up, in the caller's memory and not in the
  /// Result: copied there once, because all threads of a round share what came up. Throws
  /// UsageError, when all is done, if they are not as many, or the result is not complete.
  Result move(base::Payload payload, std::span<std::byte> into);
  template <class T>
  Result move(base::Payload payload, std::span<T> into) {
    if (!values_->gives(base::value_type_of<T>())) refuse_memory(base::value_type_of<T>());
    return move(std::move(payload), std::as_writable_bytes(into));
  }
  template <class T>
  Result move_value(const T& value) {
    return move(base::Payload::of(value));
  }
  /// The same without waiting, so that several can be under way: without a context for each where
  /// the stages can do without, in pooled ones of the host else. Blocks while
  /// `started_max` of this path are, until one has ended, whether or not it was waited for.
  Started start(base::Payload payload);
  static constexpr std::uint64_t started_max = 256;
  /// Moves without waiting for anything to come back: one frame per crossing. For values of which
  /// only the newest counts: while the link is full, a newer push of this path takes the place of
  /// one that has not left. For rows and logs use send().
  void push(base::Payload payload);
  /// The same for tuples that all count: no newer one takes its place. What cannot leave yet is
  /// kept, and takes memory; bounding it is up to the sender.
  void send(base::Payload payload);

  void enter(const pastset::Template& tuple_template);
  pastset::Stored observe();
  pastset::Stored observe(std::uint64_t number);
  pastset::Stored newest(std::uint64_t from);
  std::uint64_t first();
  std::uint64_t last();
  std::uint64_t delta();
  void set_delta(std::uint64_t delta);
  void axe(std::uint64_t number);
  void delete_element();

  /// What each host along this path, this one and gateways included, has sent to other clusters
  /// for the paths of `graph`. Throws UsageError when the plan has no such graph.
  std::vector<HostTraffic> traffic(std::string_view graph);
  /// Says that nothing more will come; done for every path when its thread ends. Waits for what
  /// was started. With a reason, whoever still counts on this thread gets that as the failure.
  void release(const std::string& reason = {});
  void release(Failure failure);
  /// Says from which round on nothing comes, without waiting for what was started.
  void withdraw(Failure failure);
  /// Whether release() may have to wait for what others do.
  bool holds_release() const;
  bool released() const { return released_; }
  /// Whether something that was started has not ended, and until all has.
  bool has_started() const;
  void wait_for_started() { wait_while_started(1); }
  // What it is, for anybody.
  Deployment& deployment() const { return *deployment_; }
  const std::string& graph() const;
  std::uint64_t moves() const { return sequence_; }

 private:
  friend class Started;
  struct UnderWay;
  Result operate(OperationKind kind, std::uint64_t number, base::Payload payload);
  pastset::Stored read(OperationKind kind, std::uint64_t number);
  Result run(Operation&& operation);
  Started begin(Operation operation);
  template <class Check>
  void check_move(const Check& check);
  void check_moved(std::string_view what, const base::Payload& payload);
  [[noreturn]] void refuse_memory(base::ValueType wanted);
  void fail_round(std::string_view mistake);
  Owner::Use use(std::string_view what) const;
  void go_one_way(Operation operation);
  void wait_while_started(std::uint64_t at_least);
  Operation next_operation(OperationKind kind, std::uint64_t number, base::Payload payload);
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
  std::shared_ptr<UnderWay> under_way_;  // once something was started
};

}  // namespace paths
