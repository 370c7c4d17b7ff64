// SPDX-License-Identifier: Apache-2.0
// tests/paths/session_process_real.cpp — sessions in separate processes, and their output.
#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/session_scene.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("session: a thread whose handle another thread drops stays attached until it ends") {
  HostProcess process([](const Say& say) {
    const Sim sim(two_hosts);
    Session session = session_of(sim);
    std::optional<Attached> attached;
    std::promise<void> is_attached, is_dropped;
    OwnThread owner([&] {
      attached.emplace(session.attach("alpha-0", 1));
      is_attached.set_value();
      is_dropped.get_future().wait();
    });
    is_attached.get_future().wait();
    attached.reset();
    say("then: " + mistake_of([&] { session.attach("alpha-0", 1); }));
    is_dropped.set_value();
    owner.join();
    session.attach("alpha-0", 1).detach();
    return session.end().empty() ? 0 : 1;
  });
  CHECK(process.end() == 0);
  CHECK_THAT(process.text(), Catch::Contains("[warning] thread alpha-0/1: dropped by main thread: "
                                             "it stays attached until its own thread ends"));
  CHECK(process.lines("then: ") ==
        std::vector<std::string>{"attach to thread alpha-0/1, which another thread is"});
}

TEST_CASE("session: a session dropped before its threads detach ends with the last of them") {
  HostProcess process([](const Say& say) {
    const Sim sim(two_hosts);
    auto session = std::make_unique<Session>(sim.shared_plan(), sim.kinds());
    Attached one = session->attach("alpha-0", 0);
    session.reset();
    one->path("work").move_value(std::int64_t{3});
    const auto element = one->host().element("work");
    say(fmt::format("found: {}", one->path("work").observe().payload.read<std::int64_t>()));
    one.detach();
    say(fmt::format("deleted: {}", element->is_deleted()));
    return 0;
  });
  CHECK(process.end() == 0);
  CHECK_THAT(process.text(),
             Catch::Contains("[warning] a session was dropped while threads are attached, and ends "
                             "when they detach: thread alpha-0/0"));
  CHECK(process.lines("found: ") == std::vector<std::string>{"3"});
  // The line is printed at the end of the program.
  CHECK(process.lines("deleted: ") == std::vector<std::string>{"true"});
}

TEST_CASE("session: it handles no signal and changes no handler of the program") {
  const auto handlers = [] {
    std::vector<void (*)(int)> all;
    for (int number = 1; number < 32; ++number) {
      struct sigaction now {};
      sigaction(number, nullptr, &now);
      all.push_back(now.sa_handler);
    }
    return all;
  };
  HostProcess process([&](const Say& say) {  // a new process, in which no run has changed a handler
    const auto before = handlers();
    const Sim sim(two_hosts);
    Session session = session_of(sim);
    by_four(session, [](Attached& attached, int) { sum(attached, 1); });
    say(handlers() == before ? "same" : "changed");
    for (const std::string& failure : session.end()) say("failed: " + failure);
    return handlers() == before ? 0 : 1;
  });
  CHECK(process.end() == 0);
  CHECK(process.lines("same").size() == 1);
}

TEST_CASE("session: hosts of several processes connect over sockets with a session each") {
  const std::string transport = GENERATE(from_range(every_transport()));
  const Sim sim(network_line(transport, 2) + two_hosts);
  std::vector<HostProcess> processes;
  for (std::uint32_t host = 0; host < 2; ++host)
    processes.emplace_back([&sim, host](const Say& say) {
      Session session = session_of(sim, {.is_one_host = true, .host = host, .run_key = run_key()});
      const std::string& mine = sim.plan().hosts[host].name;
      const std::string& other = sim.plan().hosts[1 - host].name;
      say("other: " + mistake_of([&] { session.attach(other, 0); }));
      for (int time = 0; time < 2; ++time) {
        std::vector<OwnThread> threads;
        for (std::uint32_t index = 0; index < 2; ++index)
          threads.emplace_back([&, index] {
            Attached attached = session.attach(mine, index);
            std::int64_t all = 0;
            for (int round = 0; round < 100; ++round)
              all += sum(attached, attached->rank() + round);
            if (host == 1) attached->path("work").move_value(all);
            if (host == 0) all = attached->path("work").observe().payload.read<std::int64_t>();
            say(fmt::format("sum: {}", all));
          });
        for (OwnThread& thread : threads) thread.join();
      }
      for (const std::string& failure : session.end()) say("failed: " + failure);
      return 0;
    });
  for (HostProcess& process : processes) {
    CHECK(process.end() == 0);
    CHECK(process.lines("failed: ").empty());
    CHECK(process.lines("sum: ") == std::vector<std::string>(4, "20400"));
  }
  CHECK(processes[0].lines("other: ") ==
        std::vector<std::string>{
            "attach to thread alpha-1/0, of another process: this one is host alpha-0"});
}

