// SPDX-License-Identifier: Apache-2.0
// tests/groups/random_operations.hpp — a random run of a random config with operations of a group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "paths/host/thread.hpp"
#include "runtime/runtime.hpp"
#include "tests/groups/reference.hpp"

namespace test_support {

/// Members, by rank, and what they do together.
struct RandomGroup {
  std::vector<std::uint32_t> threads;
  std::vector<Drawn> drawn;
};

/// Up to 3 clusters of up to 4 hosts with up to 3 threads do so many operations, all of them and
/// between these those of some groups that they split into: collectives, sizes, counts, roots and
/// schedules are drawn, and so are the members of groups and their ranks.
struct RandomRun {
  std::uint64_t seed = 0;
  std::string config;
  RandomGroup world;
  std::vector<std::optional<std::int64_t>> colours;  ///< by thread
  std::vector<std::int64_t> keys;
  std::vector<RandomGroup> groups;  ///< those of the split
};
RandomRun random_run(std::uint64_t seed, std::size_t operations);

/// Adds an operation of each of those collectives to the group, whose threads are known; all else
/// is drawn.
void draw_operations(std::mt19937_64& random, RandomGroup& group, const paths::Plan& plan,
                     std::span<const collectives::Collective> all);
/// A member's part of all operations of a group. Returns how many had a wrong result.
std::uint64_t wrong_operations_of(groups::Group& group, paths::Thread& thread,
                                  const RandomGroup& all, std::uint64_t seed);

/// One thread's part, with several under way and pauses: how many came to what they should not.
std::uint64_t wrong_operations(paths::Thread& thread, const RandomRun& run);

/// All of it in this process.
void try_operations(std::uint64_t seed, runtime::ClockKind clock, std::size_t operations);
/// Each host a process of its own.
void try_between_processes(std::uint64_t seed, std::size_t operations);
/// On the virtual clock a thread throws at a random moment.
void try_to_fail(std::uint64_t seed);
/// Hosts do one allreduce after the other until one of them is killed, at a random moment.
void try_to_kill(std::uint64_t seed);

}  // namespace test_support
