// SPDX-License-Identifier: Apache-2.0
// tests/groups/mapped_arrays_real.cpp — allreduces of arrays that the processes of a machine map
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/reduce.hpp"
#include "groups/group.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/processes.hpp"

namespace {

using Bytes = std::vector<std::byte>;
using test_support::Say;
using test_support::say_error;
using test_support::Sim;

constexpr std::size_t many = 40'000;  // doubles, too many to fold them at once

Sim hosts_of_a_machine(int hosts, const std::string& deadline = "20s") {
  return Sim(
      test_support::network_line("ipc", hosts) +
      fmt::format("deadline: {}\nclusters: {{a: {{hosts: {}}}}}\nlanes:\n", deadline, hosts));
}

/// Starts the hosts. Checks that each host ends without an error and prints only the line `line`.
void check_each_says(const Sim& sim, const std::string& line, const test_support::HostThread& run) {
  auto hosts = test_support::start_hosts(sim, run);
  test_support::each_end(hosts, [&](const std::string&, const auto& host, int code) {
    CHECK(code == 0);
    CHECK(host.text() == line + "\n");
  });
}

/// Fills an array with values that are small, so that few elements have no overflow, and whose sums
/// have different bits in different orders.
void fill(std::span<double> values, std::uint32_t rank) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1.0 / static_cast<double>(1 + rank + 11 * i);
}

/// Returns elements of a reduction whose values are small numbers. Some floating-point values are
/// NaN, infinite or -0 if `is_ieee`.
Bytes random_elements(std::mt19937_64& random, const base::ReduceShape& shape, bool is_ieee) {
  const std::size_t element = shape.bytes() / shape.count;
  Bytes bytes(shape.bytes());
  for (std::size_t i = 0; i < shape.count; ++i)
    base::with_scalar(shape.scalar, [&](auto zero) {
      using T = decltype(zero);
      T value = static_cast<T>(1 + random() % 2);
      if constexpr (std::is_floating_point_v<T>) {
        const T odd[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                         -std::numeric_limits<T>::infinity(), T(-0.0), T(0)};
        value = T(1) / static_cast<T>(1 + random() % 1000);
        if (is_ieee && random() % 8 == 0) value = odd[random() % 5];
      }
      std::memcpy(bytes.data() + i * element, &value, sizeof value);
      const auto location = static_cast<std::int64_t>(random() % 5);
      if (shape.located) std::memcpy(bytes.data() + i * element + sizeof value, &location, 8);
    });
  return bytes;
}

/// Returns what `sequential` computes: the contributions of all members, folded in order of ranks.
Bytes folded(groups::Group& world, const base::ReduceOperation& operation,
             const base::ReduceShape& shape, bool is_ieee, const Bytes& given) {
  std::vector<std::uint8_t> mine(given.size()), all(given.size() * world.size());
  std::memcpy(mine.data(), given.data(), given.size());
  world.run(groups::allgather(mine, all));
  const auto bytes = std::as_bytes(std::span(all));
  const auto of = [&](std::size_t rank) { return bytes.subspan(rank * mine.size(), mine.size()); };
  Bytes sum(of(0).begin(), of(0).end());
  const auto& combine =
      is_ieee && operation.combine_ieee ? operation.combine_ieee : operation.combine;
  for (std::size_t rank = 1; rank < world.size(); ++rank) combine(shape, sum, of(rank));
  return sum;
}

/// Returns the sums of the values that fill() gives to `members` members.
std::vector<double> sums(std::size_t count, std::uint32_t members) {
  std::vector<double> all(count), values(count);
  fill(all, 0);
  for (std::uint32_t rank = 1; rank < members; ++rank) {
    fill(values, rank);
    for (std::size_t i = 0; i < count; ++i) all[i] += values[i];
  }
  return all;
}