TEST_CASE("session: a process that exits without ending its session is a dead host to the others") {
  const Sim sim(network_line("ipc", 2) + R"(
clusters: {alpha: {hosts: 2, threads: 1}}
collectives: {sum: {operation: sum, template: i64}}
elements: {work: {host: alpha-0, template: i64, keep_newest: 0, reach: all}}
)");
  HostProcess dying([&sim](const Say& say) -> int {
    Session session = session_of(sim, {.is_one_host = true, .host = 1});
    Attached one = session.attach("alpha-1", 0);
    one->path("work").move_value(std::int64_t{1});
    say("moved");
    _exit(0);
  });
  HostProcess living([&sim](const Say& say) {
    Session session = session_of(sim, {.is_one_host = true});
    Attached one = session.attach("alpha-0", 0);
    one->path("work").observe();
    say("told: " + thrown<paths::TravelError>([&] { sum(one, 1); }));
    one.detach();
    for (const std::string& failure : session.end()) say("failed: " + failure);
    return 0;
  });
  CHECK(dying.says("moved"));
  CHECK(living.end() == 0);
  CHECK_THAT(living.line("told: "), Catch::Contains("host alpha-1 is gone"));
  CHECK_THAT(living.line("failed: "), Catch::Contains("host alpha-1 is gone"));
}

TEST_CASE("session: a launcher's choice of the virtual clock is refused") {
  HostProcess process([](const Say& say) {
    setenv("PATHS_CLOCK", "virtual", 1);
    const Sim sim(two_hosts);
    say("told: " + mistake_of([&] { session_of(sim); }));
    return 0;
  });
  CHECK(process.end() == 0);
  CHECK_THAT(process.line("told: "), Catch::Contains("PATHS_CLOCK"));
}

TEST_CASE("session: a session dropped by a thread attached to another session ends") {
  HostProcess process([](const Say& say) {
    const Sim sim(two_hosts);
    auto dropped = std::make_unique<Session>(sim.shared_plan(), sim.kinds());
    std::shared_ptr<pastset::Element> element;
    {
      const Attached one = dropped->attach("alpha-0", 0);
      one->path("work").move_value(std::int64_t{3});
      element = one->host().element("work");
    }
    Session session = session_of(sim);
    Attached me = session.attach("alpha-0", 0);
    dropped.reset();
    say(fmt::format("deleted: {}", element->is_deleted()));
    me.detach();
    return session.end().empty() ? 0 : 1;
  });
  CHECK(process.end() == 0);
  INFO(process.text());
  CHECK(process.lines("deleted: ") == std::vector<std::string>{"true"});
  CHECK(process.text().find("the end of a session:") == std::string::npos);
}

TEST_CASE("session: a forked process gets usage errors from its session and may end") {
  HostProcess process([](const Say& say) {
    const Sim sim(two_hosts);
    Session session = session_of(sim);
    std::optional<Attached> attached = session.attach("alpha-0", 0);
    const pid_t child = fork();
    if (child == 0) {
      say("attach: " + mistake_of([&] { session.attach("alpha-0", 1); }));
      say("end: " + mistake_of([&] { session.end(); }));
      say("move: " + mistake_of([&] { sum(*attached, 1); }));
      say("detach: " + mistake_of([&] { attached->detach(); }));
      attached.reset();
      return 0;  // the destructor of the session runs too
    }
    int status = -1;
    waitpid(child, &status, 0);
    attached.reset();
    return status == 0 && session.end().empty() ? 0 : 1;
  });
  CHECK(process.end() == 0);
  const std::string by_fork = " in a process that was made by fork";
  CHECK(process.lines("attach: ") ==
        std::vector<std::string>{"attach to thread alpha-0/1" + by_fork});
  CHECK(process.lines("end: ") == std::vector<std::string>{"the end of a session" + by_fork});
  CHECK_THAT(process.line("move: "), Catch::EndsWith("this process was made by fork"));
  CHECK(process.lines("detach: ") ==
        std::vector<std::string>{"thread alpha-0/0: detach" + by_fork});
}
