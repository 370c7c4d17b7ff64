// SPDX-License-Identifier: Apache-2.0
// groups/execution/prepared_call.hpp — validated calls and their schedules, without members' memory
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groups/calls/call.hpp"
#include "groups/calls/layout.hpp"
#include "groups/execution/machines.hpp"
#include "groups/selection/selection.hpp"

namespace groups {

/// A validated call and its schedule. Equal calls share one PreparedCall, so that repeated calls
/// cost little.
///
/// Thread-safe: immutable, except for `choice`, which the owner's mutex guards.
struct PreparedCall {
  /// `machines` tells which hosts can share a memory region; nullptr = none.
  /// Throws: UsageError for impossible counts.
  PreparedCall(const Call& call, const Layout& layout, const Machines* machines);
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;
  bool is_of(const Call& other) const;

  const Call call;  ///< copy of the call, without the members' arrays
  const CallCounts counts;
  const std::string signature;  ///< text that the members of a host compare
  const std::uint64_t digest;   ///< digest of `signature`
  SelectionKey question;
  /// Whether the call is suitable for shared regions (MachineGroup). If true, hosts that have
  /// shared regions use them.
  const bool can_share_memory;
  /// Selected schedule; null until the schedule is first needed. Never changes after that.
  mutable std::shared_ptr<const Selection> choice = {};
};

/// Cache of the most recent distinct calls.
///
/// Thread-safe: no; guarded by its owner's mutex.
class PreparedCallCache {
 public:
  /// Returns whether a call is small enough for the cache. Calls with very many counts would need
  /// too much memory.
  static bool keep(const Call& call) { return call.counts.size() <= counts_most; }
  /// Returns the prepared call from the cache. If the call is not in the cache, prepares it. Throws
  /// as PreparedCall does.
  std::shared_ptr<const PreparedCall> of(const Call& call, const Layout& layout,
                                         const Machines* machines);

 private:
  static constexpr std::size_t most = 8, counts_most = 1024;
  std::vector<std::shared_ptr<const PreparedCall>> known_;
  std::size_t oldest_ = 0;
};

/// Returns whether the member with the rank `rank` reads its `in`.
bool reads(const Call& call, std::uint32_t rank);
/// Returns whether the member with the rank `rank` gets a result in its `out`.
bool writes(const Call& call, std::uint32_t rank);
/// Returns the operation of a reduction; nullptr for all other collectives.
const base::ReduceOperation* operation_of(const Call& call);
/// Returns the size in bytes of one entry of the arrays that members pass to the call.
std::size_t element_bytes_of(const Call& call);

}  // namespace groups
