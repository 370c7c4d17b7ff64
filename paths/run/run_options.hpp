// SPDX-License-Identifier: Apache-2.0
// paths/run/run_options.hpp — on which clock, and as which hosts, a plan runs in a process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/digest.hpp"
#include "paths/run/tracing.hpp"
#include "runtime/runtime.hpp"

namespace paths {

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
