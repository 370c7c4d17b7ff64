// SPDX-License-Identifier: Apache-2.0
// commands/network_measurement.hpp — measurement of all links between the hosts of a config.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "commands/cost_collection.hpp"
#include "commands/link_measurement.hpp"
#include "paths/run/run_plan.hpp"

namespace commands {

struct MeasureOptions {
  std::string output;             ///< output file; "" = none
  std::size_t streams_most = 16;  ///< maximum number of streams to try between two clusters
  bool has_costs = false;         ///< whether the costs of hosts are also measured
};

/// Measures the network inside each cluster that has at least two hosts, then the link between
/// every two clusters in each direction. Each of these measurements is a test. Tests run in rounds;
/// the tests of a round run at the same time. Tests with a common cluster are in different rounds,
/// because they share hosts, exits or links. On the steady clock, tests with a common machine are
/// also in different rounds. The first host starts each round and collects the results.
///
/// The costs of hosts are measured if the options request it, or if the old output file contains
/// such costs. A test then also measures the costs of frames, if the latency is less than 1 ms. A
/// latency above 1 ms varies by more than the costs of frames. The costs are subtracted from the
/// measured latency. If the hosts are slower than their link, the measured bandwidth is not
/// written, because it is the rate of the hosts.
///
/// Thread-safe: one object serves all threads of a process; the first thread of each host takes
///              part.
class NetworkMeasurement {
 public:
  explicit NetworkMeasurement(MeasureOptions options) : options_(std::move(options)) {}

  /// Reads the old output file, if it exists, and prints the estimated cost.
  /// Throws: std::invalid_argument in these cases:
  /// - some hosts of the config cannot reach each other;
  /// - a cluster has no threads, or fewer than two hosts can send;
  /// - the output cannot be written;
  /// - the old file is about other clusters.
  /// Throws: ConfigError if the old file has no valid content.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  void run(paths::Thread& thread);
  /// On the first host, writes the output file and prints the differences from the old content of
  /// the file.
  /// Throws: std::runtime_error if a link could not be measured or the file could not be written.
  void finish(const paths::RunSummary& run);

  /// Returns the results. They exist only in the process of the first host.
  const tuning::MeasuredNetwork& network() const { return network_; }
  const Cost& expected() const { return expected_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t rounds() const { return rounds_.size(); }

 private:
  struct Test {
    /// Source and target cluster; equal if the test measures the network inside a cluster.
    std::uint32_t from = 0, to = 0;
    LinkTask task;
    /// Networks inside clusters that the messages of the test pass, as a bit mask. 1 = network of
    /// the source cluster, 2 = network of the target cluster.
    int networks = 0;
    int gateways = 0;  ///< number of hosts that forward the messages of the test
    bool is_encrypted = false;
  };

  /// Decisions of the first host for all hosts. The first host sends these decisions to the other
  /// hosts before each round.
  struct Orders {
    bool has_costs = false;
    std::uint32_t cores = 0;
  };

  /// Results of a test. The struct is trivially copyable, because hosts send it to each other.
  struct Figures {
    LinkFigures link;
    FrameFigures frames;
    bool has_frames = false;
  };

  void look_at_output();
  void find_networks(const paths::Plan& plan);
  void find_tests(const paths::Plan& plan);
  void add_test(const paths::Plan& plan, std::uint32_t from, std::uint32_t to);
  void find_rounds(const paths::Plan& plan);
  void say_cost(const paths::Plan& plan);
  void take_part(paths::Thread& thread, paths::MessageGroup& group, std::size_t round);
  void collect(paths::MessageGroup& group, std::size_t round);
  bool fills_hosts(const Test& test, const tuning::MeasuredLink& link) const;
  void measure_work_of(paths::Thread& thread);
  void measure_wake_up(paths::Thread& thread, paths::MessageGroup& group);
  Figures measure(Bursts& bursts, const LinkTask& task) const;
  void take(const Test& test, const Figures& figures);
  /// Adds the measured costs of hosts to costs_, and subtracts them from the figures of the link.
  void separate_costs(const Test& test, const FrameFigures& frames, tuning::MeasuredLink& link);
  std::string name_of(const Test& test) const;
  base::Nanos latency_of_networks(const Test& test) const;
  std::vector<std::string> keep_old(const tuning::MeasuredNetwork& old);

  const MeasureOptions options_;
  std::vector<std::string> clusters_;
  std::vector<base::Nanos> declared_;  // declared latency of the network inside each cluster
  std::vector<std::uint32_t> hosts_;
  std::vector<Test> tests_;
  std::vector<std::vector<std::size_t>> rounds_;
  bool has_costs_ = false;  // whether costs of hosts are measured; decided by the first host
  /// Number of cores of each machine. The first host sends this number to the other hosts. 0 =
  /// unknown, because some hosts are on other machines.
  std::uint32_t cores_ = 0;
  bool is_virtual_ = false;
  std::uint64_t frame_bytes_ = 0;
  CostCollection costs_;
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
