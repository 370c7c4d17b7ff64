// SPDX-License-Identifier: Apache-2.0
// groups/execution/patience.hpp — waits for other hosts, and inquiries to hosts that are late
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"

namespace groups {

/// How long an operation waits for other hosts, and a function that it calls during the wait.
struct Patience {
  base::Nanos longest{0};  ///< maximum time without progress
  bool is_written = false;
  /// Asks the hosts for which this host waits whether they can still take part (MessageGroup::ask).
  /// May be empty.
  std::function<void()> ask_hosts = {};
};

/// Blocks until a member of the set `waits` has completed, and returns its index. Calls ask_hosts()
/// after 250 ms without progress, then after 500 ms, 1 s and so on. Returns nullopt after `longest`
/// without progress.
std::optional<std::size_t> wait_patiently(runtime::WaitSet& waits, const runtime::Runtime& runtime,
                                          const Patience& patience);

/// Throws: TravelError, which reports that the operation made no progress for the duration
///         `patience`. `operation` describes the operation, and `hosts` are the hosts for which it
///         waited. The text contains the name of this host, because other hosts receive the text,
///         too.
[[noreturn]] void throw_late(const std::string& operation, const paths::MessageGroup& lanes,
                             const std::vector<std::uint32_t>& hosts, base::Nanos patience);

}  // namespace groups
