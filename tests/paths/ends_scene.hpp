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

/// Point in an iteration at which the thread of the scene ends.
enum class Moment : std::uint8_t { at_the_beginning, between_half_sweeps, before_reducing, after };

/// All random choices of a case, drawn from the seed before anything runs.
struct Scene {
  /// `hosts_max`: maximum number of hosts of each cluster, and maximum number of threads of each
  /// host.
  explicit Scene(std::uint64_t seed, std::uint32_t hosts_max = 4);

  /// Returns the config. `network` adds keys to the drawn keys of the network.
  std::string config(const std::string& network = {}) const;
  /// Returns a line that describes the scene, for the person who reads a failure.
  std::string text() const;
  std::uint32_t host_count() const;  ///< including gateways
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(cluster_of.size()); }
  /// Returns a multiple of 1/8, so that sums are exact.
  double value(std::uint32_t rank, std::uint64_t iteration) const;
  double sum(std::uint64_t iteration) const;
  Nanos work(std::uint32_t rank, std::uint64_t iteration, int part) const;
  bool is_far(std::uint32_t above) const { return cluster_of[above] != cluster_of[above + 1]; }
  /// Returns the longest time that a reply to any thread takes while no thread computes.
  Nanos round_trip() const;
  /// Returns the longest time of a reply for threads that must request values. A value that is
  /// already on its way to the thread may be too old, or from another cluster than the one needed.
  /// The thread then sends another request.
  Nanos longest_answer() const;

  std::uint64_t seed;
  struct Cluster {
    std::vector<std::uint32_t> threads;  // number by host
    Nanos network{0};                    // latency; 0 = no network
    bool has_gateway = false;
  };
  std::vector<Cluster> clusters;
  Nanos link_max;
  std::string algorithm;
  std::uint32_t fan_out = 0;
  bool has_condition = true;
  bool is_shared = false;  // one connection for each pair of hosts
  double constant = 0;
  std::uint64_t iterations = 0;
  bool is_hidden = false;  // halos between clusters
  std::uint64_t latency = 1, period = 1;
  Nanos work_max;
  bool swallows = false;  // other threads return when they get an error

  Fault fault = Fault::returns;
  std::uint32_t culprit = 0;  // rank
  std::uint64_t fault_iteration = 0;
  Moment moment = Moment::at_the_beginning;

  std::vector<std::uint32_t> cluster_of;  // cluster by rank
};

/// Result of a thread.
struct Fate {
  bool is_right = false;  ///< all iterations were done and right
  std::string error;      ///< error that ended it
  std::string wrong;      ///< first wrong value or unexpected error that the thread saw; "" = none
  std::vector<Nanos> got_on;  ///< times at which it had computed or an operation had returned
  Nanos told{0};              ///< time of the error
};

/// Runs one thread's program. As in red-black relaxation, each iteration sends to the thread's
/// neighbours, receives from them, and reduces. At the point at which the scene's thread must end,
/// calls `end`, and returns when `end` returns.
void run_thread(const Scene& scene, paths::Thread& thread, Fate& fate,
                const std::function<void()>& end);

}  // namespace ends_tests