/// Random allreduces of mapped arrays. All members draw the same operations.
class RandomAllreduces {
 public:
  RandomAllreduces(groups::Group& world, std::uint64_t seed)
      : world_(world), same_(seed), own_(seed + 1 + world.rank()) {
    for (auto& array : arrays_) array = world.mapped_array<std::uint8_t>(array_bytes);
  }
  /// Returns "" if the result and the way of the operation are right.
  std::string run() {
    const auto scalar = static_cast<base::Scalar>(same_() % base::scalar_names().size());
    const auto names = base::reduce_operation_names();
    const base::ReduceOperation& operation = *base::reduce_operation(names[same_() % names.size()]);
    if (operation.accepts && !operation.accepts(scalar)) return "";
    const std::size_t element = base::ReduceShape{scalar, 1, operation.located}.bytes();
    const std::size_t bytes_most[] = {20'000, 70'000, array_bytes / 2};
    const base::ReduceShape shape{scalar, 1 + same_() % (bytes_most[same_() % 3] / element),
                                  operation.located};
    const bool is_ieee = same_() % 4 == 0, is_in_place = same_() % 2 == 0;
    const Bytes given = random_elements(own_, shape, is_ieee);
    const auto in = part(shape.bytes()), out = is_in_place ? in : part(shape.bytes());
    const bool is_apart = in.data() == out.data() || in.data() + in.size() <= out.data() ||
                          out.data() + out.size() <= in.data();
    if (!is_apart) return "";
    groups::Call call = groups::allreduce(arrays_[0], arrays_[0], operation.name);
    call.scalar = scalar;
    call.values = is_ieee ? base::Values::ieee : base::Values::checked;
    const Bytes expected = folded(world_, operation, shape, is_ieee, given);
    std::ranges::copy(given, in.begin());
    call.in = in;
    call.out = out;
    world_.run(call);
    const std::string text =
        fmt::format("{} {} of {} bytes{}", operation.name, base::scalar_name(scalar), shape.bytes(),
                    is_in_place ? " in place" : "");
    if (!std::ranges::equal(out, expected)) return "wrong " + text;
    if (!is_in_place && !std::ranges::equal(in, given)) return "changed `in`: " + text;
    const bool is_large = shape.bytes() > std::size_t{16} << 10;
    const auto name = is_large ? groups::mapped_arrays_name : groups::shared_memory_name;
    return world_.last_algorithm() == name ? "" : text + " by " + world_.last_algorithm();
  }

 private:
  static constexpr std::size_t array_bytes = 600'000;
  std::span<std::byte> part(std::size_t bytes) {
    const auto& array = arrays_[same_() % 2];
    const auto all = std::as_writable_bytes(std::span(array.data(), array.size()));
    return all.subspan(same_() % (all.size() - bytes + 1), bytes);
  }
  groups::Group& world_;
  std::mt19937_64 same_, own_;
  groups::MappedArray<std::uint8_t> arrays_[2];
};

}  // namespace

// The cases with this tag do not run under the thread sanitizer, which does not see how processes
// affect each other's memory.
TEST_CASE("groups: allreduces of mapped arrays have the bits of sequential", "[without_tsan]") {
  test_support::add_composition();
  const int hosts = GENERATE(2, 3, 5);
  check_each_says(hosts_of_a_machine(hosts), "right", [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    RandomAllreduces operations(world, 7);
    for (std::uint64_t i = 0; i < test_support::or_fewer(150); ++i)
      if (const std::string wrong = operations.run(); !wrong.empty()) return say(wrong);
    say("right");
  });
}

