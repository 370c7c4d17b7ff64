// SPDX-License-Identifier: Apache-2.0
// tests/paths/ends_scene.hpp — random programs whose threads reduce and exchange rows until one of
// the threads ends early.
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

/// Point in an iteration at which the culprit ends. The culprit is the thread that ends early.
enum class Moment : std::uint8_t { at_the_beginning, between_half_sweeps, before_reducing, after };

/// A random program with a fault. The constructor makes all random choices from the seed.
struct Scene {
  /// `hosts_max`: maximum number of hosts per cluster, and of threads per host.
  explicit Scene(std::uint64_t seed, std::uint32_t hosts_max = 4);

  /// Returns the config. If `network` is not empty, the config's key `network` has this text, too,
  /// and the deadline is 5 s.
  std::string config(const std::string& network = {}) const;
  /// Returns a line that describes the scene, for the person who reads a failure.
  std::string text() const;
  std::uint32_t host_count() const;  ///< number of hosts, including gateways
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(cluster_of.size()); }
  /// Returns the value that a thread contributes: a multiple of 1/8, so that sums are exact.
  double value(std::uint32_t rank, std::uint64_t iteration) const;
  double sum(std::uint64_t iteration) const;
  Nanos work(std::uint32_t rank, std::uint64_t iteration, int part) const;
  bool is_far(std::uint32_t above) const { return cluster_of[above] != cluster_of[above + 1]; }
  /// Returns the longest time of a round trip of any thread's operation while no thread computes.
  Nanos round_trip() const;
  /// Returns the longest time until a thread has the result of its operation: round_trip(), or
  /// twice that if the algorithm requests values. A requested value may be too old, or may come
  /// from a cluster whose value is not needed. The thread then sends a second request.
  Nanos longest_answer() const;

  std::uint64_t seed;
  struct Cluster {
    std::vector<std::uint32_t> threads;  // number of threads of each host
    Nanos network{0};                    // latency inside the cluster; 0 = no emulated network
    bool has_gateway = false;
  };
  std::vector<Cluster> clusters;
  Nanos link_max;
  std::string algorithm;
  std::uint32_t fan_out = 0;
  bool has_condition = true;
  bool is_shared = false;  // each pair of hosts shares one connection
  double constant = 0;
  std::uint64_t iterations = 0;
  bool is_hidden = false;  // rows of other clusters are used some iterations later (hidden halos)
  std::uint64_t latency = 1, period = 1;
  Nanos work_max;
  bool swallows = false;  // threads return on an error; false = they throw the error

  Fault fault = Fault::returns;
  std::uint32_t culprit = 0;  // rank of the thread that ends
  std::uint64_t fault_iteration = 0;
  Moment moment = Moment::at_the_beginning;

  std::vector<std::uint32_t> cluster_of;  // cluster of each rank
};

/// Result of a thread.
struct Fate {
  bool is_right = false;  ///< the thread finished all iterations with correct values
  std::string error;      ///< error that ended the thread
  std::string wrong;      ///< first wrong value or unexpected error that the thread saw; "" = none
  std::vector<Nanos> got_on;  ///< ends of the thread's computations and operations
  Nanos told{0};              ///< time at which the thread received `error`
};

/// Runs one thread's program. As in red-black relaxation, each iteration sends to the thread's
/// neighbours, receives from them, and reduces. The scene's culprit calls `end` at the point at
/// which the culprit must end. If `end` returns, run_thread() returns too.
void run_thread(const Scene& scene, paths::Thread& thread, Fate& fate,
                const std::function<void()>& end);

}  // namespace ends_tests
