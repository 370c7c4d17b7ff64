// SPDX-License-Identifier: Apache-2.0
// tests/paths/shared_elements_real.cpp — elements in memory that several hosts of a machine map.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "pastset/shared/space.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "runtime/processes/descriptor_door.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr std::uint64_t moves_each = 500;

/// Returns the config of three hosts. The first host has two elements that all hosts reach: the
/// bounded `work`, and `sums`.
std::string mapped_config(const std::string& shared) {
  return network_line("ipc", 3) + "deadline: 20s\n" +
         fmt::format(R"(
clusters: {{alpha: {{hosts: 3, threads: 1}}}}
elements:
  work: {{host: alpha-0, template: "u64, f64[]", delta: 8, shared: {0}, reach: all}}
  sums: {{host: alpha-0, template: "f64", shared: {0}, reach: all}}
)",
                     shared);
}

const pastset::Template& work_template() {
  static const auto text = *pastset::Template::parse("u64, f64[]");
  return text;
}

base::Payload work_of(std::uint64_t rank, std::uint64_t i) {
  pastset::TupleWriter tuple(work_template());
  const std::vector<double> values(1 + i % 40, 0.5 * static_cast<double>(i));
  tuple.put(rank).put_array<double>(values);
  return tuple.payload();
}

double sum_of(const base::Payload& work, std::uint64_t& rank) {
  const pastset::TupleReader tuple(work_template(), work);
  rank = tuple.get<std::uint64_t>(0);
  double sum = 0;
  for (const double value : tuple.get_array<double>(1)) sum += value;
  return sum;
}

/// Prints a sum for each of the two threads that move tuples. The order of their moves does not
/// change the sums.
void sum_up(paths::Thread& thread, const Say& say) {
  paths::Path &work = thread.path("work"), &sums = thread.path("sums");
  work.enter(work_template());
  if (thread.rank() > 0) {
    for (std::uint64_t i = 0; i < moves_each; ++i) work.move(work_of(thread.rank(), i));
    say(fmt::format("sums {} {}", sums.observe(0).payload.read<double>(),
                    sums.observe(1).payload.read<double>()));
    return;
  }
  std::map<std::uint64_t, double> by_rank;
  for (std::uint64_t i = 0; i < 2 * moves_each; ++i) {
    const pastset::Stored stored = work.observe();
    std::uint64_t rank = 0;
    const double sum = sum_of(stored.payload, rank);
    by_rank[rank] += sum;
    work.axe(stored.number);
  }
  for (const auto& [rank, sum] : by_rank) sums.move_value(sum);
  say(fmt::format("sums {} {}", by_rank[1], by_rank[2]));
}

std::vector<std::string> in_one_process(const Sim& sim, runtime::ClockKind clock) {
  std::vector<std::string> said;
  runtime::Mutex mutex;
  const Say say = [&](const std::string& line) {
    const runtime::Lock lock(mutex);
    said.push_back(line);
  };
  sim.run_well([&](paths::Thread& thread) { sum_up(thread, say); }, clock);
  return said;
}

}  // namespace

TEST_CASE(
    "shared elements: virtual clock and threads and processes give equal sums without frames") {
  const std::string shared = GENERATE("true", "{slots: 16, memory: 4KiB}", "false");
  INFO("shared: " << shared);
  const Sim sim(mapped_config(shared));
  const auto expected = in_one_process(sim, runtime::ClockKind::virtual_time);
  REQUIRE(expected.size() == 3);
  CHECK(std::count(expected.begin(), expected.end(), expected[0]) == 3);
  CHECK(in_one_process(sim, runtime::ClockKind::steady) == expected);
  auto processes = start_hosts(sim, sum_up, [](const paths::RunSummary& run, const Say& say) {
    for (const paths::Host* host : run.hosts) {
      const auto traffic = host->deployment().traffic().all("work");
      say(fmt::format("frames {}", traffic.messages));
    }
  });
  each_end(processes, [&](const std::string&, const HostProcess& process, int code) {
    CHECK(code == 0);
    CHECK(process.lines("sums ") == std::vector<std::string>{expected[0].substr(5)});
    const auto frames = process.lines("frames ");
    REQUIRE(frames.size() == 1);
    CHECK((frames[0] == "0") == (shared != "false"));
  });
}

TEST_CASE("shared elements: a tuple written in memory of its path is read where it was written") {
  const bool is_shared = GENERATE(true, false);
  const Sim sim(network_line("ipc", 2) + fmt::format(R"(
deadline: 20s
clusters: {{alpha: {{hosts: 2, threads: 1}}}}
elements:
  large: {{host: alpha-0, template: "u8[1048576]", shared: {}, reach: all}}
)",
                                                     is_shared));
  const auto work = [](paths::Thread& thread, const Say& say) {
    paths::Path& large = thread.path("large");
    large.first();  // makes the path find the element, whose memory buffer() then uses
    base::Buffer buffer = large.buffer(1 << 20);
    std::memset(buffer.bytes().data(), 7, buffer.size());
    const base::Payload written = std::move(buffer).freeze();  // freeze() does not copy the bytes
    const pastset::Stored stored = large.observe(large.move(written).number);
    const auto bytes = stored.payload.bytes();
    const bool is_there = bytes.data() == written.bytes().data();
    say(fmt::format("it is {}{}", is_there ? "where it was" : "elsewhere",
                    bytes.back() == std::byte{7} ? "" : ", and wrong"));
  };
  auto processes = start_hosts(sim, work);
  each_end(processes, [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    const bool is_in_place = is_shared || name == "alpha-0";
    CHECK(process.lines("it is ") ==
          std::vector<std::string>{is_in_place ? "where it was" : "elsewhere"});
  });
}