TEST_CASE("groups: if members pass different parts of mapped arrays then the sum is right",
          "[without_tsan]") {
  check_each_says(hosts_of_a_machine(3), "right", [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread), other(thread, "other");
    const auto first = world.mapped_array<double>(2 * many),
               second = world.mapped_array<double>(many),
               foreign = other.mapped_array<double>(many);
    std::vector<double> ordinary(many);
    const std::vector<double> expected = sums(many, world.size());
    const std::span<double> own(ordinary), left = std::span(first).first(many),
                                           right = std::span(first).last(many), two(second);
    // Arrays of the last member, whose other members pass `left` and `two`.
    const std::pair<std::span<double>, std::span<double>> pairs[] = {
        {right, two}, {two, left}, {left, left},
        {own, two},   {left, own}, {std::span(foreign), two}};
    for (const auto& [in, out] : pairs) {
      const bool is_last = world.rank() == 2;
      fill(own, world.rank());
      const auto my_in = is_last ? in : left, my_out = is_last ? out : two;
      fill(my_in, world.rank());
      world.run(groups::allreduce(my_in, my_out, "sum"));
      if (!std::ranges::equal(my_out, expected)) say("wrong");
      if (world.last_algorithm() != groups::shared_memory_name) say(world.last_algorithm());
    }
    fill(foreign, world.rank());
    other.run(groups::allreduce(foreign, foreign, "sum"));
    if (!std::ranges::equal(foreign, expected)) say("wrong");
    if (other.last_algorithm() == groups::mapped_arrays_name) say("right");
  });
}

TEST_CASE("groups: broadcasts of mapped arrays copy the values of the root", "[without_tsan]") {
  check_each_says(hosts_of_a_machine(3), "right", [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    const auto array = world.mapped_array<double>(10 * many);
    std::vector<double> ordinary(many), expected(10 * many);
    for (std::uint32_t round = 0; round < 30; ++round) {
      const std::uint32_t root = round % 3;
      const std::size_t size = round % 2 == 0 ? 10 * many : 2'049 + round;
      const std::span<double> part = std::span(array).last(size);
      std::ranges::fill(part, -1);
      if (world.rank() == root) fill(part, round);
      fill(expected, round);
      world.run(groups::broadcast(part, root));
      if (!std::ranges::equal(part, std::span(expected).first(size))) say("wrong");
      if (world.last_algorithm() != groups::mapped_arrays_name) say(world.last_algorithm());
      // One member copies to ordinary memory.
      const std::span<double> few = std::span(array).first(many);
      if (world.rank() == root) fill(few, round);
      const std::span<double> to = world.rank() == (root + 1) % 3 ? std::span(ordinary) : few;
      world.run(groups::broadcast(to, root));
      if (!std::ranges::equal(to, std::span(expected).first(many))) say("wrong");
      if (world.last_algorithm() != groups::shared_memory_name) say(world.last_algorithm());
    }
    say("right");
  });
}

TEST_CASE("groups: a call with a destroyed mapped array differs from the calls of other members") {
  const Sim sim = hosts_of_a_machine(2);
  auto hosts = test_support::start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    auto array = world.mapped_array<double>(many);
    if (world.rank() == 1) {
      const auto taken = std::move(array);
    }
    say_error(say, [&] { world.run(groups::allreduce(array, array, "sum")); });
  });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK_THAT(host.line("told: "), Catch::Contains("'allreduce sum f64, 40000 by best'") &&
                                        Catch::Contains("'allreduce sum f64, 0 by best'"));
  }
}

TEST_CASE("groups: a mapped array is unmapped after its last operation, and others keep theirs") {
  check_each_says(hosts_of_a_machine(2), "right", [](paths::Thread& thread, const Say& say) {
    const auto mappings = [] {
      std::ifstream maps("/proc/self/maps");
      int found = 0;
      for (std::string line; std::getline(maps, line);)
        found += line.find("paths-arrays") != std::string::npos ? 1 : 0;
      return found;
    };
    groups::Group world(thread);
    auto array = world.mapped_array<double>(many);
    const auto out = world.mapped_array<double>(many);
    if (mappings() != 2) say("not mapped");
    std::ranges::fill(array, 2);
    auto sum = world.start(groups::allreduce(array, out, "sum"));
    array = {};
    sum.wait();
    if (mappings() != 1) say("still mapped");
    if (!std::ranges::all_of(out, [](double value) { return value == 4; })) say("wrong");
    world.run(groups::allreduce(out, out, "sum"));
    if (world.rank() == 1) array = out;  // a copy keeps the array
    if (std::ranges::all_of(out, [](double value) { return value == 8; })) say("right");
  });
}

