// SPDX-License-Identifier: Apache-2.0
// bench/sor/sor.hpp — program of the solver: options, threads, files, results
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/sor/part.hpp"
#include "bench/sor/solver.hpp"
#include "bench/support/collective.hpp"
#include "paths/run/program.hpp"
#include "runtime/wait.hpp"

namespace bench {

struct SorOptions {
  std::string data = "frosty";
  std::size_t size = 1380;
  std::uint64_t data_seed = 1;
  std::optional<double> omega;              ///< relaxation factor; default: the best for the size
  std::optional<std::uint64_t> iterations;  ///< maximum number of iterations
  std::string collective;                   ///< "" = the only collective of the config
  std::string exchange = "rows";
  /// Cost of relaxation on the virtual clock: "declared" (the default) or "measured".
  std::string compute;
  std::string cost_per_row = "10us";
  std::string halo = "plain";
  std::string image, raw, values, json;
  bool check = false;
};

/// Red-black successive over-relaxation, the application of Bongo et al. 2004, §V-B.
///
/// Each process has one object, to which the threads of the process add their parts. If each host
/// is a process, the first thread of each host moves the parts of its host into the element
/// `report`, and thread 0 observes them there.
class Sor {
 public:
  explicit Sor(SorOptions options) : options_(std::move(options)) {}

  /// Throws std::invalid_argument or base::ConfigError if options, config and run do not fit
  /// together.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  /// Runs one thread of the application.
  void run(paths::Thread& thread);
  /// In the process of thread 0: compares the results, prints them and writes the files. Does
  /// nothing in other processes. Throws std::runtime_error if threads received different
  /// conditions, if the check finds a difference, or if a file cannot be written.
  void finish(const paths::RunSummary& summary);

  /// Returns the results known in this process, without `provenance`. Requires: all threads of the
  /// process have ended.
  nlohmann::ordered_json figures(const paths::RunSummary& summary) const;
  const std::map<std::uint32_t, SorPart>& parts() const { return parts_; }  ///< indexed by rank

 private:
  void choose_cost();
  void choose_iterations();
  void check_grid(const paths::Plan& plan, const paths::RunOptions& run) const;
  void check_report(const paths::Plan& plan) const;
  void check_files() const;
  void watch();
  void report(paths::Thread& thread);
  void wait_for_siblings(paths::Thread& thread);
  void add_part(std::uint32_t rank, SorPart part);
  void fill_row(std::size_t row, std::span<double> cells) const;
  void write_files() const;
  std::string check(const paths::Plan& plan) const;

  SorOptions options_;
  bool is_virtual_ = false, is_ours_ = false, is_split_ = false;
  Collective collective_;
  std::unique_ptr<SorTask> task_;
  // The next two members exist only in the process of thread 0.
  std::optional<Interruption> interruption_;
  std::optional<Progress> progress_;

  runtime::Mutex mutex_;  // guards the members below
  runtime::WaitList ended_;
  std::map<std::uint32_t, SorPart> parts_;
};

}  // namespace bench
