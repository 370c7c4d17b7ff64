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

/// Writes the trace records of a process's hosts, from their start to their end. Each deployment
/// that Host::deploy() makes has a trace of its own, in the folder wirings/LABEL.NUMBER of the
/// trace directory.
///
/// Owns:    the writers. Borrows runtime and hosts, which outlive this object.
/// Throws:  std::runtime_error that names the file, if a file cannot be created or exists already.
/// Context: a full recorder writes its records itself, so that no record is lost. This class is for
///          the virtual clock, where writing takes no time. LiveTracing is for the steady clock.
class Tracing : public DeploymentWatcher {
 public:
  /// Approximate number of records for which all recorders of a run on the virtual clock have
  /// memory together. Such a run may have thousands of recorders.
  static constexpr std::size_t virtual_records = 1 << 21;

  /// Requires: `kinds` outlives this object.
  Tracing(runtime::Runtime& runtime, const Plan& plan, const WrapperKinds& kinds,
          std::uint64_t seed, TraceOptions options);
  ~Tracing() override;

  void add(Host& host);  ///< must be called before Host::start()
  /// Called in a thread or fiber of the runtime, after the last add().
  virtual void start() {}
  /// Writes the remaining records. Returns, for each host with an incomplete trace, a line with the
  /// number of lost records and the reason.
  /// Requires: all hosts have ended.
  virtual std::vector<std::string> finish();

 protected:
  const std::vector<Host*>& hosts() const { return hosts_; }
  /// After this call, deployments no longer call functions of this object.
  void stop_watching();
  /// Writes the records that the hosts have recorded so far.
  void flush_all();
  /// Stores `watch`, the task that reads clocks for the trace of `view`. The task is ended before
  /// the trace of `view` ends.
  void note_clock_watch(const HostView& view, std::shared_ptr<runtime::Task> watch);
  void wired(Deployment& /*deployment*/) override {}

  runtime::Runtime& runtime_;

 private:
  /// Owner of one trace: a host, or a deployment of the host that Host::deploy() has made.
  struct Traced {
    HostView* view = nullptr;
    std::string name;  ///< name of the owner in error messages
    std::unique_ptr<eventspace::TraceWriter> writer;
    std::string failure = {};                    ///< error of the writer; "" if there is no error
    std::shared_ptr<runtime::Task> clocks = {};  ///< task that reads the clocks of peers
  };
  void made(Deployment& deployment) override;
  void ended(Deployment& deployment) noexcept override;

  void trace(const std::filesystem::path& directory, HostView& view, std::string name,
             std::size_t virtual_lane_records);
  /// Reserves memory for records in `recorder`. On the virtual clock each lane of the recorder gets
  /// memory for `virtual_lane_records` records.
  virtual void reserve(eventspace::Recorder& recorder, std::size_t virtual_lane_records) const;
  virtual std::string clock_name() const { return "virtual"; }
  eventspace::TraceHeader header_of(const HostView& view) const;
  void finish(std::list<Traced>& ended);
  /// Returns a message about the missing records of a trace and the reason; "" if the trace is
  /// complete.
  static std::string lack_of(const Traced& one);

  const WrapperKinds& kinds_;
  const TraceOptions options_;
  const std::uint64_t seed_;
  std::vector<Host*> hosts_;
  runtime::Mutex mutex_;      // guards traced_ and lacks_; held while records are written
  std::list<Traced> traced_;  // a list, so that entries keep their addresses
  std::vector<std::string> lacks_;
};

}  // namespace paths
