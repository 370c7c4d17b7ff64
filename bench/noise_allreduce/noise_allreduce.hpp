// SPDX-License-Identifier: Apache-2.0
// bench/noise_allreduce/noise_allreduce.hpp — microbenchmark that computes and then allreduces
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/collective.hpp"
#include "bench/support/compute.hpp"
#include "bench/support/figures.hpp"
#include "bench/support/values.hpp"
#include "paths/run/program.hpp"
#include "runtime/wait.hpp"

namespace bench {

struct NoiseOptions {
  std::string collective;  ///< "" = the only collective of the config
  std::uint64_t iterations = 1000;
  /// Number of warm-up rounds. Default: 0 on the virtual clock, 10 on the steady clock.
  std::optional<std::uint64_t> warmup;
  std::string compute;  ///< default: `declared` on the virtual clock, otherwise `sort`
  std::string compute_time = "30ms";
  std::string replay;
  std::vector<std::string> noise;  ///< noise to inject, as InjectedNoise parses it
  double variation_percent = 0;
  std::string values = "best";
  std::string json;
  std::string decisions;  ///< output file for the decision of each round in each cluster
};

/// The noise-allreduce microbenchmark of Bongo et al. 2004, §V-A.
///
/// Each process has one object, to which the threads of the process add their figures. If each host
/// is a process, the first thread of each host moves the figures of its host into the element
/// `report`, and thread 0 observes them there.
class NoiseAllreduce {
 public:
  explicit NoiseAllreduce(NoiseOptions options) : options_(std::move(options)) {}

  /// Reads the inputs that the options name. Throws std::invalid_argument or base::ConfigError.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  /// Runs one thread of the application.
  void run(paths::Thread& thread);
  /// Returns the figures known in this process. Requires: all threads of the process have ended.
  Figures figures(const paths::RunSummary& summary) const;
  /// In the process of thread 0: prints the table and writes the JSON. Does nothing in other
  /// processes. Throws std::runtime_error if threads received different conditions, or if the file
  /// cannot be written.
  void finish(const paths::RunSummary& summary) const;

 private:
  void check_durations(const paths::Plan& plan, const paths::RunOptions& run) const;
  void iterate(paths::Thread& thread, ThreadFigures& mine);
  paths::Result move(paths::Path& path, std::uint32_t rank, std::uint64_t iteration,
                     const std::vector<Nanos>& durations);
  void end_if_asked(const std::vector<Nanos>& durations) const;
  void note(paths::Thread& thread, ThreadFigures& mine, std::uint64_t round,
            const paths::Result& result);
  void write_decisions(const paths::Plan& plan) const;
  void report(paths::Thread& thread);
  void wait_for_siblings(paths::Thread& thread);
  base::Payload encode_report(paths::Thread& thread);
  void decode_report(const base::Payload& tuple);

  NoiseOptions options_;
  std::uint64_t warmup_ = 0;
  bool is_virtual_ = false, is_split_ = false;
  // Hosts whose threads have paths to the element `report`.
  std::vector<std::uint32_t> reporting_hosts_;
  Collective collective_;
  std::optional<Values> values_;
  ComputeOptions compute_;
  std::optional<Interruption> interruption_;  // exists only in the process of thread 0

  runtime::Mutex mutex_;  // guards the members below
  runtime::WaitList ended_;
  std::map<std::uint32_t, std::vector<ThreadFigures>> by_host_;
  std::vector<Nanos> iterations_of_thread_0_;
  std::map<std::uint32_t, paths::Traffic> wan_;  // indexed by host, from reports
  std::map<std::uint32_t, double> cpu_seconds_;  // indexed by host, from reports
  // Decisions of each cluster, keyed by the first host of the cluster.
  std::map<std::uint32_t, std::vector<Decided>> decided_;
};

}  // namespace bench