TEST_CASE("shared elements: neighbours exchange tuples without frames and see each other's end") {
  const bool is_shared = GENERATE(true, false);
  const Sim sim(network_line("ipc", 3) +
                "deadline: 20s\nclusters: {alpha: {hosts: 3, threads: 1}}\n" +
                "exchanges: {rows: {template: u64" + (is_shared ? ", shared: true}}\n" : "}}\n"));
  constexpr std::uint64_t rounds = 2000;
  const auto work = [](paths::Thread& thread, const Say& say) {
    const std::uint64_t rank = thread.rank(), last = thread.threads() - 1;
    const auto path = [&](std::uint64_t into, const char* from) -> paths::Path& {
      return thread.path(fmt::format("rows.{}.from_{}", into, from));
    };
    std::uint64_t sum = 0;
    const auto take = [&](const char* from) {
      const pastset::Stored stored = path(rank, from).observe();
      path(rank, from).axe(stored.number);
      sum += stored.payload.read<std::uint64_t>();
    };
    for (std::uint64_t i = 0; i < rounds; ++i) {
      if (rank < last) path(rank + 1, "previous").push(base::Payload::of(i * (rank + 1)));
      if (rank > 0) path(rank - 1, "next").push(base::Payload::of(i * (rank + 1)));
      if (rank > 0) take("previous");
      if (rank < last) take("next");
    }
    say(fmt::format("sum {}", sum));
    if (rank != 0) return;
    say("told " + thrown<paths::TravelError>([&] { path(0, "next").observe(); }));
  };
  auto processes = start_hosts(sim, work, [](const paths::RunSummary& run, const Say& say) {
    for (const paths::Host* host : run.hosts)
      for (const char* const element : {"rows.1.from_previous", "rows.1.from_next"})
        say(fmt::format("frames {}", host->deployment().traffic().all(element).messages));
  });
  const std::uint64_t all = rounds * (rounds - 1) / 2;
  const std::vector<std::uint64_t> sums = {2 * all, 4 * all, 2 * all};
  std::uint64_t frames = 0;
  for (std::size_t rank = 0; rank < sums.size(); ++rank) {
    HostProcess& process = processes.at(fmt::format("alpha-{}", rank));
    CHECK(process.end() == 0);
    INFO(process.text());
    CHECK(process.lines("sum ") == std::vector<std::string>{std::to_string(sums[rank])});
    for (const std::string& count : process.lines("frames ")) frames += std::stoull(count);
  }
  CHECK((frames == 0) == is_shared);
  const auto told = processes.at("alpha-0").lines("told ");
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Catch::Contains("alpha-1") && Catch::Contains("has ended"));
}

TEST_CASE("shared elements: others may map a host's space as far as the config allows") {
  const bool may_write = GENERATE(false, true);
  const Sim sim(mapped_config("true") + "shared_spaces: {access: others may " +
                (may_write ? "write" : "read") + "}\n");
  const auto work = [&](paths::Thread& thread, const Say& say) {
    thread.path("sums").move_value(0.5 * thread.rank());
    if (thread.rank() == 0) say("has moved");
    thread.sleep_for(60s);
  };
  auto processes = start_hosts(sim, work);
  CHECK(processes.at("alpha-0").says("has moved"));
  const auto pid = processes.at("alpha-0").pid();
  base::Descriptor memory;
  for (const auto& door : runtime::DescriptorDoor::all()) {
    base::Descriptor handed_out = runtime::DescriptorDoor::knock(door.user, door.name);
    if (!handed_out || !door.name.starts_with("alpha-0.")) continue;
    const auto space = pastset::SharedSpace::map(base::Descriptor(dup(handed_out.get())));
    const auto owner = space->mapping().processes().owner();
    if (owner &&
        space->mapping().processes().all().at(*owner).pid == static_cast<std::uint32_t>(pid))
      memory = std::move(handed_out);
  }
  REQUIRE(memory);
  const auto space = pastset::SharedSpace::map(std::move(memory));
  CHECK(space->mapping().may_write() == may_write);
  CHECK(space->names() == std::vector<std::string>{"sums", "work"});
  CHECK(space->find("sums")->newest().payload.size() == sizeof(double));
  for (auto& [name, process] : processes) process.kill_it();
}

TEST_CASE("shared elements: a waiter gets an error that names a killed host") {
  const bool is_owner = GENERATE(true, false);
  INFO((is_owner ? "the element's host" : "the one that moves"));
  const Sim sim(mapped_config("true"));
  // Host `waiter` waits for a tuple while host `killed` is killed.
  const std::uint32_t waiter = is_owner ? 1 : 0, killed = is_owner ? 0 : 1;
  const auto work = [&](paths::Thread& thread, const Say& say) {
    paths::Path& path = thread.path("work");
    const std::uint32_t rank = thread.rank();
    if (rank == 1) path.move(work_of(1, 0));
    if (rank == waiter) {
      path.observe(0);
      say("waits");
      path.observe(1);
    }
    if (rank == 2) return;
    say("is there");
    thread.sleep_for(60s);
  };
  auto processes = start_hosts(sim, work);
  HostProcess& victim = processes.at(sim.plan().hosts[killed].name);
  HostProcess& left = processes.at(sim.plan().hosts[waiter].name);
  CHECK(left.says("waits"));
  CHECK(victim.says("is there"));
  const std::string who = fmt::format("process {} (alpha-{})", victim.pid(), killed);
  victim.kill_it();
  CHECK(left.says("failed: "));
  INFO(left.text());
  CHECK(left.end() == 1);
  CHECK_THAT(left.text(), Catch::Contains(who) && Catch::Contains("has died"));
  CHECK(processes.at("alpha-2").end() != -1);
}
