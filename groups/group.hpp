// SPDX-License-Identifier: Apache-2.0
// groups/group.hpp — collective operations on arrays and tuples among threads of a run.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "groups/calls/call.hpp"
#include "groups/calls/member_arrays.hpp"
#include "groups/mapped_array.hpp"
#include "groups/tuples.hpp"
#include "paths/host/thread.hpp"
#include "runtime/handle.hpp"
#include "runtime/processes/process_end.hpp"

namespace groups {

class HostGroup;
class RepeatedCalls;
struct Origin;
struct PreparedCall;
struct TakenFiles;

/// Arrays of scalars: vectors, std::array, spans.
template <class Range>
concept Values = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 std::is_arithmetic_v<std::ranges::range_value_t<Range>> &&
                 sizeof(std::ranges::range_value_t<Range>) <= 8;

/// Types that a member may pass as input or output: arrays, or tuples of elements
/// (groups/tuples.hpp).
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

/// Builds the Call for one operation: `group.run(allreduce(mine, all, "sum"))`. The caller's arrays
/// are in use until the operation has ended. `in` and `out` may be the same array if they have the
/// same size; otherwise they must not overlap. Without counts, all blocks have the same size.
/// Throws: UsageError if input and output have different types of values.
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
/// Broadcast: copies the root's array to all members.
template <Values Array>
Call broadcast(Array&& values, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, std::span(values).first(0), values);
  call.root = root;
  return call;
}
/// Broadcast: copies the root's newest tuple to the other members, which move it into their
/// elements.
inline Call broadcast(const Newest& from, const Into& to, std::uint32_t root) {
  Call call = call_of(collectives::Collective::broadcast, from, to);
  call.root = root;
  return call;
}
/// Reduce: gives the root the combined values of all members. `out` of the other members may be
/// empty.
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
/// Gather: gives the root the blocks of all members, ordered by rank.
template <In Given, Out Taken>
Call gather(const Given& in, Taken&& out, std::uint32_t root,
            std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::gather, in, out);
  call.root = root;
  call.counts = std::move(counts);
  return call;
}
/// Scatter: gives each member its block of the root's array; blocks are ordered by rank.
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
/// Reduce-scatter: gives each member its block of the combined values of all members.
template <In Given, Out Taken>
Call reduce_scatter(const Given& in, Taken&& out, std::string_view operation,
                    std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::reduce_scatter, in, out);
  call.operation = operation;
  call.counts = std::move(counts);
  return call;
}
/// Alltoall: sends the i-th block of each member to member i. Counts are ordered by source, then by
/// target.
template <In Given, Out Taken>
Call alltoall(const Given& in, Taken&& out, std::vector<std::uint64_t> counts = {}) {
  Call call = call_of(collectives::Collective::alltoall, in, out);
  call.counts = std::move(counts);
  return call;
}
/// Inclusive scan: gives each member the combined values of the members up to and including itself.
template <In Given, Out Taken>
Call scan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::scan, in, out);
  call.operation = operation;
  return call;
}
/// Exclusive scan: gives each member the combined values of the members before it. `out` of the
/// first member is unchanged.
template <In Given, Out Taken>
Call exscan(const Given& in, Taken&& out, std::string_view operation) {
  Call call = call_of(collectives::Collective::exscan, in, out);
  call.operation = operation;
  return call;
}
/// Returns the call with the named algorithm in place of the default. Parameters follow the name
/// after a colon. `paths algorithms` prints the names.
inline Call by(std::string algorithm, Call call) {
  call.algorithm = std::move(algorithm);
  return call;
}

/// Handle of an operation that runs while its member computes: see Group::start().
using Started = runtime::Handle<void>;

/// Name of a group that the config declares.
struct Declared {
  std::string name;
};