// Does not run under sanitizers, which cannot work with this limit of the address space.
TEST_CASE("groups: if a process cannot map arrays then all have ordinary memory",
          "[without_asan][without_tsan]") {
  const std::uint32_t poor = GENERATE(0, 2);
  check_each_says(hosts_of_a_machine(3), "right", [poor](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    world.run(groups::barrier());
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    if (world.rank() == poor) {
      std::uint64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      rlimit limit = before;
      limit.rlim_cur = pages * 4096 + (std::uint64_t{700} << 10);
      setrlimit(RLIMIT_AS, &limit);
    }
    const auto array = world.mapped_array<double>(many);
    setrlimit(RLIMIT_AS, &before);
    fill(array, world.rank());
    world.run(groups::allreduce(array, array, "sum"));
    if (!std::ranges::equal(array, sums(many, world.size()))) return say("wrong");
    if (world.last_algorithm() == groups::shared_memory_name) say("right");
  });
}

TEST_CASE("groups: mapped arrays of different sizes are an error on every member") {
  const Sim sim = hosts_of_a_machine(3);
  auto hosts = test_support::start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    say_error(say, [&] { world.mapped_array<double>(10 + world.rank()); });
    const auto array = world.mapped_array<double>(10);  // the group can still be used
    say(fmt::format("then {}", array.size()));
  });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    const int bytes = name == "a-0" ? 80 : name == "a-1" ? 88 : 96;
    CHECK_THAT(host.line("told: "),
               Catch::Contains(fmt::format("expected the same size on all members, found {} bytes "
                                           "here, and 80 to 96 bytes in the group",
                                           bytes)));
    CHECK(host.lines("then 10").size() == 1);
  }
}

