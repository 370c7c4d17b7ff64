// SPDX-License-Identifier: Apache-2.0
// tests/groups/tracing_test.cpp — traces and reports of groups.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "eventspace/analysis/report/compare.hpp"
#include "eventspace/export/intervals.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using eventspace::Finding;
using eventspace::FindingKind;
using eventspace::GroupCause;
using eventspace::GroupEvent;
using eventspace::GroupReport;
using test_support::six_threads;
using test_support::TracedRun;
using namespace std::chrono_literals;

std::string three_clusters(const std::string& alpha_to_beta) {
  return "clusters:\n"
         "  alpha: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
         "  beta: {hosts: 3, network: {latency: 50us, bandwidth: 100Mbit}}\n"
         "  gamma: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
         "links:\n"
         "  - {between: [alpha, beta], " +
         alpha_to_beta +
         "}\n"
         "  - {between: [alpha, gamma], latency: 10ms, bandwidth: 100Mbit}\n"
         "  - {between: [beta, gamma], latency: 10ms, bandwidth: 100Mbit}\n"
         "lanes:\n";
}
constexpr const char* usual_link = "latency: 10ms, bandwidth: 100Mbit";

/// Returns a program that runs `times` allreduces. Before each allreduce, a thread computes for the
/// time that `computes` returns.
std::function<void(paths::Thread&)> sums(
    int times, std::size_t values,
    const std::function<base::Nanos(const std::string& thread)>& computes,
    const std::string& algorithm = "best") {
  return [=](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::int64_t> mine(values, world.rank());
    std::vector<std::int64_t> all(values);
    for (int time = 0; time < times; ++time) {
      thread.sleep_for(computes(fmt::format("{}/{}", thread.host().name(), thread.index())));
      world.run(groups::by(algorithm, groups::allreduce(mine, all, "sum")));
    }
  };
}

std::int64_t sum_of(const GroupReport& report) {
  return std::accumulate(report.by_cause.begin(), report.by_cause.end(), std::int64_t{0});
}

