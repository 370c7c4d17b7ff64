// SPDX-License-Identifier: Apache-2.0
// tests/groups/random_operations.hpp — random runs of random configs with operations of groups.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"
#include "tests/groups/reference.hpp"

namespace test_support {

/// Threads of a group, ordered by rank in the group, and the operations of the group.
struct RandomGroup {
  std::vector<std::uint32_t> threads;
  std::vector<Drawn> drawn;
};

/// A random run of up to 3 clusters with up to 4 hosts each and up to 3 threads per host. All
/// threads run a number of operations together. In between, they split into groups, which run
/// operations of their own. Collectives, sizes, counts, roots, schedules, members and ranks are
/// random.
struct RandomRun {
  std::uint64_t seed = 0;
  std::string config;
  RandomGroup world;
  std::vector<std::optional<std::int64_t>> colours;  ///< colour of each thread in the split
  std::vector<std::int64_t> keys;
  std::vector<RandomGroup> groups;  ///< groups of the split
};
RandomRun random_run(std::uint64_t seed, std::size_t operations);

/// Appends one random operation for each collective in `all` to the operations of the group.
/// Requires: `group.threads` is set.
void draw_operations(std::mt19937_64& random, RandomGroup& group, const paths::Plan& plan,
                     std::span<const collectives::Collective> all);
/// Runs a member's part of all operations of a group. Returns the number of wrong results.
std::uint64_t wrong_operations_of(groups::Group& group, paths::Thread& thread,
                                  const RandomGroup& all, std::uint64_t seed);

/// Runs one thread's part of `run`. Several operations are under way at the same time. The thread
/// pauses between their starts. Returns the number of wrong results.
std::uint64_t wrong_operations(paths::Thread& thread, const RandomRun& run);

/// Draws a run and checks it with all hosts in this process.
void try_operations(std::uint64_t seed, runtime::ClockKind clock, std::size_t operations);
/// Draws a run and checks it with each host in a process of its own.
void try_between_processes(std::uint64_t seed, std::size_t operations);
/// Runs allreduces on the virtual clock until a thread throws at a random time. Checks that either
/// all other threads get an error, or no other thread does.
void try_to_fail(std::uint64_t seed);
/// Runs allreduces between processes until one process is killed at a random time. Checks that all
/// other processes get an error that names the killed process. If `is_one_cluster`, the hosts use
/// shared memory. Otherwise they are in two clusters with an emulated link.
void try_to_kill(std::uint64_t seed, bool is_one_cluster);

}  // namespace test_support
