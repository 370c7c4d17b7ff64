// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/thread_calls.cpp — operations that threads started first and
// waited for later.
#include <algorithm>
#include <map>
#include <utility>

#include "eventspace/analysis/attribution/moment_reader.hpp"

namespace eventspace {

/// Connects the calls of a thread with the operations that it started. The thread does not wait in
/// the call that starts an operation. If it waits for the operation at all, it does so in a later
/// call.
class MomentReader::ThreadCalls {
 public:
  ThreadCalls(MomentReader& reader, std::uint32_t rank)
      : reader_(reader),
        all_(reader.all_),
        thread_(reader.all_.threads_[rank]),
        rank_(rank),
        host_(reader.all_.shape_.structure.host_of_thread(rank)) {}

  void connect() {
    std::map<Key, std::uint32_t> operations;
    for (std::uint32_t place = 0; place < thread_.operations.size(); ++place) {
      const ThreadOperation& one = thread_.operations[place];
      if (one.leaf == none || one.kind == move_operation)
        operations[{one.leaf, one.number}] = place;
    }
    for (std::uint32_t number = 0; number < thread_.calls.size(); ++number) {
      const ThreadCall& call = thread_.calls[number];
      const Key key{call.leaf, call.number};
      if (!call.is_wait) {
        const auto found = operations.find(key);
        if (found == operations.end()) continue;
        started_.emplace(key, thread_.operations[found->second]);
        connect_start(number, found->second);
        operations.erase(found);
      } else if (const auto found = started_.find(key); found != started_.end()) {
        connect_wait(number, found->second);
        started_.erase(found);
      }
    }
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // Leaf of the path, number of the operation

  std::uint32_t add_node(std::int64_t nanos, std::uint32_t name, bool is_end) {
    Node& node = all_.nodes_.emplace_back();
    node.time_nanos = nanos;
    node.host = host_;
    node.name = name;
    node.thread = rank_;
    node.is_end = is_end;
    return static_cast<std::uint32_t>(all_.nodes_.size() - 1);
  }
  void wait_for(std::uint32_t node, Moment before) {
    all_.befores_.push_back({node, before, all_.labels_.runtime_of(host_)});
  }

  /// In the list of the thread's operations, replaces a started operation by the call that started
  /// it. Makes the begin of the operation wait for the call.
  void connect_start(std::uint32_t number, std::uint32_t place) {
    const ThreadCall& call = thread_.calls[number];
    ThreadOperation& one = thread_.operations[place];
    const Moment begin = thread_.begins[place];
    const Moment end = one.end;
    OperationName name = all_.names_[one.name];
    name.kind = "start of " + name.kind;
    one.name = reader_.number_of(name);
    const std::uint32_t from = add_node(call.down_nanos, one.name, false);
    const std::uint32_t to = add_node(call.up_nanos, one.name, true);
    one.down_nanos = call.down_nanos;
    one.up_nanos = call.up_nanos;
    one.kind = number_of_kind(EventKind::start);
    one.end = {Moment::Kind::node, to};
    one.arrival = call.arrival;
    thread_.begins[place] = {Moment::Kind::node, from};
    if (begin.kind == Moment::Kind::node) {
      all_.nodes_[begin.number].thread = all_.nodes_[end.number].thread = none;
      wait_for(begin.number, {Moment::Kind::node, from});
    } else {
      all_.passes_[begin.number].is_started = true;
      all_.starts_[begin.number] = to;
    }
  }

  /// Adds the call by which the thread waited for a started operation to the list of the thread's
  /// operations.
  void connect_wait(std::uint32_t number, const ThreadOperation& operation) {
    const ThreadCall& call = thread_.calls[number];
    const std::uint32_t from = add_node(call.down_nanos, operation.name, false);
    const std::uint32_t to = add_node(call.up_nanos, operation.name, true);
    // A wait that ended at its deadline ended before the operation. It did not wait for the
    // operation's end.
    if (all_.time_of(operation.end) <= call.up_nanos) wait_for(to, operation.end);
    ThreadOperation wait = operation;
    wait.down_nanos = call.down_nanos;
    wait.up_nanos = call.up_nanos;
    wait.kind = number_of_kind(EventKind::wait);
    wait.end = {Moment::Kind::node, to};
    wait.arrival = call.arrival;
    thread_.operations.push_back(wait);
    thread_.begins.push_back({Moment::Kind::node, from});
  }

  MomentReader& reader_;
  Moments& all_;
  ThreadState& thread_;
  std::uint32_t rank_;
  std::uint32_t host_;
  // Operations as recorded, before connect_start() changes them.
  std::map<Key, ThreadOperation> started_;
};

void MomentReader::add_call(const EventRecord& call, std::uint32_t leaf, std::uint32_t arrival) {
  if (!has_room_for(1)) return;
  ThreadState& thread = all_.threads_[call.place];
  const auto kind = static_cast<EventKind>(+call.kind);
  if (kind == EventKind::iteration) {
    thread.marks.push_back(call.down_nanos);
    return;
  }
  const bool is_of_path = leaf != none;
  thread.calls.push_back({leaf, is_of_path ? +call.sequence : call.slot, kind == EventKind::wait,
                          arrival, call.down_nanos, std::max(+call.down_nanos, +call.up_nanos)});
}

void MomentReader::connect_calls() {
  for (std::uint32_t rank = 0; rank < all_.threads_.size(); ++rank)
    if (!all_.threads_[rank].calls.empty()) ThreadCalls(*this, rank).connect();
}

}  // namespace eventspace
