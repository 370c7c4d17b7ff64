// SPDX-License-Identifier: Apache-2.0
// paths/host/path.hpp — path of one thread through wrappers to an element.
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
#include "paths/host/requests/path_operations.hpp"
#include "paths/operation.hpp"

namespace paths {

class Deployment;
struct HostTraffic;  // paths/host/traffic_counts.hpp

/// Chain of wrappers from one thread to an element. A program moves its tuples and contributions
/// down a path. All other operations on the element also use a path.
///
/// The moves of a path are numbered from 0 in the order in which they are started. Moves enter each
/// wrapper in the order of their numbers.
///
/// Types:       a payload that is made from values has the type of the values (base/payload.hpp).
///              This type must be the type of the path's template. The type of raw bytes and
///              structs is unknown, so only their size is checked.
/// Thread-safe: no. A path belongs to one thread while the thread's function runs.
/// Throws:      TravelError if an operation fails. UsageError for values of a wrong type or a wrong
///              number of values. Such values are not sent, and threads that wait for the
///              contribution receive the mistake as a failure. UsageError also if the path is
///              released, if this process was forked, or if the caller is another thread.
///              UsageError also if the caller is a reduction or X-function: an operation of the
///              thread runs it, and it must not start a second operation.
/// Paper:       Bongo et al. 2004, §III-A.
class Path {
 public:
  /// `last_failure` belongs to the thread. `*last_failure` is the failure of the thread's last
  /// operation on any path; nullptr if the last operation succeeded.
  /// Requires: `owner` outlives this object.
  Path(Deployment& deployment, std::uint32_t path, std::uint32_t thread, Owner& owner,
       std::shared_ptr<Failure> last_failure = std::make_shared<Failure>())
      : operations_(deployment, path, thread, owner, std::move(last_failure)) {}

  /// Returns memory for a tuple. The caller writes the tuple into the buffer, freezes the buffer
  /// and moves it down this path. If the path ends in an element that this process maps, the buffer
  /// is memory of the element, and the move copies nothing. The buffer is ordinary memory if the
  /// element has no free memory, or if the path has carried no operation yet.
  base::Buffer buffer(std::size_t bytes);
  /// Moves a tuple down the path: into an element, or as this thread's contribution to the round.
  Result move(base::Payload payload);
  /// Moves a tuple. If the result has bytes, copies them into the caller's memory `into`. The
  /// returned Result has no payload.
  /// Why:    the copy is necessary, because all threads of a round share the bytes of the result.
  /// Throws: UsageError after the operation if the result is not complete, or if the number of its
  ///         bytes is not the size of `into`.
  Result move(base::Payload payload, std::span<std::byte> into);
  template <class T>
  Result move(base::Payload payload, std::span<T> into) {
    constexpr base::ValueType wanted = base::value_type_of<T>();
    if (!operations_.values().gives(wanted)) operations_.refuse_memory(wanted);
    return move(std::move(payload), std::as_writable_bytes(into));
  }
  template <class T>
  Result move_value(const T& value) {
    return move(base::Payload::of(value));
  }
  /// Starts a move without waiting for its result, so that several moves can be under way. If a
  /// stage of the path may block, the move runs in a fiber of the host. If the handle is destroyed,
  /// or if the deadline of its wait() passes, the operation continues and its result is lost. Only
  /// the thread that started the operation may wait for the operation, and only until the thread's
  /// function returns.
  /// Blocks: while `started_max` operations of this path are under way.
  Started start(base::Payload payload);
  static constexpr std::uint64_t started_max = PathOperations::started_max;
  /// Moves a tuple without waiting for a reply. A push needs only one frame from each host of the
  /// path to the next host. Use push() for values of which only the newest counts. While the link
  /// is full, a newer push of this path replaces a push that was not sent yet. Use send() for
  /// tuples that must all arrive, such as border rows and logs.
  void push(base::Payload payload);
  /// Pushes a tuple that no newer push may replace. Tuples that cannot be sent yet stay in memory.
  /// The caller must limit the number of such tuples.
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

  /// Returns an entry for each host along this path, including this host and gateways. The entry is
  /// the traffic to other clusters that the host has sent for the paths of `graph`.
  /// Throws: UsageError if the plan has no such graph.
  std::vector<HostTraffic> traffic(std::string_view graph);
  /// Waits until all started operations have ended, then announces that this path carries no
  /// further operation. A thread that ends releases each of its paths. Other threads that wait for
  /// this thread receive an error: `failure`, or if it is nullptr, that the path was released.
  void release(Failure failure = nullptr) { operations_.release(std::move(failure)); }

  // Properties. Any thread or fiber may read them.
  const std::string& graph() const { return operations_.graph(); }
  std::uint64_t moves() const { return operations_.moves(); }
  // The runtime of the thread uses these functions; programs do not.
  PathOperations& operations() { return operations_; }
  const PathOperations& operations() const { return operations_; }

 private:
  PathOperations operations_;
};

}  // namespace paths
