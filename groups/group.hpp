// SPDX-License-Identifier: Apache-2.0
// groups/group.hpp — collective operations on arrays and tuples among threads of a run.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "groups/call.hpp"
#include "groups/tuples.hpp"
#include "paths/host/thread.hpp"
#include "runtime/completion.hpp"
#include "runtime/processes/process_end.hpp"

namespace groups {

class HostGroup;
struct Origin;
struct PreparedCall;
struct Running;

/// Arrays of scalars: vectors, std::array, spans.
template <class Range>
concept Values = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 std::is_arithmetic_v<std::ranges::range_value_t<Range>> &&
                 sizeof(std::ranges::range_value_t<Range>) <= 8;

/// Input and output of a member: arrays, or tuples of elements (groups/tuples.hpp).
template <class T>
concept In = Values<T> || std::same_as<T, Newest>;
template <class T>
concept Out = Values<T> || std::same_as<std::remove_cvref_t<T>, Into>;

template <In Given>
base::Scalar give(Call& call, const Given& in) {
  if constexpr (Values<Given>) {
    call.in = std::as_bytes(std::span(std::ranges::data(in), std::ranges::size(in)));
    return base::scalar_of<std::ranges::range_value_t<Given>>();
  } else {
    call.from = in.element;
    return in.scalar;
  }
}
template <Out Taken>
base::Scalar take(Call& call, Taken&& out) {
  if constexpr (Values<Taken>) {
    call.out = std::as_writable_bytes(std::span(std::ranges::data(out), std::ranges::size(out)));
    return base::scalar_of<std::ranges::range_value_t<Taken>>();
  } else {
    call.into = out.element;
    call.into_count = out.count;
    return out.scalar;
  }
}

/// Builds the Call for one operation: `group.run(allreduce(mine, all, "sum"))`. Arrays are lent
/// until the operation has ended. `in` may be the same array as `out` if both have one size;
/// otherwise they must not overlap. Without counts all blocks are alike.
/// Throws: UsageError if an element holds another type of values.
template <In Given, Out Taken>
Call call_of(collectives::Collective collective, const Given& in, Taken&& out) {
  if constexpr (Values<Given> && Values<Taken>)
    static_assert(
        std::same_as<std::ranges::range_value_t<Given>, std::ranges::range_value_t<Taken>>);
  Call call;
  call.collective = collective;
  call.scalar = give(call, in);
  check_scalars(collective, call.scalar, take(call, out));
  return call;
}

inline Call barrier() { return {}; }
/// Copies the root's values to all members.
template <Values Array>
Call broadcast(Array&& values, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, std::span(values).first(0), values);
  call.root = root;
  return call;
}
/// Copies the root's newest tuple, which the others move into their elements.
inline Call broadcast(const Newest& from, const Into& to, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, from, to);
  call.root = root;
  return call;
}
/// Gives the root the folded values of all members; `out` of the others may be empty.
template <In Given, Out Taken>
Call reduce(const Given& in, Taken&& out, std::string_view operation, std::uint32_t root) {
  Call call = call_of(collectives::Collective::reduce, in, out);
  call.operation = operation;
  call.root = root;
  return call;
}
template <In Given, Out Taken>
Call allreduce(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::allreduce, in, out);
  call.operation = operation;
  return call;
}
/// Gives the root the blocks of all members, by rank.
template <In Given, Out Taken>
Call gather(const Given& in, Taken&& out, std::uint32_t root,
            std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::gather, in, out);
  call.root = root;
  call.counts = std::move(counts);
  return call;
}
/// Gives each member its block of the root's array, by rank.
template <In Given, Out Taken>
Call scatter(const Given& in, Taken&& out, std::uint32_t root,
             std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::scatter, in, out);
  call.root = root;
  call.counts = std::move(counts);
  return call;
}
template <In Given, Out Taken>
Call allgather(const Given& in, Taken&& out, std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::allgather, in, out);
  call.counts = std::move(counts);
  return call;
}
/// Gives each member its block of the folded values of all members.
template <In Given, Out Taken>
Call reduce_scatter(const Given& in, Taken&& out, std::string_view operation,
                    std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::reduce_scatter, in, out);
  call.operation = operation;
  call.counts = std::move(counts);
  return call;
}
/// Sends the i-th block of each member to member i. Counts are by source and then by target.
template <In Given, Out Taken>
Call alltoall(const Given& in, Taken&& out, std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::alltoall, in, out);
  call.counts = std::move(counts);
  return call;
}
/// Gives each member the folded values of all members up to and including itself.
template <In Given, Out Taken>
Call scan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::scan, in, out);
  call.operation = operation;
  return call;
}
/// Gives each member the folded values of the members before it; `out` of the first is unchanged.
template <In Given, Out Taken>
Call exscan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::exscan, in, out);
  call.operation = operation;
  return call;
}
/// Selects an algorithm of `paths algorithms`, with parameters after a colon, instead of the best
/// one.
inline Call by(std::string algorithm, Call call) {
  call.algorithm = std::move(algorithm);
  return call;
}

