// SPDX-License-Identifier: Apache-2.0
// paths/run/run_options.hpp — options of a run in one process.
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

/// Record counts of the hosts of a process, valid when the hosts have ended.
struct TraceOutcome {
  std::uint64_t written = 0;  ///< records
  std::uint64_t lacking = 0;  ///< lost records, which arrived too fast or could not be written
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
  std::uint32_t host = 0;                ///< index of the host, if is_one_host
  std::size_t stack_bytes = 0;           ///< stack size per thread; 0 = as the plan says
  std::optional<base::Digest> run = {};  ///< id of the run; without one, the digest of the plan
  TraceOptions trace = {};
};

}  // namespace paths
