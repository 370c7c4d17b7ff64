// SPDX-License-Identifier: Apache-2.0
// tests/paths/ends_scene.hpp — random programs that reduce and exchange, one thread of which ends.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/host/thread.hpp"
#include "runtime/random.hpp"

namespace ends_tests {

using base::Nanos;

enum class Fault : std::uint8_t { returns, throws, dies };

/// Where in its iteration the thread ends.
enum class Moment : std::uint8_t { at_the_beginning, between_half_sweeps, before_reducing, after };

/// Everything that is random, drawn from the seed before anything runs.
struct Scene {
  /// `hosts_max` of each cluster, which has as many threads at most on each.
  explicit Scene(std::uint64_t seed, std::uint32_t hosts_max = 4);

  /// `network`: how hosts reach each other, besides what is drawn.
  std::string config(const std::string& network = {}) const;
  /// In one line, for who reads of a failure.
  std::string text() const;
  std::uint32_t host_count() const;  ///< gateways among them
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(cluster_of.size()); }
  /// Multiples of 1/8, so that sums are exact.
  double value(std::uint32_t rank, std::uint64_t iteration) const;
  double sum(std::uint64_t iteration) const;
  Nanos work(std::uint32_t rank, std::uint64_t iteration, int part) const;
  bool is_far(std::uint32_t above) const { return cluster_of[above] != cluster_of[above + 1]; }
  /// What an answer to what any thread asks may take, if nobody computes.
  Nanos round_trip() const;
  /// The same, when what a thread needs is not sent to it but asked for: the answer that is under
  /// way may be an older one, or of another cluster, and it asks again.
  Nanos longest_answer() const;

  std::uint64_t seed;
  struct Cluster {
    std::vector<std::uint32_t> threads;  // of each host
    Nanos network{0};                    // none when zero
    bool has_gateway = false;
  };
  std::vector<Cluster> clusters;
  Nanos link_max;
  std::string algorithm;
  std::uint32_t fan_out = 0;
  bool has_condition = true;
  bool is_shared = false;  // a connection for each pair of hosts
  double constant = 0;
  std::uint64_t iterations = 0;
  bool is_hidden = false;  // halos between clusters
  std::uint64_t latency = 1, period = 1;
  Nanos work_max;
  bool swallows = false;  // the others end by returning when they get an error

  Fault fault = Fault::returns;
  std::uint32_t culprit = 0;  // rank
  std::uint64_t fault_iteration = 0;
  Moment moment = Moment::at_the_beginning;

  std::vector<std::uint32_t> cluster_of;  // rank
};

/// What became of a thread.
struct Fate {
  bool is_right = false;      ///< it did all its iterations, and none was wrong
  std::string error;          ///< what ended it
  std::string wrong;          ///< what a right program would not have seen
  std::vector<Nanos> got_on;  ///< when it had computed, or an operation had come back
  Nanos told{0};              ///< when the error came
};

/// One thread's program: each iteration tells the neighbours, asks them, and reduces, as
/// red-black relaxation does. `end` is called where the scene's thread ends; when it returns, so
/// does the thread.
void run_thread(const Scene& scene, paths::Thread& thread, Fate& fate,
                const std::function<void()>& end);

}  // namespace ends_tests
