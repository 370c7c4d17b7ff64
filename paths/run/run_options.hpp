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

/// Numbers of trace records that the hosts of a process wrote and lost; valid after the hosts have
/// ended.
struct TraceOutcome {
  std::uint64_t written = 0;  ///< number of records written into the trace
  std::uint64_t lacking = 0;  ///< number of records lost by overflow or by write errors
};

struct TraceOptions {
  std::string directory;             ///< directory of the trace; "" = no trace
  std::vector<std::string> command;  ///< command line, written into the trace
  std::shared_ptr<TraceOutcome> outcome = std::make_shared<TraceOutcome>();
};

struct RunOptions {
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 1;
  bool is_one_host = false;
  std::uint32_t host = 0;       ///< index of the host to run, if is_one_host is true
  std::size_t stack_bytes = 0;  ///< stack size per thread; 0 = size in the plan
  /// Key of the run, for processes that run one host; nullptr = no key. Without a key, the digest
  /// of the plan is the id of the run.
  std::shared_ptr<const RunKey> run_key = nullptr;
  TraceOptions trace = {};
};

}  // namespace paths
