// SPDX-License-Identifier: Apache-2.0
// tests/groups/sessions_real.cpp — wrong use of groups and lanes: by other threads, after
// detaching, in a forked process, after the session.
#include <fmt/format.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>

#include "groups/group.hpp"
#include "paths/host/host.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/session_scene.hpp"

namespace {

using namespace test_support;
using Catch::Contains;

const std::string one_host = "clusters: {a: {hosts: 1, threads: 2}}\nlanes: {}\n";

std::string barrier_of(groups::Group& group) {
  return mistake_of([&group] { group.run(groups::barrier()); });
}

}  // namespace

TEST_CASE("groups of a session: only the member's own thread can call") {
  HostProcess process([](const Say& say) {
    const Sim sim(one_host);
    Session session = session_of(sim);
    std::optional<Attached> me = session.attach("a-0", 0);
    groups::Group group(me->thread(), "mine", std::vector<std::uint32_t>{0});
    group.run(groups::barrier());
    elsewhere([&] { say("other: " + barrier_of(group)); });
    elsewhere([&] {
      const Attached attached = session.attach("a-0", 1);
      say("attached: " + barrier_of(group));
    });
    me.reset();
    say("detached: " + barrier_of(group));
    return 0;
  });
  check_ends_well(process);
  for (const char* who : {"other: ", "attached: ", "detached: "})
    CHECK_THAT(process.line(who), Contains("group mine of thread a-0/0: barrier by"));
}

TEST_CASE("groups of a session: a group that outlives its session has no effect") {
  HostProcess process([](const Say& say) {
    const Sim sim(one_host);
    std::optional<groups::Group> group;
    {
      Session session = session_of(sim);
      Attached me = session.attach("a-0", 0);
      group.emplace(me.thread(), "mine", std::vector<std::uint32_t>{0});
      group->run(groups::barrier());
      me.detach();
      if (!session.end().empty()) return 1;
    }
    say("after: " + barrier_of(*group));
    group.reset();
    return 0;
  });
  check_ends_well(process);
  CHECK_THAT(process.line("after: "), Contains("its host has ended"));
}

TEST_CASE("groups of a session: a forked process gets an error and disturbs no other process") {
  const Sim sim(network_line("ipc", 2) + "deadline: 20s\nclusters: {a: {hosts: 2}}\nlanes: {}\n");
  auto hosts = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    std::optional<groups::Group> world;
    world.emplace(thread);
    auto lane = thread.host().lanes().group("lane", {0, 1});
    const std::vector<std::int64_t> mine(1000, 1);
    std::vector<std::int64_t> all(1000);
    world->run(groups::allreduce(mine, all, "sum"));
    if (thread.rank() == 0) {
      const pid_t child = fork();
      if (child == 0) {
        const std::vector<std::int64_t> wrong(1000, 100);
        say("group: " + mistake_of([&] { world->run(groups::allreduce(wrong, all, "sum")); }));
        say("lane: " + mistake_of([&] { lane->send(1, 0, base::Payload::of(1.0)); }));
        say("new: " + mistake_of([&] { thread.host().lanes().group("more", {0, 1}); }));
        world.reset();
        lane.reset();
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      say(fmt::format("child {}", status));
    }
    for (int i = 0; i < 3; ++i) world->run(groups::allreduce(mine, all, "sum"));
    say(fmt::format("sum {}", all[999]));
    if (thread.rank() == 0) lane->send(1, 0, base::Payload::of(1.0)).wait();
    if (thread.rank() == 1) lane->receive(0, 0).wait();
    lane->leave();
  });
  each_end(hosts, [](const std::string&, const HostProcess& host, int code) {
    CHECK(code == 0);
    CHECK(host.lines("sum 2").size() == 1);
  });
  auto& first = hosts.at("a-0");
  CHECK(first.lines("child 0").size() == 1);
  for (const char* what : {"group: ", "lane: ", "new: "})
    CHECK_THAT(first.line(what), Catch::EndsWith("this process was made by fork"));
}

TEST_CASE("lanes of a session: a thread that is not attached cannot wait for a message") {
  HostProcess process([](const Say& say) {
    const Sim sim("clusters: {a: {hosts: 2}}\nlanes: {}\n");
    Session session = session_of(sim);
    {
      const Attached me = session.attach("a-0", 0);
      auto lane = me->host().lanes().group("lane", {0, 1});
      auto receiving = lane->receive(1, 0);
      elsewhere([&] { say("wait: " + mistake_of([&] { receiving.wait(); })); });
    }
    return session.end().empty() ? 0 : 1;
  });
  check_ends_well(process);
  CHECK_THAT(process.line("wait: "), Contains("group lane: a message from host a-1 on channel "
                                              "0") &&
                                         Contains("attach it first"));
}
