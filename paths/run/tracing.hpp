// SPDX-License-Identifier: Apache-2.0
// paths/run/tracing.hpp — has the hosts of a process write what they record into a trace directory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "eventspace/trace/writer.hpp"
#include "paths/host/host.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Of the hosts of a process, when they have ended.
struct TraceOutcome {
  std::uint64_t written = 0;  ///< records
  std::uint64_t lacking = 0;  ///< that came too fast, or could not be written
};

struct TraceOptions {
  std::string directory;             ///< "": no trace
  std::vector<std::string> command;  ///< for those who read it
  std::shared_ptr<TraceOutcome> outcome = std::make_shared<TraceOutcome>();
};

/// Writes what hosts of one process record, from their start to their end.
///
/// Context: on the steady clock a thread of its own writes every flush_every, so that whoever
///          records never waits for a file; who records more than lane_records in that time loses
///          the rest, which is counted. On the virtual clock, where writing takes no time, nothing
///          is lost.
/// Owns:    the writers; borrows runtime and hosts, which outlive it.
/// Throws:  std::runtime_error, naming the file, when one cannot be made or is there already.
class Tracing {
 public:
  static constexpr base::Nanos flush_every = std::chrono::milliseconds(50);
  /// Looks at the clocks of hosts below, the fastest of so many, as often as this.
  static constexpr int clock_looks = 16;
  static constexpr base::Nanos clocks_every = std::chrono::seconds(1);
  static constexpr std::size_t lane_records = 1 << 16;
  /// Of all recorders together on the virtual clock, where there may be thousands.
  static constexpr std::size_t virtual_records = 1 << 21;

  Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
          std::uint64_t seed, TraceOptions options);

  void add(Host& host);  ///< before its start()
  void start();          ///< in a context of the runtime, when all are added
  /// When all hosts have ended: writes the rest. Answers for each host whose trace lacks something
  /// a line with how much and why.
  std::vector<std::string> finish();

 private:
  void watch_clocks(Host& host);
  void look_at_clock(Host& host, std::uint32_t peer);
  eventspace::TraceHeader header_of(const Host& host) const;
  void flush_all();

  runtime::Runtime& runtime_;
  const TraceOptions options_;
  const std::uint64_t seed_;
  struct Traced {
    Host* host;
    std::unique_ptr<eventspace::TraceWriter> writer;
    std::string failure = {};  ///< of its writer
  };
  /// What is not in a host's trace, and why; nothing when all is.
  static std::string lack_of(const Traced& one);
  std::vector<Traced> traced_;
  runtime::Task flushing_;
};

}  // namespace paths
