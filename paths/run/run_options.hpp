// SPDX-License-Identifier: Apache-2.0
// paths/run/run_options.hpp — on which clock, and as which hosts, a plan runs in a process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Records of the hosts of a process, counted when the hosts have ended.
struct TraceOutcome {
  std::uint64_t written = 0;  ///< records
  std::uint64_t lacking = 0;  ///< records that came too fast, or could not be written
};

struct TraceOptions {
  std::string directory;             ///< "": no trace
  std::vector<std::string> command;  ///< command line, which the trace names
  std::shared_ptr<TraceOutcome> outcome = std::make_shared<TraceOutcome>();
};

struct RunOptions {
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 1;
  bool is_one_host = false;
  std::uint32_t host = 0;                ///< which, when it is one
  std::size_t stack_bytes = 0;           ///< of a thread; 0: as the plan says
  std::optional<base::Digest> run = {};  ///< its id; without one, the digest of the plan
  TraceOptions trace = {};
};

}  // namespace paths
