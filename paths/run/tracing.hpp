// SPDX-License-Identifier: Apache-2.0
// paths/run/tracing.hpp — has the hosts of a process write what they record into a trace directory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "eventspace/trace/writer.hpp"
#include "paths/host/host.hpp"
#include "paths/run/run_options.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Writes what hosts of one process record, from their start to their end. What happens in a
/// further deployment is a trace of its own, in the folder wirings/LABEL.NUMBER of the trace.
///
/// Context: on the steady clock a thread of its own writes every flush_every, so that whoever
///          records never waits for a file; who records more than lane_records in that time loses
///          the rest, which is counted. On the virtual clock, where writing takes no time, nothing
///          is lost.
/// Owns:    the writers; borrows runtime and hosts, which outlive it.
/// Throws:  std::runtime_error, naming the file, when one cannot be made or is there already.
class Tracing final : public DeploymentWatcher {
 public:
  static constexpr base::Nanos flush_every = std::chrono::milliseconds(50);
  /// Looks at the clocks of hosts below, the fastest of so many, as often as this.
  static constexpr int clock_looks = 16;
  static constexpr base::Nanos clocks_every = std::chrono::seconds(1);
  static constexpr std::size_t lane_records = 1 << 16;
  /// Of all recorders together on the virtual clock, where there may be thousands.
  static constexpr std::size_t virtual_records = 1 << 21;

  /// The kinds outlive it.
  Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
          std::uint64_t seed, TraceOptions options);
  ~Tracing() override;

  void add(Host& host);  ///< before its start()
  void start();          ///< in a context of the runtime, when all are added
  /// When all hosts have ended: writes the rest. Answers for each host whose trace lacks something
  /// a line with how much and why.
  std::vector<std::string> finish();

 private:
  /// A host, or its share of a further deployment.
  struct Traced {
    HostView* view = nullptr;
    std::string name;  ///< for people
    std::unique_ptr<eventspace::TraceWriter> writer;
    std::string failure = {};                    ///< of its writer
    std::shared_ptr<runtime::Task> clocks = {};  ///< also of the deployment, which may end before
  };
  void made(Deployment& deployment) override;
  void wired(Deployment& deployment) override;
  void ended(Deployment& deployment) noexcept override;

  void trace(const std::filesystem::path& directory, HostView& view, std::string name,
             std::size_t virtual_lane_records);
  std::shared_ptr<runtime::Task> watch_clocks_of(Deployment& deployment);
  void watch_clocks(Deployment& deployment);
  void look_at_clock(Deployment& deployment, std::uint32_t peer);
  eventspace::TraceHeader header_of(const HostView& view) const;
  void flush_all();
  void finish(std::list<Traced>& ended);
  /// What is not in a trace, and why; nothing when all is.
  static std::string lack_of(const Traced& one);

  runtime::Runtime& runtime_;
  const WrapperKinds& kinds_;
  const TraceOptions options_;
  const std::uint64_t seed_;
  std::vector<Host*> hosts_;
  runtime::Mutex mutex_;      // the following; also while all are flushed
  std::list<Traced> traced_;  // nodes do not move
  std::vector<std::string> lacks_;
  runtime::Task flushing_;
};

}  // namespace paths
