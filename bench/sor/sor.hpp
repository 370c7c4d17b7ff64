// SPDX-License-Identifier: Apache-2.0
// bench/sor/sor.hpp — the solver as a program: options, threads, files, figures.
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
  std::optional<double> omega;              ///< the best for the size
  std::optional<std::uint64_t> iterations;  ///< at most
  std::string collective;                   ///< "" is the only one of the config
  std::string exchange = "rows";
  std::string compute;  ///< "" is declared on the virtual clock
  std::string cost_per_row = "10us";
  std::string halo = "plain";
  std::string image, raw, values, json;
  bool check = false;
};

/// Red-black successive over-relaxation (the application of Bongo et al. 2004, §V-B). One object
/// per process: threads of all its hosts run in it and leave their parts here. When a host is a
/// process of its own, the first thread of each moves its host's parts into the element `report`,
/// from where thread 0 observes them.
class Sor {
 public:
  explicit Sor(SorOptions options) : options_(std::move(options)) {}

  /// Throws std::invalid_argument and base::ConfigError for what does not fit together.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  /// One thread of the application.
  void run(paths::Thread& thread);
  /// In the process of thread 0: compares, prints the table and writes the files; elsewhere it does
  /// nothing. Throws std::runtime_error when threads learnt different conditions, the check finds a
  /// difference, or a file cannot be written.
  void finish(const paths::RunSummary& summary);

  /// What is known in this process when all its threads have ended, but `provenance`.
  nlohmann::ordered_json figures(const paths::RunSummary& summary) const;
  const std::map<std::uint32_t, SorPart>& parts() const { return parts_; }  ///< by rank

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
  std::optional<Interruption> interruption_;  // in the process of thread 0, as the next
  std::optional<Progress> progress_;

  runtime::Mutex mutex_;  // guards what follows
  runtime::WaitList ended_;
  std::map<std::uint32_t, SorPart> parts_;
};

}  // namespace bench