/// Operation under way while its member computes. The destructor waits until it has ended.
///
/// Thread-safe: no; used by its member's thread only.
class Started {
 public:
  Started() = default;
  Started(Started&&) noexcept = default;
  Started& operator=(Started&& other) noexcept;
  ~Started();
  /// Blocks until the operation has ended and the arrays are free. Call it once. It also moves a
  /// result tuple into its element, which may block.
  /// Throws: TravelError, and the exceptions of Element::move().
  void wait();
  /// Returns the completion, for wait sets.
  /// Requires: wait() was not called.
  std::shared_ptr<runtime::Completion> completion() const;

 private:
  friend class Group;
  std::shared_ptr<HostGroup> group_;
  std::shared_ptr<Running> running_;
  std::uint32_t place_ = 0;
  std::unique_ptr<Call> call_;
  std::uint32_t forks_ = runtime::forks_until_here();
};

/// Name of a group that the config declares.
struct Declared {
  std::string name;
};

/// One thread's membership in a group, through which it calls collective operations. All members
/// call the same operations in the same order. Members on one host share memory. Between hosts,
/// schedules send messages over lanes; the schedule is the best for the config's network unless a
/// call names one. Operations under way go on after their member is destroyed.
///
/// Thread-safe: no; each member is created, used and destroyed by its own thread.
/// Blocks:      run() and Started::wait(), until this member's part has ended and its tuple is
///              moved. The constructor, if this thread destroyed an earlier member of the same
///              group, until the other members on its host are destroyed, too.
/// Throws:      UsageError for a wrong call, before anything is sent. TravelError for failures of
///              hosts, links or members; all later operations then fail with it, so the group is
///              useless, but other groups go on. Destroying a member while others continue fails
///              their operations.
/// Paper:       Karonis et al. 2000; Matsuda et al. 2006.
/// Order:       Blocks, scans and noncommutative operations (base/reduce.hpp) follow ranks. All
///              other sums are folded in the plan's order of threads, with one grouping for all
///              elements, unless a call names an algorithm with another order. The plan's order is
///              that of ranks unless the group was created in another one. Minima and maxima of
///              integers, logical and bitwise operations give the same result in any order; of 0
///              and -0 the first one stays. If ranks differ from the plan's order, blocks are
///              copied once more. Each host then folds scans and noncommutative operations from all
///              contributions; this takes the memory and the messages of an allgather.
/// Values:      NaN and integer overflow fail the operation, as in trees. The contents of `out` are
///              then undefined, also in place.
class Group {
 public:
  /// Joins a group of all threads of the plan, or of the deployment for a further deployment.
  explicit Group(paths::Thread& thread, std::string name = "world");
  /// Joins a group of these threads of the plan, including the caller; ranks are positions in the
  /// list. The name must be the group's own. Every member constructs it with the same list, at any
  /// time.
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>& threads);
  /// Throws: UsageError if the config declares no group of that name, or the thread is not in it.
  Group(paths::Thread& thread, const Declared& declared);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const;
  /// Returns the topology of the group's hosts, which are the participants of schedules: which
  /// hosts are near each other, level by level.
  const collectives::Topology& topology() const;

  void run(Call call);
  /// Starts the operation without waiting. Several may be under way, and may end in any order.
  Started start(Call call);
  /// Divides the group: members of one colour form a new group, ranked by key and then by their
  /// rank here. All members call it. A member without a colour gets nullptr.
  /// Blocks: as an allgather.
  /// Throws: UsageError for a negative colour, before anything is sent.
  std::unique_ptr<Group> split(std::optional<std::int64_t> colour, std::int64_t key = 0);

  /// Chooses and plans later schedules for links as `paths measure` measured them. The member
  /// `root` reads the file, which must be about the run's clusters, and sends it to the others.
  /// Nothing else changes, emulated links included. All members call it, between the same
  /// operations.
  /// Throws: UsageError on every member if the file is wrong.
  /// Paper:  Gupta and Vadhiyar 2007 (pools and trees follow the network).
  void take_links(const std::string& file, std::uint32_t root = 0);

  /// Returns the schedule of this host's last operation: "stretched:stretch=65536".
  std::string last_algorithm() const;

 private:
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>* threads,
        const Origin& origin);
  std::shared_ptr<const PreparedCall> check(Call& call) const;
  paths::Thread& thread_;  // valid while its host exists
  std::weak_ptr<const void> host_there_;
  const std::uint32_t forks_ = runtime::forks_until_here();
  std::shared_ptr<HostGroup> group_;
  std::uint32_t rank_ = 0, place_ = 0;  // rank and place in the layout
  std::uint64_t next_ = 0;              // number of the next operation
  std::shared_ptr<Selector> selector_;  // selector of measured links; null: the config's
  const int exceptions_;
};

}  // namespace groups