/// One thread's membership in a group, through which it calls collective operations. All members
/// call the same operations in the same order. Members on one host share memory. Between hosts,
/// schedules send messages over lanes. A call may name its schedule. If it names none, the schedule
/// is the one that the config's table of decisions names. If the table names none, it is the best
/// schedule for the network of the config. If a member is destroyed, its operations under way
/// continue.
///
/// Thread-safe: no; each member is created, used and destroyed by its own thread.
/// Blocks:      run() and the handle's wait(), until this member's part has ended and its result
///              tuple is moved. The constructor, if this thread has destroyed an earlier member of
///              the same group: until the other members on its host are destroyed, too.
/// Throws:      UsageError for a wrong call, before anything is sent. TravelError for failures of
///              hosts, links or members. All later operations of the group then fail with the same
///              error; other groups continue. If a member is destroyed while other members
///              continue, the operations of these other members fail.
/// Paper:       Karonis et al. 2000; Matsuda et al. 2006.
/// Order:       Blocks, scans and noncommutative operations (base/reduce.hpp) follow the order of
///              ranks. All other sums are folded in the order of threads in the plan, with one
///              grouping for all elements of a vector. An algorithm that a call names may use a
///              different order. Ranks follow the plan's order, unless the group was created with a
///              different order. Minima and maxima of integers, logical and bitwise operations give
///              the same result in any order. If both 0 and -0 are the minimum or the maximum, the
///              result is the first of the two. If ranks do not follow the plan's order, blocks are
///              copied once more. For scans and noncommutative operations, each host then gathers
///              all contributions and folds them itself. This takes the memory and the messages of
///              an allgather.
/// Values:      NaN and integer overflow fail the operation, as in trees. The contents of `out` are
///              then undefined, even if `in` is the same array.
class Group {
 public:
  /// Joins a group of all threads of the plan. If the thread belongs to a plan that was deployed
  /// during the run, these are all threads of that plan.
  explicit Group(paths::Thread& thread, std::string name = "world");
  /// Joins a group of the given threads of the plan, which must include the caller. A thread's rank
  /// is its position in the list. No other group may have the same name. Every member must
  /// construct the group with the same list. The members need not do so at the same time.
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>& threads);
  /// Joins a group that the config declares. Throws: UsageError if the config declares no group of
  /// that name, or the thread is not in it.
  Group(paths::Thread& thread, const Declared& declared);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const;
  /// Returns the topology of the hosts of the group: which hosts are near each other, level by
  /// level. The hosts are the participants of schedules.
  const collectives::Topology& topology() const;

  void run(Call call);
  /// Starts the operation without waiting. Several operations may run at a time and may end in any
  /// order. Only this thread may use the handle. wait() blocks until the operation has ended and
  /// the arrays are free. If the result is a tuple, wait() then moves the tuple into its element,
  /// which may block. At the deadline of wait() the operation fails on all hosts, like an operation
  /// whose members do not arrive. If the handle is destroyed without wait(), its destructor waits
  /// and ignores errors. The destructor does not wait in a forked process, or in a thread or fiber
  /// that was cancelled.
  /// Throws: wait() throws TravelError, and the exceptions of Element::move().
  Started start(Call call);
  /// Returns an array of `count` zeros for this member. All members must call mapped_array(), with
  /// the same size, between the same two operations. If the group consists of processes of one
  /// machine that can share memory, every member maps the arrays of all members. An allreduce or
  /// broadcast then reads the values directly from these arrays, without a copy to shared memory,
  /// if two conditions hold. First, every member passes mapped arrays, or parts of them. Second,
  /// the arrays of all members are from the same call of mapped_array(), and the parts begin at the
  /// same index. In all other groups the array is ordinary memory. Results are the same in all
  /// cases.
  /// Blocks: like an allreduce.
  /// Throws: UsageError on every member if the sizes differ.
  template <class T>
  MappedArray<T> mapped_array(std::uint64_t count) {
    static_assert(Values<std::span<T>>);
    return {make_array(count, sizeof(T)), count};
  }
  /// Divides the group: members with the same colour form a new group. The new ranks are ordered by
  /// key, then by the rank in this group. All members must call split(). A member without a colour
  /// gets nullptr.
  /// Blocks: like an allgather.
  /// Throws: UsageError for a negative colour, before anything is sent.
  std::unique_ptr<Group> split(std::optional<std::int64_t> colour, std::int64_t key = 0);

  /// Uses measured links when it selects and plans later schedules. `file` is an output of `paths
  /// measure`. The member `root` reads the file, and sends its contents to the other members. The
  /// file must be about the clusters of the run. Emulated links and all other properties are
  /// unchanged. All members must call take_links(), between the same two operations.
  /// Throws: UsageError on every member if the file is wrong.
  /// Paper:  Gupta and Vadhiyar 2007, whose plans use measured bandwidths.
  void take_links(const std::string& file, std::uint32_t root = 0);
  /// Selects later schedules by the table of decisions in `file`, in place of the table of the
  /// config. The member `root` reads the file, for example an output of `paths tune`, and sends its
  /// contents to the other members. All members must call take_decisions(), between the same two
  /// operations.
  /// Throws: UsageError on every member if the file is wrong.
  /// Paper:  Vadhiyar, Fagg and Dongarra 2004, who look up tuned algorithms in tables.
  void take_decisions(const std::string& file, std::uint32_t root = 0);

  /// Returns the schedule of this host's last operation, such as "stretched:stretch=65536". Returns
  /// shared_memory_name or mapped_arrays_name if the operation used no schedule. Returns
  /// "shared_memory+NAME" if only one host of each cluster took part in the schedule NAME.
  std::string last_algorithm() const;

 private:
  Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>* threads,
        const Origin& origin);
  std::shared_ptr<const PreparedCall> check(Call& call) const;
  void check_caller(const Call& call) const;
  bool run_again(Call& call);
  std::shared_ptr<std::byte> make_array(std::uint64_t count, std::size_t element_bytes);
  /// Returns the text of a file that the member `root` reads. Throws: ConfigError on every member
  /// if the file cannot be read.
  std::string share_text(const std::string& file, std::uint32_t root);
  /// Replaces the selector by a selector with other files. `read` changes the files; `what` names
  /// the files in an error.
  void take(std::string_view what, const std::function<void(TakenFiles&)>& read);
  paths::Thread& thread_;  // valid while its host exists
  std::weak_ptr<const void> host_there_;
  const std::uint32_t forks_ = runtime::forks_until_here();
  std::shared_ptr<HostGroup> group_;
  std::uint32_t rank_ = 0, place_ = 0;  // rank in the group; place in the layout
  std::uint64_t next_ = 0;              // number of the next operation
  std::shared_ptr<Selector> selector_;  // selector with taken files, or null
  MemberArrays arrays_;
  // Calls that run_again() can repeat; null if the group cannot repeat calls.
  std::unique_ptr<RepeatedCalls> repeated_;
  const int exceptions_;
};

}  // namespace groups
