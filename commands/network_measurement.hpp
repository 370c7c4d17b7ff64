// SPDX-License-Identifier: Apache-2.0
// commands/network_measurement.hpp — all hosts of a config measure what lies between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "commands/link_measurement.hpp"
#include "paths/run/run_plan.hpp"

namespace commands {

struct MeasureOptions {
  std::string output;             ///< the file; "" for none
  std::size_t streams_most = 16;  ///< of two clusters that are tried at once
};

/// The network of each cluster with two hosts, then the link of every two clusters, each way. What
/// shares a cluster, and so a host, an exit or a link, or on the steady clock a machine, is
/// measured one after the other, all else at once. The first host says when a round of these
/// begins, and gets what was found.
///
/// Sharing: one for all threads of a process; the first of each host takes part.
class NetworkMeasurement {
 public:
  explicit NetworkMeasurement(MeasureOptions options) : options_(std::move(options)) {}

  /// Reads the old file, and says what it will cost. Throws std::invalid_argument for a config
  /// whose hosts cannot all reach each other, or where a cluster has no threads, or less than two
  /// could send, for a place where nothing can be written, and for a file of other clusters;
  /// ConfigError for an old file that is none.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  void run(paths::Thread& thread);
  /// Where the first host is: writes the file, and says what has changed. Throws
  /// std::runtime_error when a link could not be measured, or nothing be written.
  void finish(const paths::RunSummary& run);

  /// What was found, where the first host was.
  const tuning::MeasuredNetwork& network() const { return network_; }
  const Cost& expected() const { return expected_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t rounds() const { return rounds_.size(); }

 private:
  struct Test {
    std::uint32_t from = 0, to = 0;  ///< clusters; the same one for its network
    LinkTask task;
    int networks = 0;  ///< 1: of the source on the way, 2: of the target's side
  };

  void look_at_output();
  /// Becomes the file when all of it is there.
  void find_networks(const paths::Plan& plan);
  void find_tests(const paths::Plan& plan);
  void add_test(const paths::Plan& plan, std::uint32_t from, std::uint32_t to);
  void find_rounds(const paths::Plan& plan, bool is_virtual);
  void say_cost(const paths::Plan& plan);
  void take_part(paths::Thread& thread, paths::MessageGroup& group, std::size_t round);
  void collect(paths::MessageGroup& group, std::size_t round);
  bool fills_hosts(const Test& test, const tuning::MeasuredLink& link) const;
  void take(const Test& test, const LinkFigures& figures);
  std::string name_of(const Test& test) const;
  base::Nanos latency_of_networks(const Test& test) const;
  std::vector<std::string> keep_old(const tuning::MeasuredNetwork& old);

  const MeasureOptions options_;
  std::vector<std::string> clusters_;
  std::vector<base::Nanos> declared_;  // latencies of clusters' networks, as the config has them
  std::vector<std::uint32_t> hosts_;
  std::vector<Test> tests_;
  std::vector<std::vector<std::size_t>> rounds_;
  bool is_one_clock_ = true;
  bool is_speaking_ = false;
  Cost expected_;
  std::optional<tuning::MeasuredNetwork> old_;
  tuning::MeasuredNetwork network_;
  std::vector<std::string> unmeasured_, unmeasured_networks_;
  std::size_t measured_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace commands
