// SPDX-License-Identifier: Apache-2.0
// groups/prepared_call.hpp — properties of a call that do not depend on the members' memory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groups/call.hpp"
#include "groups/layout.hpp"
#include "groups/selection.hpp"

namespace groups {

/// Validated call with its schedule, shared by all equal calls, so that repeated calls cost little.
///
/// Thread-safe: immutable, except for `choice`, which the owner's mutex guards.
struct PreparedCall {
  /// Throws: UsageError for impossible counts.
  PreparedCall(const Call& call, const Layout& layout);
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;
  bool is_of(const Call& other) const;

  const Call call;  ///< without memory
  const CallCounts counts;
  const std::string signature;  ///< text that members of a host compare
  const std::uint64_t digest;   ///< digest of `signature`
  const SelectionKey question;
  mutable std::shared_ptr<const Selection> choice = {};  ///< null until first needed
};

/// The most recent distinct calls.
///
/// Thread-safe: no; guarded by its owner.
class PreparedCallCache {
 public:
  /// Returns whether a call may be kept. Calls with very many counts are not worth their memory.
  static bool keep(const Call& call) { return call.counts.size() <= counts_most; }
  /// Returns the prepared call, made now if it is not kept. Throws as PreparedCall does.
  std::shared_ptr<const PreparedCall> of(const Call& call, const Layout& layout);

 private:
  static constexpr std::size_t most = 8, counts_most = 1024;
  std::vector<std::shared_ptr<const PreparedCall>> known_;
  std::size_t oldest_ = 0;
};

/// Returns the operation of a reduction; nullptr for all other collectives.
const base::ReduceOperation* operation_of(const Call& call);

}  // namespace groups