std::vector<std::string> found(const eventspace::TraceReport& report) {
  std::vector<std::string> all;
  for (const Finding& finding : report.report.findings)
    all.push_back(fmt::format("{} {}", finding_name(finding.kind),
                              finding.kind == FindingKind::slow_thread ? finding.thread
                              : finding.kind == FindingKind::slow_host
                                  ? finding.place.host
                                  : finding.sentence.substr(0, finding.sentence.find(" takes"))));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("group traces: each member and each step and each share is recorded once") {
  const TracedRun run(six_threads, [](paths::Thread& thread) {
    groups::Group world(thread);
    thread.sleep_for((1 + world.rank()) * 1ms);
    std::vector<std::int32_t> values(1000, 1), all(1000);
    world.run(groups::broadcast(values, 2));
    groups::Started started = world.start(groups::allreduce(values, all, "sum"));
    thread.sleep_for(1ms);
    started.wait();
  });
  std::map<std::uint32_t, std::set<std::uint32_t>> members;  // key: operation; value: its threads
  // Operation to which each share (one host's part of an operation) belongs.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> operation_of;
  std::vector<std::pair<std::uint32_t, eventspace::GroupMember>> came;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sent, received;
  for (const auto& [host, record] : run.records()) {
    if (is(record, GroupEvent::share)) {
      const auto share = eventspace::share_of(record);
      CHECK_FALSE(share.has_failed);
      CHECK(share.hosts == 4);
      CHECK(operation_of.emplace(std::pair(host, share.share), share.operation).second);
    }
    if (is(record, GroupEvent::member)) came.emplace_back(host, eventspace::member_of(record));
    if (!is(record, GroupEvent::step)) continue;
    const auto step = eventspace::step_of(record);
    CHECK(step.end_nanos >= step.begin_nanos);
    if (step.action == eventspace::GroupAction::send) sent[{host, step.peer}] += step.bytes;
    if (step.action == eventspace::GroupAction::receive) received[{step.peer, host}] += step.bytes;
  }
  CHECK(operation_of.size() == 2 * 4);
  for (const auto& [host, member] : came) {
    CHECK(members[operation_of.at({host, member.share})].insert(member.thread).second);
    CHECK(member.bytes == 4000);
    if (operation_of.at({host, member.share}) == 0)
      CHECK(member.begin_nanos == (1 + member.thread) * 1'000'000);
  }
  CHECK(members[0].size() == 6);
  CHECK(members[1].size() == 6);
  CHECK_FALSE(sent.empty());
  CHECK(sent == received);
}

TEST_CASE("group traces: a run on the virtual clock leaves the same records each time") {
  const auto program = sums(3, 5000, [](const std::string&) { return 1ms; });
  CHECK(TracedRun(six_threads, program).records() == TracedRun(six_threads, program).records());
}

TEST_CASE("group traces: exported operations of paths and groups are in order of time") {
  const TracedRun run(
      six_threads + "collectives:\n  sum: {operation: sum, template: f64, algorithm: best}\n",
      [](paths::Thread& thread) {
        groups::Group world(thread);
        std::vector<double> mine(100, 1.0), all(100);
        for (int round = 0; round < 3; ++round) {
          thread.sleep_for(5ms);
          thread.path("sum").move_value(1.0);
          thread.sleep_for(5ms);
          world.run(groups::allreduce(mine, all, "sum"));
        }
      });
  const eventspace::TraceDirectory trace = run.trace();
  const trace_sample::Folder scratch;
  eventspace::Intervals intervals(trace, eventspace::HostClocks::own(trace), scratch.path());
  struct InOrder : eventspace::IntervalVisitor {
    void see(std::uint32_t row, std::int64_t nanos) {
      is_in_order = is_in_order && nanos >= at[row];
      at[row] = nanos;
    }
    void enter(std::uint32_t, std::uint32_t row, const eventspace::Interval& one) override {
      see(row, one.begin_nanos), ++count;
    }
    void leave(std::uint32_t, std::uint32_t row, const eventspace::Interval& one) override {
      see(row, one.end_nanos);
    }
    void end_track(std::uint32_t) override { at.clear(); }
    std::map<std::uint32_t, std::int64_t> at;
    bool is_in_order = true;
    int count = 0;
  } seen;
  intervals.visit(seen);
  CHECK(seen.count > 100);
  CHECK(seen.is_in_order);
}

TEST_CASE("group traces: failed operations are counted with their completed parts") {
  const auto program = [](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<double> mine(1, world.rank() == 3 ? std::nan("") : 1);
    std::vector<double> all(1);
    world.run(groups::allreduce(mine, all, "sum"));
  };
  const TracedRun run(six_threads, program, 6);
  const auto report = run.report().report.groups;
  REQUIRE_FALSE(report.operations.empty());
  CHECK(report.operations[0].operations == 0);
  CHECK(report.operations[0].failed + report.operations[0].incomplete == 1);
}

TEST_CASE("group reports: causes add up to the time from the first arrival to the end") {
  for (const char* algorithm : {"best", "recursive_doubling", "stretched:stretch=4096", "tree"}) {
    INFO(algorithm);
    const TracedRun run(six_threads,
                        sums(
                            4, 100'000, [](const std::string&) { return 2ms; }, algorithm));
    const auto report = run.report().report.groups;
    REQUIRE(report.operations.size() == 1);
    const GroupReport& sum = report.operations[0];
    CHECK(sum.group == "world");
    CHECK(sum.collective == "allreduce");
    CHECK(sum.operations == 4);
    CHECK(sum.incomplete + sum.failed == 0);
    CHECK(sum.bytes.min == 800'000);
    CHECK(sum.time.mean * 4 == Approx(static_cast<double>(sum_of(sum))));
    CHECK(sum.by_cause[static_cast<std::size_t>(GroupCause::sending)] > 0);
    CHECK(sum.by_cause[static_cast<std::size_t>(GroupCause::latency)] >= 4 * 10'000'000);
    std::uint64_t sent = 0, of_hosts = 0;
    for (const auto& link : report.clusters) sent += link.bytes;
    for (const auto& link : report.hosts) of_hosts += link.bytes;
    CHECK(sent == of_hosts);
    CHECK(sent > 0);
  }
}

TEST_CASE("group reports: a run without causes has no findings") {
  const TracedRun run(three_clusters(usual_link),
                      sums(20, 1000, [](const std::string&) { return 5ms; }));
  CHECK(found(run.report()).empty());
}

TEST_CASE("group reports: a thread that computes longer is named with its lateness") {
  const TracedRun run(three_clusters(usual_link), sums(20, 1000, [](const std::string& thread) {
                        return thread == "alpha-1/0" ? 7ms : 5ms;
                      }));
  const auto report = run.report();
  CHECK(found(report) == std::vector<std::string>{"slow_thread alpha-1/0"});
  const GroupReport& sum = report.report.groups.operations.at(0);
  REQUIRE(sum.last_threads.size() == 1);
  CHECK(sum.last_threads[0].name == "alpha-1/0");
  CHECK(sum.last_threads[0].operations == 20);
  CHECK(sum.last_threads[0].late_nanos >= 20 * 1'000'000);
  CHECK(sum.by_cause[static_cast<std::size_t>(GroupCause::late_member)] >= 20 * 1'000'000);
  REQUIRE_FALSE(report.report.findings.empty());
  // The predicted cost is less than the time by which the thread is late. Without this delay,
  // another thread would be the last to arrive, and the group would still wait for that thread.
  CHECK(report.report.findings[0].is_predicted);
  CHECK(report.report.findings[0].cost_nanos > 0);
  CHECK(report.report.findings[0].cost_nanos < sum.last_threads[0].late_nanos);
}

TEST_CASE("group reports: a slow host is named instead of its threads") {
  const TracedRun run(three_clusters(usual_link), sums(20, 1000, [](const std::string& thread) {
                        return thread.starts_with("alpha-0/") || thread == "beta-2/0" ? 6ms : 5ms;
                      }));
  CHECK(found(run.report()) == std::vector<std::string>{"slow_host alpha-0", "slow_host beta-2"});
}

TEST_CASE("group reports: a link with more latency than the others is named in each direction") {
  const auto program = sums(20, 20'000, [](const std::string&) { return 5ms; });
  const TracedRun far(three_clusters("latency: 15ms, bandwidth: 100Mbit"), program);
  CHECK(found(far.report()) ==
        std::vector<std::string>{"slow_link a message of groups from alpha to beta",
                                 "slow_link a message of groups from beta to alpha"});
}

TEST_CASE("group reports: messages that queue for streams make no link slow") {
  const TracedRun run(R"(
clusters:
  a: {hosts: 2, network: {latency: 50us, bandwidth: 1Gbit}}
  b: {hosts: 2, network: {latency: 50us, bandwidth: 1Gbit}}
links: [{between: [a, b], latency: 10ms, bandwidth: 40Mbit, stream_rate: 20Mbit}]
lanes: {}
)",
                      sums(30, std::size_t{1} << 15, [](const std::string& thread) {
                        return thread == "b-1/0" ? 40ms : 20ms;
                      }));
  CHECK(found(run.report()) == std::vector<std::string>{"slow_host b-1"});
}

TEST_CASE("group reports: runs are compared by the times of operations with any schedules") {
  const auto report_of = [](const std::string& algorithm) {
    return TracedRun(six_threads, sums(
                                      40, 1000, [](const std::string&) { return 5ms; }, algorithm))
        .report()
        .report;
  };
  const auto before = report_of("recursive_doubling");
  const auto after = report_of("tree:shape=flat");
  const auto comparison = eventspace::compare(before, after);
  const auto one =
      std::find_if(comparison.figures.begin(), comparison.figures.end(),
                   [](const auto& figure) { return figure.figure == "after the last member"; });
  REQUIRE(one != comparison.figures.end());
  CHECK(one->what == "allreduce of group world");
  CHECK(one->is_one);
  CHECK(one->before == Approx(before.groups.operations.at(0).after_last.mean));
  CHECK(one->after == Approx(after.groups.operations.at(0).after_last.mean));
}

TEST_CASE(
    "group reports: a root that waits for a late member is reported as waiting for that member") {
  const TracedRun run(six_threads, [](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<std::int64_t> mine(100'000, 1), all(world.rank() == 0 ? 100'000 : 0);
    thread.sleep_for(world.rank() == 5 ? 40ms : 1ms);
    world.run(groups::reduce(mine, all, "sum", 0));
    world.run(groups::barrier());
    thread.sleep_for(world.rank() == 5 ? 40ms : 1ms);
    world.run(groups::broadcast(mine, 0));
  });
  const auto report = run.report().report.groups;
  REQUIRE(report.operations.size() == 3);
  for (const GroupReport& operations : report.operations) {
    INFO(operations.collective << " by " << operations.algorithm);
    for (const auto& part : operations.parts)
      UNSCOPED_INFO(part.what << ' ' << static_cast<int>(part.cause) << ' ' << part.nanos);
    if (operations.collective == "barrier") continue;
    REQUIRE_FALSE(operations.parts.empty());
    const auto late =
        std::find_if(operations.parts.begin(), operations.parts.end(),
                     [](const auto& part) { return part.cause == GroupCause::late_member; });
    REQUIRE(late != operations.parts.end());
    CHECK(late->what == "beta-1/0");
    CHECK(late->nanos >= 38'000'000);
  }
}
