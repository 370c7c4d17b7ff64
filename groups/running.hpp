// SPDX-License-Identifier: Apache-2.0
// groups/running.hpp — state of one operation of a group on one host.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "groups/calls/call.hpp"
#include "groups/execution/execution.hpp"
#include "groups/execution/prepared_call.hpp"
#include "groups/execution/tracing.hpp"
#include "groups/group_view.hpp"
#include "paths/travel_error.hpp"
#include "runtime/completion.hpp"

namespace groups {

/// State of one operation on one host.
struct Running {
  OperationName name;
  std::shared_ptr<const PreparedCall> prepared;  ///< call of the first member to arrive
  Calls calls;  ///< calls of the members on this host; emptied before completion
  std::size_t come = 0;
  bool has_begun = false;  ///< set when the last member arrives
  /// Digest of the operation, for comparison between hosts, if it ran in shared memory; otherwise
  /// 0.
  std::uint64_t shared_digest = 0;
  /// Becomes true if the thread of a member is stopped. The arrays of that member are then freed.
  std::atomic<bool> is_abandoned{false};
  std::uint64_t turn = 0;  ///< turn in the shared region (MachineGroup::new_turn); 0 = uses lanes
  runtime::Completion completion;
  paths::Failure failure;             ///< written before completion
  paths::Traffic wan;                 ///< traffic to other clusters; written before completion
  std::unique_ptr<ShareTrace> trace;  ///< null unless the run is traced
};

/// Returns a text that describes the operation `number` and the call of the host's first member.
std::string call_text(const GroupView& view, std::uint64_t number, const PreparedCall& prepared);

/// Combines two digests into one, such as the digest of all earlier calls with the digest of the
/// next call.
std::uint64_t combined_digest(std::uint64_t before, std::uint64_t after);

}  // namespace groups
