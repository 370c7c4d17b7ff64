// SPDX-License-Identifier: Apache-2.0
// paths/run/tracing.hpp — writer of the trace records of a process's hosts into a directory.
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

/// Writes the trace records of a process's hosts, from their start to their end. A deployment that
/// Host::deploy() has made has its own trace, in the folder wirings/LABEL.NUMBER of the trace.
///
/// Owns:    the writers; borrows runtime and hosts, which outlive it.
/// Throws:  std::runtime_error, naming the file, if it cannot be created or exists already.
/// Context: On the steady clock, a separate thread writes every `flush_every`, so that recording
///          never waits for a file. A recorder that adds more than `lane_records` records between
///          two writes loses the excess, and the loss is counted. On the virtual clock, where
///          writing takes no time, no record is lost.
class Tracing final : public DeploymentWatcher {
 public:
  static constexpr base::Nanos flush_every = std::chrono::milliseconds(50);
  /// Hosts read the clocks of their peers in series of `clock_looks` readings, with the pause
  /// `clocks_every` between two series. Only the fastest reading of a series is recorded.
  static constexpr int clock_looks = 16;
  static constexpr base::Nanos clocks_every = std::chrono::seconds(1);
  static constexpr std::size_t lane_records = 1 << 16;
  /// Total capacity, in records, of all recorders on the virtual clock, where there may be
  /// thousands of recorders.
  static constexpr std::size_t virtual_records = 1 << 21;

  /// `kinds` outlives this object.
  Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
          std::uint64_t seed, TraceOptions options);
  ~Tracing() override;

  void add(Host& host);  ///< called before Host::start()
  void start();          ///< called in a thread or fiber of the runtime, after the last add()
  /// Writes the remaining records. Returns, for each host with an incomplete trace, a line with the
  /// number of lost records and the reason. Requires: all hosts have ended.
  std::vector<std::string> finish();

 private:
  /// Owner of one trace: a host, or a deployment of the host that Host::deploy() has made.
  struct Traced {
    HostView* view = nullptr;
    std::string name;  ///< name in messages
    std::unique_ptr<eventspace::TraceWriter> writer;
    std::string failure = {};                    ///< failure of the writer
    std::shared_ptr<runtime::Task> clocks = {};  ///< task that reads the clocks of peers
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
  /// Returns a message about the missing records of a trace and the reason; "" if the trace is
  /// complete.
  static std::string lack_of(const Traced& one);

  runtime::Runtime& runtime_;
  const WrapperKinds& kinds_;
  const TraceOptions options_;
  const std::uint64_t seed_;
  std::vector<Host*> hosts_;
  runtime::Mutex mutex_;      // guards traced_ and lacks_; also held while flushing
  std::list<Traced> traced_;  // a list, because entries must keep their memory addresses
  std::vector<std::string> lacks_;
  runtime::Task flushing_;
};

}  // namespace paths
