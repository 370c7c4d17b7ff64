// SPDX-License-Identifier: Apache-2.0
// groups/group.hpp — collectives of any size among threads of a run, on arrays of their own.
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

/// What a member gives and gets: arrays, or tuples of elements (groups/tuples.hpp).
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

/// What a group does, as values: `group.run(allreduce(mine, all, "sum"))`. Arrays are lent until
/// the operation has ended. `in` may be `out`, where they are of one size; else they are apart.
/// Without counts all blocks are alike. Throws: UsageError for an element of other values.
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
/// The root's values become everybody's.
template <Values Array>
Call broadcast(Array&& values, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, std::span(values).first(0), values);
  call.root = root;
  return call;
}
/// The same with tuples: the root's newest one, which others move into their elements.
inline Call broadcast(const Newest& from, const Into& to, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, from, to);
  call.root = root;
  return call;
}
/// The root gets what all have given, folded; `out` of the others may be empty.
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
/// The root gets the blocks of all, by rank.
template <In Given, Out Taken>
Call gather(const Given& in, Taken&& out, std::uint32_t root,
            std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::gather, in, out);
  call.root = root;
  call.counts = std::move(counts);
  return call;
}
/// Everybody gets his block of the root's, by rank.
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
/// Everybody gets his block of what all have given, folded.
template <In Given, Out Taken>
Call reduce_scatter(const Given& in, Taken&& out, std::string_view operation,
                    std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::reduce_scatter, in, out);
  call.operation = operation;
  call.counts = std::move(counts);
  return call;
}
/// The i-th block of each goes to member i; counts are by sources and then by targets.
template <In Given, Out Taken>
Call alltoall(const Given& in, Taken&& out, std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::alltoall, in, out);
  call.counts = std::move(counts);
  return call;
}
/// What all up to and with a member have given, folded.
template <In Given, Out Taken>
Call scan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::scan, in, out);
  call.operation = operation;
  return call;
}
/// Without the member's own; `out` of the first stays as it is.
template <In Given, Out Taken>
Call exscan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::exscan, in, out);
  call.operation = operation;
  return call;
}
/// By an algorithm of `paths algorithms`, with parameters behind a colon, in place of the best.
inline Call by(std::string algorithm, Call call) {
  call.algorithm = std::move(algorithm);
  return call;
}

/// An operation under way, which goes on while its member computes. Dropping it waits for its end.
/// Sharing: its member's.
class Started {
 public:
  Started() = default;
  Started(Started&&) noexcept = default;
  Started& operator=(Started&& other) noexcept;
  ~Started();
  /// Blocks until it has ended, and the arrays are free; once. Throws TravelError. A tuple is moved
  /// then, which may block, too, and throw what Element::move() does.
  void wait();
  /// For wait sets. Not to be asked of one that was waited for.
  std::shared_ptr<runtime::Completion> completion() const;

 private:
  friend class Group;
  std::shared_ptr<HostGroup> group_;
  std::shared_ptr<Running> running_;
  std::uint32_t place_ = 0;
  std::unique_ptr<Call> call_;
  std::uint32_t forks_ = runtime::forks_until_here();
};

/// A group that the config declares.
struct Declared {
  std::string name;
};

/// One thread's membership in a group. All members call the same operations in the same order; of
/// each host they share memory, and between hosts schedules send over lanes, the best for the
/// config's network unless a call names one (Karonis et al. 2000; Matsuda et al. 2006).
///
/// Order:   blocks, scans, and operations that do not commute (base/reduce.hpp), go by rank. All
///          other sums are folded in the order that threads have in the plan, which is that of
///          ranks unless the group was made in another one, with one grouping for all elements,
///          unless a call names an algorithm that does otherwise. Minima and maxima of integers,
///          logical and bitwise operations come to the same in any order; of 0 and -0 the one that
///          comes first stays. Where ranks are in another order than the plan's, blocks are copied
///          once more, and scans and what does not commute have each host fold what all have given:
///          as much memory as an allgather, and sent by its schedules.
/// Values:  checked, as in trees: NaN and integers beyond their type fail the operation, and leave
///          in `out`, and so in place, what they happen to.
/// Sharing: one thread's own. Members of a group are made and dropped by their threads. What was
///          started goes on when its member is dropped.
/// Blocks:  run() and Started::wait(), until this member's part has ended, and its tuple is moved;
///          a member made in place of one that the thread has dropped, until the others of its host
///          have dropped theirs.
/// Throws:  UsageError for what no member may ask, before anything is sent; TravelError for what
///          the world does, which is the same for all operations to come: then the group is of no
///          use, and others go on. A member that is dropped while others go on fails those.
class Group {
 public:
  /// All threads of the plan, of a further deployment those of its own.
  explicit Group(paths::Thread& thread, std::string name = "world");
  /// Of these threads of the plan, whose ranks are those in the list, the caller's among them; the
  /// name is their own. All of them make it, with the same list, one before or after the other.
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>& threads);
  /// Throws UsageError when the config declares no group of that name, or the thread is not in it.
  Group(paths::Thread& thread, const Declared& declared);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const;
  /// Of its hosts, which are the participants of schedules: who is near whom, level by level.
  const collectives::Topology& topology() const;

  void run(Call call);
  /// The same without waiting: several may be under way, and end in any order.
  Started start(Call call);
  /// Members of one colour are a group of their own, ranked by key, those of one key as they are
  /// here; all call it. Without a colour one is in none of them, and gets null.
  /// Blocks: as an allgather. Throws: UsageError for a colour below 0, before anything is sent.
  std::unique_ptr<Group> split(std::optional<std::int64_t> colour, std::int64_t key = 0);

  /// The schedules of operations to come are chosen and planned for links as `paths measure` found
  /// them: the member `root` reads the file, of the run's clusters, and all others get it from
  /// there (Gupta and Vadhiyar 2007: pools and trees follow the network). Nothing else changes,
  /// emulated links among it. All members call it, between the same operations.
  /// Throws: UsageError, on every member alike, for what is wrong with the file.
  void take_links(const std::string& file, std::uint32_t root = 0);

  /// The schedule that this host's last operation took: "stretched:stretch=65536".
  std::string last_algorithm() const;

 private:
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>* threads,
        const Origin& origin);
  std::shared_ptr<const PreparedCall> check(Call& call) const;
  paths::Thread& thread_;  // while its host is there
  std::weak_ptr<const void> host_there_;
  const std::uint32_t forks_ = runtime::forks_until_here();
  std::shared_ptr<HostGroup> group_;
  std::uint32_t rank_ = 0, place_ = 0;  // of its layout
  std::uint64_t next_ = 0;              // number of the next operation
  std::shared_ptr<Selector> selector_;  // by links that were measured; null: by the config's
  const int exceptions_;
};

}  // namespace groups