TEST_CASE("groups: a wrong value in a mapped array is named with its thread and index") {
  const bool is_in_place = GENERATE(true, false);
  const Sim sim = hosts_of_a_machine(3);
  auto hosts = test_support::start_hosts(sim, [=](paths::Thread& thread, const Say& say) {
    groups::Group nan(thread, "nan"), overflow(thread, "overflow");
    const auto in = nan.mapped_array<double>(many), out = nan.mapped_array<double>(many);
    if (nan.rank() == 1) in[39'000] = std::numeric_limits<double>::quiet_NaN();
    say_error(say, [&] { nan.run(groups::allreduce(in, is_in_place ? in : out, "sum")); });
    const auto numbers = overflow.mapped_array<std::int32_t>(many),
               sums = overflow.mapped_array<std::int32_t>(many);
    numbers[30'000] = std::numeric_limits<std::int32_t>::max();
    try {
      overflow.run(groups::allreduce(numbers, is_in_place ? numbers : sums, "sum"));
    } catch (const paths::TravelError& error) {
      say(fmt::format("overflow: {}", error.what()));
    }
  });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK_THAT(host.line("told: "),
               Catch::Contains("thread a-1/0: NaN") && Catch::Contains("at index 39000"));
    CHECK_THAT(host.line("overflow: "),
               Catch::Contains("at index 30000") && !Catch::Contains("thread a-"));
  }
}

TEST_CASE("groups: a process killed amid allreduces of mapped arrays is named", "[without_tsan]") {
  const int moment = GENERATE(range(0, 8));
  const Sim sim = hosts_of_a_machine(4);
  auto hosts = test_support::start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    std::unique_ptr<groups::Group> pair;
    if (thread.rank() < 2)
      pair = std::make_unique<groups::Group>(thread, "pair", std::vector<std::uint32_t>{0, 1});
    auto in = world.mapped_array<double>(many), out = world.mapped_array<double>(many);
    const auto is_out = [&out](double sum) {
      return std::ranges::all_of(out, [sum](double value) { return value == sum; });
    };
    std::ranges::fill(in, 1);
    say_error(say, [&] {
      for (int round = 0;; ++round) {
        world.run(groups::allreduce(in, out, "sum"));
        if (!is_out(4)) say("wrong");
        if (round == 0) say("begun");
      }
    });
    in = out = {};
    if (pair == nullptr) return;
    in = out = pair->mapped_array<double>(many);
    std::ranges::fill(in, 1);
    pair->run(groups::allreduce(in, out, "sum"));
    if (is_out(2)) say("went on by " + pair->last_algorithm());
  });
  for (auto& [name, host] : hosts) REQUIRE(host.says("begun"));
  test_support::pause(std::chrono::microseconds(1'700 * moment));
  test_support::kill_host(hosts, moment % 2 == 0 ? "a-2" : "a-3");
  const auto check = [&](const std::string& name, const test_support::HostProcess& host, int code) {
    CHECK(code >= 0);
    CHECK(host.lines("wrong").empty());
    CHECK_THAT(host.line("told: "), Catch::Contains(moment % 2 == 0 ? "a-2" : "a-3"));
    CHECK(host.lines("went on by shared_memory:mapped").size() ==
          (name == "a-0" || name == "a-1" ? 1 : 0));
  };
  test_support::each_end(hosts, check, 15'000);  // milliseconds; less than the deadline
}

namespace {

constexpr const char* stopping = "sum, in which a process may stop";
bool stops_in_fold = false;

void add_stopping_sum() {
  static const bool is_added = [] {
    base::ReduceOperation operation = *base::reduce_operation("sum");
    operation.name = stopping;
    operation.elements = nullptr;
    operation.combine = [](const base::ReduceShape& shape, std::span<std::byte> left,
                           std::span<const std::byte> right) {
      if (std::exchange(stops_in_fold, false)) std::raise(SIGSTOP);
      base::reduce_operation("sum")->combine(shape, left, right);
    };
    base::add_reduce_operation(operation);
    return true;
  }();
  (void)is_added;
}

std::byte* page_to_stop_at = nullptr;

/// Stops this process before it writes to the page `page_to_stop_at`.
void stop_at_page() {
  mprotect(page_to_stop_at, 4096, PROT_READ);
  struct sigaction action {};
  action.sa_handler = [](int) {
    std::raise(SIGSTOP);
    mprotect(page_to_stop_at, 4096, PROT_READ | PROT_WRITE);
  };
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

TEST_CASE("groups: a process frozen while it reads mapped arrays never returns changed values",
          "[without_tsan]") {
  add_stopping_sum();
  const bool is_in_fold = GENERATE(true, false);
  const Sim sim = hosts_of_a_machine(2, "1s");
  auto hosts = test_support::start_hosts(sim, [=](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    auto in = world.mapped_array<double>(many), out = world.mapped_array<double>(many);
    std::ranges::fill(in, 1);
    world.run(groups::allreduce(in, out, stopping));
    if (world.rank() == 1) {
      // This process folds the second half, and copies the first half.
      page_to_stop_at = reinterpret_cast<std::byte*>(out.data());
      stops_in_fold = is_in_fold;
      if (!is_in_fold) stop_at_page();
      say("stops");
    }
    say_error(say, [&] {
      world.run(groups::allreduce(in, out, stopping));
      say("no error");
    });
    std::ranges::fill(in, -1);
    std::ranges::fill(out, -1);
    in = out = {};
    say("freed");
  });
  REQUIRE(hosts.at("a-1").says("stops"));
  REQUIRE(hosts.at("a-0").says("freed"));
  hosts.at("a-1").signal_it(SIGCONT);
  for (auto& [name, host] : hosts) {
    CHECK(host.end(15'000) >= 0);
    INFO(name << ": " << host.text());
    CHECK(host.lines("no error").empty());
    CHECK_THAT(host.line("told: "), Catch::Contains("waited for host a-1"));
    CHECK(host.lines("freed").size() == 1);
  }
}
