// SPDX-License-Identifier: Apache-2.0
// paths/run/run_options.hpp — options of a run in one process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/keys/run_key.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// How many trace records the hosts of a process wrote and lost; valid after the hosts have ended.
struct TraceOutcome {
  std::uint64_t written = 0;  ///< number of records in the trace
  std::uint64_t lacking = 0;  ///< number of records lost by overflow or by write errors
};

struct TraceOptions {
  std::string directory;             ///< "" = no trace
  std::vector<std::string> command;  ///< command line, written into the trace
  std::shared_ptr<TraceOutcome> outcome = std::make_shared<TraceOutcome>();
};

struct RunOptions {
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 1;
  bool is_one_host = false;
  std::uint32_t host = 0;       ///< index of the host, if is_one_host
  std::size_t stack_bytes = 0;  ///< stack size per thread; 0 = as the plan says
  /// Key of the run, for processes that run one host; nullptr = none. A run without a key has the
  /// digest of the plan as its id.
  std::shared_ptr<const RunKey> run_key = nullptr;
  TraceOptions trace = {};
};

}  // namespace paths
