// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_test.cpp — analysis of runs in which the times and the causes of delays
// are known.
#include "eventspace/analysis/analysis.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/eventspace/sample_run.hpp"
#include "tests/support/time_sums.hpp"

namespace {

using namespace eventspace;
using sample::ms;
using sample::us;

struct Fed {
  std::uint64_t iterations = 1000;
  /// Number of rounds whose records a host delivers together, in one chunk.
  std::size_t rounds_at_once = 100;
  std::uint32_t lost_host = none_lost;
  std::uint64_t lost_from = 0;  ///< first round whose records are lost
  bool has_lives = true;
  AnalysisOptions options = {};
  static constexpr std::uint32_t none_lost = 0xffffffff;
};

Report analyse(sample::Run& run, const Fed& fed = {}) {
  Analysis analysis(run.structure, fed.options);
  std::vector<std::vector<EventRecord>> chunks(run.structure.hosts.size());
  const auto flush = [&] {
    for (std::uint32_t host = 0; host < chunks.size(); ++host) {
      analysis.add(host, chunks[host]);
      chunks[host].clear();
    }
  };
  for (std::uint64_t round = 0; round < fed.iterations; ++round) {
    const auto& records = run.next_round();
    for (std::uint32_t host = 0; host < chunks.size(); ++host) {
      if (host == fed.lost_host && round >= fed.lost_from) continue;
      chunks[host].insert(chunks[host].end(), records[host].begin(), records[host].end());
    }
    if (round % fed.rounds_at_once == fed.rounds_at_once - 1) flush();
  }
  flush();
  if (fed.has_lives) {
    const auto& lives = run.thread_records();
    for (std::uint32_t host = 0; host < lives.size(); ++host) analysis.add(host, lives[host]);
  }
  Report report = analysis.finish();
  test_support::check_sums(report.time);
  return report;
}

Report analyse(sample::Options options, const Fed& fed = {}) {
  sample::Run run(std::move(options));
  return analyse(run, fed);
}

template <typename Rows, typename Is>
const auto& the(const Rows& rows, const Is& is) {
  const auto found = std::find_if(rows.begin(), rows.end(), is);
  REQUIRE(found != rows.end());
  return *found;
}
const JoinReport& join_of(const Report& report, const std::string& name) {
  return the(report.joins, [&](const JoinReport& one) { return one.place.wrapper == name; });
}
const ThreadReport& thread_of(const Report& report, const std::string& name) {
  return the(report.threads, [&](const ThreadReport& one) { return one.name == name; });
}
const LinkReport& link_of(const Report& report, const std::string& name) {
  return the(report.links, [&](const LinkReport& one) { return one.place.wrapper == name; });
}

/// Checks that the report has exactly one finding, and that it is of this kind.
const Finding& only_finding(const Report& report, FindingKind kind) {
  INFO(to_text(report));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == kind);
  return report.findings[0];
}

void check_all_equal(const Summary& summary, std::uint64_t count, std::int64_t value) {
  CHECK(summary.count == count);
  CHECK(summary.min == value);
  CHECK(summary.p50 == value);
  CHECK(summary.max == value);
  CHECK(summary.mean == Approx(static_cast<double>(value)));
}

}  // namespace

TEST_CASE("analysis: a run without causes has no findings") {
  for (const std::int64_t wan : {0 * ms, 5 * ms, 30 * ms}) {
    const Report report = analyse({.wan = wan});
    INFO(to_text(report));
    CHECK(report.findings.empty());
    CHECK(report.coverage.unknown == 0);
    CHECK(report.coverage.without_computation == 0);
    REQUIRE(report.critical.size() == 1);
    CHECK(report.critical[0].rounds == 1000);
    CHECK(report.critical[0].incomplete_rounds == 0);
    CHECK(to_text(report).find("every host, thread and link is like its equals") !=
          std::string::npos);
  }
}

TEST_CASE("analysis: natural differences of 1% between computations are not findings") {
  const Report report = analyse({.jitter = [](std::uint32_t thread, std::uint64_t iteration) {
    return static_cast<std::int64_t>((thread * 7919 + iteration * 104729) % 301) * us;
  }});
  INFO(to_text(report));
  CHECK(report.findings.empty());
}

TEST_CASE("analysis: the computations of a thread are the gaps between its operations") {
  const Report report = analyse(sample::Options{});
  CHECK(report.threads.size() == 16);
  for (const ThreadReport& thread : report.threads)
    // The trace has the begin of each thread, so the first computation of a thread is known, too.
    check_all_equal(thread.computation, 1000, 30 * ms);
  const Report without = analyse(sample::Options{}, {.has_lives = false});
  check_all_equal(without.threads[0].computation, 999, 30 * ms);
}

TEST_CASE("analysis: two-way network time is the near side's time minus the far side's") {
  const Report report = analyse(sample::Options{});
  CHECK(report.crossings.size() == 8);  // 3 in each cluster, and 2 from beta to alpha
  for (const CrossingReport& crossing : report.crossings) {
    check_all_equal(crossing.two_way, 1000, 100 * us);
    CHECK(crossing.one_way_half_mean == Approx(50.0 * us));
    CHECK(crossing.messages == 2000);
    CHECK(crossing.is_wan ==
          (crossing.to_host == "alpha-0" && crossing.place.host == "beta-gateway"));
  }
}

TEST_CASE("analysis: waits and departures and last arrivers of a join match the run") {
  // In the first round, beta's contribution arrives 5.1 ms after the contribution of alpha. It
  // takes longer by two crossings of 50 us and the link of 5 ms.
  const Report report = analyse(sample::Options{});
  const JoinReport& root = join_of(report, "sum.join");
  CHECK(root.rounds == 1000);
  REQUIRE(root.contributors.size() == 2);
  CHECK(root.contributors[0].name == "sum.join.alpha");
  CHECK(root.contributors[1].name == "sum.join.beta");
  CHECK(root.contributors[1].last == 1000);
  CHECK(root.contributors[1].is_remote);
  CHECK_FALSE(root.contributors[0].is_remote);
  check_all_equal(root.contributors[1].arrival_wait, 1000, 0);
  check_all_equal(root.through, 1000, 1 * us);
  check_all_equal(root.below, 1000, 3 * us);
  check_all_equal(root.departure_spread, 1000, 0);
  // In the first round, all threads begin at the same time. In later rounds the threads of beta
  // begin up to 5.1 ms later, because they get the previous result later.
  CHECK(root.contributors[0].arrival_wait.min == 5 * ms + 100 * us);
  CHECK(root.contributors[0].arrival_wait.max == 10 * ms + 200 * us);
  CHECK(root.contributors[0].arrival_wait.p50 == 10 * ms + 200 * us);
  const JoinReport& host = join_of(report, "sum.join.beta-1");
  CHECK(host.contributors[0].name == "beta-1/0");
  CHECK(host.contributors[0].last + host.contributors[1].last == 1000);
}

TEST_CASE("analysis: of equal arrivals the one flagged as last counts as last") {
  // All threads of a host arrive at the join at the same time. The generated trace (sample_run.hpp)
  // marks the first of these threads as the last to arrive.
  const Report report = analyse(sample::Options{});
  CHECK(join_of(report, "sum.join.alpha-2").contributors[0].last == 1000);
}

TEST_CASE("analysis: links have their given times separately per direction") {
  const Report report = analyse({.slow_links = {{"wan.beta.alpha", 2.0}}});
  const LinkReport& slow = link_of(report, "wan.beta.alpha");
  check_all_equal(slow.travel, 1000, 10 * ms);
  CHECK(slow.declared_nanos == 5 * ms);
  CHECK(slow.from_cluster == "beta");
  CHECK(slow.to_cluster == "alpha");
  CHECK(slow.is_wan);
  CHECK(slow.source == "collectors around it");
  check_all_equal(link_of(report, "wan.alpha.beta").travel, 1000, 5 * ms);
  CHECK(link_of(report, "wan.alpha.beta").from_cluster == "alpha");
  const Finding& finding = only_finding(report, FindingKind::slow_link);
  CHECK(finding.place.wrapper == "wan.beta.alpha");
  CHECK(finding.figure == Approx(2.0));
  CHECK(finding.cost_nanos == 1000 * 5 * ms);
}

TEST_CASE("analysis: without a declared latency a link is compared with its opposite direction") {
  sample::Run run({.slow_links = {{"wan.beta.alpha", 1.5}}});
  for (Structure::Wrapper& wrapper : run.structure.wrappers) wrapper.settings = "";
  const Report report = analyse(run);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].place.wrapper == "wan.beta.alpha");
  CHECK(report.findings[0].figure == Approx(1.5));
}

TEST_CASE("analysis: of many links one that is slow in both directions is found among its kind") {
  sample::Run run({.clusters = {"alpha", "beta", "gamma", "delta", "epsilon"},
                   .slow_links = {{"wan.gamma.alpha", 2.0}, {"wan.alpha.gamma", 2.0}}});
  for (Structure::Wrapper& wrapper : run.structure.wrappers)
    if (wrapper.name == "wan.gamma.alpha" || wrapper.name == "wan.alpha.gamma")
      wrapper.settings = "latency: 10ms";  // the declared latency is the real latency
  const Report report = analyse(run);
  REQUIRE(report.findings.size() == 2);
  for (const Finding& finding : report.findings) {
    CHECK(finding.kind == FindingKind::slow_link);
    CHECK(finding.place.wrapper.find("gamma") != std::string::npos);
    CHECK(finding.figure == Approx(2.0));
  }
}

TEST_CASE("analysis: links are compared if the middle half of them is within a factor of 1.1") {
  // All links to and from alpha are compared. In the order of their latencies, a link of epsilon is
  // the upper end of the middle half (interquartile range).
  for (const auto& [epsilon, are_alike] : {std::pair{1.09, true}, std::pair{1.11, false}}) {
    sample::Run run({.clusters = {"alpha", "beta", "gamma", "delta", "epsilon"},
                     .slow_links = {{"wan.gamma.alpha", 2.0},
                                    {"wan.alpha.gamma", 2.0},
                                    {"wan.epsilon.alpha", epsilon},
                                    {"wan.alpha.epsilon", epsilon}}});
    for (Structure::Wrapper& wrapper : run.structure.wrappers)
      if (wrapper.kind == "emulate_link") wrapper.settings = "";  // no latency is declared
    const Report report = analyse(run);
    INFO(to_text(report));
    CHECK(report.findings.size() == (are_alike ? 2 : 0));
    for (const Finding& finding : report.findings)
      CHECK(finding.place.wrapper.find("gamma") != std::string::npos);
  }
}

TEST_CASE("analysis: records of a link itself exclude the queueing in it") {
  sample::Run run(sample::Options{});
  std::uint32_t stage = 0;
  while (run.structure.wrapper_of(stage).name != "wan.beta.alpha") ++stage;
  Analysis analysis(run.structure);
  EventRecord record;
  record.place = stage;
  record.kind = static_cast<std::uint64_t>(EventKind::link);
  record.slot = 70'000;
  record.up_nanos = 5'070'000;
  record.bytes = 8;
  const std::uint32_t host = run.structure.host_of(stage);
  for (int i = 0; i < 10; ++i) analysis.add(host, std::span(&record, 1));
  const Report report = analysis.finish();
  const LinkReport& link = link_of(report, "wan.beta.alpha");
  CHECK(link.source == "link records");
  check_all_equal(link.travel, 10, 5 * ms);
  check_all_equal(link.queued, 10, 70 * us);
  CHECK(link.payload_bytes == 80);
}

TEST_CASE("analysis: a slow host is named with its percentage and its threads are not noisy") {
  for (const double factor : {1.05, 1.2, 1.5}) {
    const Report report = analyse({.slow_hosts = {{"beta-2", factor}}});
    const Finding& finding = only_finding(report, FindingKind::slow_host);
    CHECK(finding.place.host == "beta-2");
    CHECK(finding.place.cluster == "beta");
    CHECK(finding.figure == Approx((factor - 1) * 100).epsilon(1e-6));
    // All other hosts wait for the slow host, so the cost is the additional time of its
    // computations.
    const auto more = static_cast<std::int64_t>(30.0 * ms * factor) - 30 * ms;
    CHECK(finding.cost_nanos == 1000 * more);
    CHECK(thread_of(report, "beta-2/0").outliers == 0);
  }
}

TEST_CASE("analysis: a slow thread is named if its host as a whole is not slow") {
  // Thread 9 is the second thread of host beta-0. Its noise occurs several times in each
  // computation. The thread therefore appears as slow, not as noisy.
  const Report report = analyse(
      {.noise = {{.thread = 9, .nanos = 1 * ms, .period_nanos = 5 * ms, .first_nanos = 0}}});
  const Finding& finding = only_finding(report, FindingKind::slow_thread);
  CHECK(finding.thread == "beta-0/1");
  CHECK(finding.place.host == "beta-0");
  CHECK(finding.place.cluster == "beta");
  CHECK(finding.figure == Approx(20));
  CHECK(finding.cost_nanos == 1000 * 6 * ms);
  CHECK(to_json(report)["findings"][0]["thread"] == "beta-0/1");
}

TEST_CASE("analysis: if all threads of a host are slow only the host is named") {
  sample::Options options;
  for (const std::uint32_t thread : {8u, 9u})
    options.noise.push_back(
        {.thread = thread, .nanos = 1 * ms, .period_nanos = 5 * ms, .first_nanos = 0});
  const Report report = analyse(options);
  CHECK(only_finding(report, FindingKind::slow_host).place.host == "beta-0");
}

TEST_CASE(
    "analysis: a thread that is slow in most but not all computations is noisy and not slow") {
  const Report report =
      analyse({.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
        return thread == 9 && iteration % 5 != 0 ? 6 * ms : 0;
      }});
  only_finding(report, FindingKind::noisy_thread);
}

TEST_CASE("analysis: of the only two threads of a cluster the slower is named") {
  const Report report =
      analyse({.hosts = 1, .jitter = [](std::uint32_t thread, std::uint64_t) -> std::int64_t {
                 return thread == 3 ? 3 * ms : 0;
               }});
  const Finding& finding = only_finding(report, FindingKind::slow_thread);
  CHECK(finding.thread == "beta-0/1");
  CHECK(finding.figure == Approx(10));
}

TEST_CASE("analysis: a delay of results on one host is a separate cause and not a slow link") {
  const Report report = analyse({.broadcast_delay = 7 * ms});
  INFO(to_text(report));
  const CriticalReport& critical = report.critical.at(0);
  const auto cause = [&](Cause one) { return critical.by_cause[static_cast<std::size_t>(one)]; };
  CHECK(cause(Cause::broadcast_delay) == 1000 * 7 * ms);
  CHECK(cause(Cause::link) == 1000 * 10 * ms);
  CHECK(to_json(report)["critical_paths"][0]["nanos_by_cause"]["broadcast delay"] == 1000 * 7 * ms);
  only_finding(report, FindingKind::late_broadcast);
}

TEST_CASE("analysis: computation and communication of the last arriver vary independently") {
  // The threads of beta arrive last. They compute for 30 ms and 32 ms alternately. Communication
  // always takes the same time.
  const CriticalReport critical = analyse({.jitter = [](std::uint32_t, std::uint64_t iteration) {
                                    return static_cast<std::int64_t>(iteration % 2) * 2 * ms;
                                  }}).critical.at(0);
  CHECK(critical.computation.deviation == Approx(1.0 * ms).epsilon(0.01));
  CHECK(critical.communication.deviation == Approx(0).margin(1));
  CHECK(critical.communication.p50 == 10 * ms + 306 * us);
  CHECK(critical.iteration.mean == Approx(critical.computation.mean + critical.communication.mean));
}

TEST_CASE(
    "analysis: a run of too many records is divided as far as they fit, and the report says so") {
  const Report whole = analyse({}, {.options = {.has_common_clock = true}});
  const Report first =
      analyse({}, {.options = {.divided_operations = 10'000, .has_common_clock = true}});
  CHECK_FALSE(whole.time.is_cut);
  REQUIRE(first.time.is_cut);
  CHECK(first.time.run_nanos < whole.time.run_nanos);
  CHECK(first.time.iterations.count > 10);
  CHECK(first.time.iterations.length.p50 == whole.time.iterations.length.p50);
  CHECK(first.time.predicted_nanos == first.time.run_nanos);
  CHECK(whole.time.predicted_nanos == whole.time.run_nanos);
  CHECK(to_text(first).find("The run has too many records.") != std::string::npos);
}

TEST_CASE("analysis: hosts of a cluster that are slow alike are one finding") {
  sample::Options options;
  options.hosts = 8;
  options.slow_hosts = {{"beta-2", 1.2}, {"beta-5", 1.21}, {"beta-6", 1.2}, {"beta-7", 1.5}};
  const Report report = analyse(options);
  INFO(to_text(report));
  REQUIRE(report.findings.size() == 2);
  const Finding& alike =
      the(report.findings, [](const Finding& one) { return !one.hosts.empty(); });
  CHECK(alike.hosts == std::vector<std::string>{"beta-5", "beta-2", "beta-6"});
  CHECK_THAT(alike.sentence, Catch::StartsWith("3 hosts of beta compute 21.0% longer"));
  CHECK(the(report.findings, [](const Finding& one) { return one.hosts.empty(); }).place.host ==
        "beta-7");
}

TEST_CASE("analysis: the summary is one screen and tables and all findings need an option") {
  sample::Options options;
  options.hosts = 30;
  options.threads = 1;
  for (int host = 10; host < 18; ++host)
    options.slow_hosts["beta-" + std::to_string(host)] = std::pow(1.2, host - 9);
  Fed fed;
  fed.iterations = 50;
  fed.lost_host = 3;
  fed.lost_from = 40;
  const Report report = analyse(options, fed);
  REQUIRE(report.findings.size() == 8);
  const std::string summary = to_text(report, 0, {"no file of 1 hosts: gamma-1"});
  INFO(summary);
  CHECK(std::count(summary.begin(), summary.end(), '\n') <= 30);
  CHECK(summary.find("no file of 1 hosts: gamma-1; 10 rounds lack records of host alpha-3") !=
        std::string::npos);
  CHECK(summary.find("  5. host") != std::string::npos);
  CHECK(summary.find("  6. host") == std::string::npos);
  CHECK(summary.find("... and 3 more") != std::string::npos);
  CHECK(summary.find("sum: 40 rounds") != std::string::npos);
  CHECK(summary.find("Joins") == std::string::npos);
  CHECK(summary.substr(summary.find("--rows 20")) ==
        "--rows 20 shows tables of threads, joins, links and paths; --html FILE shows all of it\n");
  const std::string tables = to_text(report, 20);
  for (const char* heading : {"Critical paths", "Late threads", "Clusters in total", "Computation",
                              "Joins", "Network", "Links", "Paths", "  8. host"})
    CHECK(tables.find(heading) != std::string::npos);
  CHECK(tables.find("--rows 20") == std::string::npos);
}

TEST_CASE("analysis: periodic noise is found with amount and period and only on its thread",
          "[without_asan]") {
  for (const std::int64_t period : {100 * ms, 61 * ms, 250 * ms, 1234 * ms}) {
    const Report report = analyse(
        {.noise = {{.thread = 11, .nanos = 5 * ms, .period_nanos = period, .first_nanos = 3 * ms}}},
        {.iterations = 5000});
    INFO(to_text(report));
    const ThreadReport& thread = thread_of(report, "beta-1/1");
    CHECK(thread.noise_median_nanos == 5 * ms);
    CHECK(thread.noise_nanos == static_cast<std::int64_t>(thread.outliers) * 5 * ms);
    CHECK(thread.base_nanos == 30 * ms);
    REQUIRE(thread.periods.size() == 1);
    CHECK(thread.periods[0].nanos == Approx(static_cast<double>(period)).epsilon(0.001));
    const bool is_much = thread.noise_share >= 0.005;
    CHECK(report.findings.size() == (is_much ? 1 : 0));
    if (!is_much) continue;
    CHECK(report.findings[0].kind == FindingKind::noisy_thread);
    CHECK(report.findings[0].thread == "beta-1/1");
    CHECK(report.findings[0].figure == Approx(5.0 * ms));
  }
}

TEST_CASE("analysis: noise in most computations is still noise and not a slow host") {
  const Report report = analyse(
      {.threads = 1,
       .noise = {{.thread = 6, .nanos = 5 * ms, .period_nanos = 43 * ms, .first_nanos = 0}}},
      {.iterations = 5000});
  CHECK(only_finding(report, FindingKind::noisy_thread).thread == "beta-2/0");
}

TEST_CASE(
    "analysis: iterations in which a thread was late compared with its own mean are counted") {
  // Thread 3 is 7 ms late in every 10th iteration, so its mean computation is 30.7 ms. Thread 12 is
  // 40 ms late in every 100th iteration, so its mean computation is 30.4 ms. Thread 1 is 2 ms late
  // in one of each hundred iterations.
  const Report report =
      analyse({.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
        if (thread == 3 && iteration % 10 == 0) return 7 * ms;
        if (thread == 12 && iteration % 100 == 50) return 40 * ms;
        if (thread == 1 && iteration % 100 == 5) return 2 * ms;
        return 0;
      }});
  REQUIRE(report.lateness.size() == 1);
  const LatenessReport& lateness = report.lateness[0];
  CHECK(lateness.iterations == 1000);
  CHECK(lateness.over == std::array<std::uint64_t, 4>{110, 100, 10, 10});
  // All threads wait for beta, so the noise of thread 12 costs 10 * 40 ms, and noise in alpha is
  // hidden. An exception is the first iteration, which all threads begin at the same time. In it,
  // the 7 ms of thread 3 exceed the delay of beta, 5.1 ms, by 1.9 ms. The noise of 1120 ms
  // therefore costs 401.9 ms, for which the 15 other threads wait.
  CHECK(lateness.noise_nanos == 700 * ms + 400 * ms + 20 * ms);
  CHECK(lateness.effective_noise_nanos == 401'900 * us);
  CHECK(lateness.absorbed_noise_nanos == 718'100 * us);
  CHECK(lateness.waited_for_noise_nanos == 15 * 401'900 * us);
  CHECK(lateness.noise_amplification == Approx(16 * 401.9 / 1120));
}

TEST_CASE("analysis: early analysis to save memory counts the same if nothing changes") {
  sample::Options options;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
    return thread == 3 && iteration % 10 == 0 ? 7 * ms : 0;
  };
  Fed fed;
  fed.options.computations = 2000;
  const Report report = analyse(options, fed);
  CHECK(report.coverage.judged_early > 10'000);
  CHECK(report.lateness[0].over == std::array<std::uint64_t, 4>{100, 100, 0, 0});
}

TEST_CASE("analysis: a late broadcast is attributed to the join that first woke its own threads") {
  const Report report = analyse({.late_replies = {{"sum.join.beta", 12 * ms}}});
  const Finding& finding = only_finding(report, FindingKind::late_broadcast);
  CHECK(finding.place.wrapper == "sum.join.beta");
  CHECK(finding.place.host == "beta-0");
  CHECK(finding.figure == Approx(12.0 * ms));
  CHECK(finding.cost_nanos == 1000 * 12 * ms);
  CHECK(join_of(report, "sum.join.beta").late_replies == 1000);
  check_all_equal(join_of(report, "sum.join.beta").departure_spread, 1000, 12 * ms);
}

TEST_CASE("analysis: a slow connection within a cluster is named by the host of its forward") {
  const Report report = analyse({.hosts = 6, .slow_forwards = {{"beta-3", 400 * us}}});
  const Finding& finding = only_finding(report, FindingKind::slow_network);
  CHECK(finding.place.host == "beta-3");
  // The report has the times of round trips: 900 us for the slow connection of beta-3, and 100 us
  // for the connections of the other hosts. The figure of the finding is the quotient, 9.
  CHECK(finding.figure == Approx(9.0));
  // The operation of the last thread to arrive crosses the slow connection twice. Each crossing
  // takes 400 us longer.
  CHECK(finding.cost_nanos == 1000 * 800 * us);
}

TEST_CASE("analysis: several causes at once are all named and nothing else is") {
  const Report report = analyse(
      {.clusters = {"alpha", "beta", "gamma"},
       .slow_hosts = {{"alpha-3", 1.2}},
       .noise = {{.thread = 12, .nanos = 5 * ms, .period_nanos = 100 * ms, .first_nanos = 0}},
       .slow_links = {{"wan.gamma.alpha", 2.0}},
       .late_replies = {{"sum.join.gamma", 20 * ms}}},
      {.iterations = 3000});
  INFO(to_text(report));
  std::map<FindingKind, std::string> named;
  for (const Finding& finding : report.findings)
    named[finding.kind] = finding.place.wrapper + finding.thread;
  CHECK(report.findings.size() == 4);
  CHECK(the(report.findings, [](const Finding& one) {
          return one.kind == FindingKind::slow_host;
        }).place.host == "alpha-3");
  CHECK(named[FindingKind::noisy_thread] == "beta-2/0");
  CHECK(named[FindingKind::slow_link] == "wan.gamma.alpha");
  CHECK(named[FindingKind::late_broadcast] == "sum.join.gamma");
}

TEST_CASE("analysis: the critical path of an iteration attributes all its time to causes") {
  const Report report = analyse({.slow_hosts = {{"beta-2", 1.2}}});
  const CriticalReport& critical = report.critical.at(0);
  // The critical path begins at thread beta-2/0. It consists of the computation of 36 ms, three
  // joins of 1 us, three crossings of 100 us, two links of 5 ms, and the store of 3 us. Only 999
  // computations count, because the begin of a thread's first computation becomes known only at the
  // end of the run.
  const auto cause = [&](Cause one) { return critical.by_cause[static_cast<std::size_t>(one)]; };
  CHECK(cause(Cause::computation) == 999 * 36 * ms);
  CHECK(cause(Cause::noise) == 0);
  CHECK(cause(Cause::join) == 1000 * 3 * us);
  CHECK(cause(Cause::network) == 1000 * 300 * us);
  CHECK(cause(Cause::link) == 1000 * 10 * ms);
  CHECK(cause(Cause::internal) == 1000 * 3 * us);
  CHECK(cause(Cause::check) == 0);
  check_all_equal(critical.iteration, 999, 46 * ms + 306 * us);
  REQUIRE(!critical.parts.empty());
  CHECK(critical.parts[0].what == "beta-2/0");
  CHECK(critical.parts[0].rounds == 1000);
  CHECK(thread_of(report, "beta-2/0").critical_rounds == 1000);
}

TEST_CASE("analysis: the WAN share of a path is its two-way time between clusters") {
  const Report report = analyse(sample::Options{});
  const PathReport& near =
      the(report.paths, [](const PathReport& one) { return one.host == "alpha-1"; });
  CHECK(near.wan_share == 0);
  check_all_equal(near.network_two_way, 2000, 100 * us);
  const PathReport& far =
      the(report.paths, [](const PathReport& one) { return one.host == "beta-1"; });
  check_all_equal(far.wan_two_way, 2000, 10 * ms + 100 * us);
  check_all_equal(far.network_two_way, 2000, 10 * ms + 300 * us);
  check_all_equal(far.total, 2000, 10 * ms + 306 * us);
  CHECK(far.wan_share == Approx(10.1 / 10.306));
}

TEST_CASE("analysis: noise whose period is a multiple of the iteration resonates") {
  // An iteration takes 40.306 ms: 30 ms of computation, two links of 5 ms, three crossings of 100
  // us, and 6 us in the joins and the store. Beta determines this time, so the noise of alpha's
  // threads is hidden. Noise that is not hidden would make iterations longer, and would then occur
  // at other points of later iterations.
  sample::Options options;
  options.noise = {
      {.thread = 1, .nanos = 5 * ms, .period_nanos = 2 * 40'306 * us, .first_nanos = 10 * ms}};
  const Report resonant = analyse(options);
  INFO(to_text(resonant));
  CHECK(thread_of(resonant, "alpha-0/1").periods.at(0).resonates);
  REQUIRE(resonant.findings.size() == 1);
  CHECK(resonant.findings[0].sentence.find("it resonates") != std::string::npos);
  options.noise[0].period_nanos = 100 * ms;
  const Report other = analyse(options);
  CHECK_FALSE(thread_of(other, "alpha-0/1").periods.at(0).resonates);
  CHECK(other.findings.at(0).sentence.find("resonates") == std::string::npos);
}

TEST_CASE("analysis: a finding names each period of a thread's noise") {
  sample::Options options;
  options.noise = {{.thread = 1, .nanos = 5 * ms, .period_nanos = 97 * ms, .first_nanos = 10 * ms},
                   {.thread = 1, .nanos = 9 * ms, .period_nanos = 530 * ms, .first_nanos = 0}};
  const Report report = analyse(options);
  INFO(to_text(report));
  REQUIRE(report.findings.size() == 1);
  const std::string& sentence = report.findings[0].sentence;
  CHECK(sentence.find("every 97.0") < sentence.find("and every "));
  const auto& periods = thread_of(report, "alpha-0/1").periods;
  REQUIRE(periods.size() == 2);
  CHECK(periods[0].nanos == Approx(97.0 * ms).epsilon(0.001));
  CHECK(periods[1].nanos == Approx(530.0 * ms).epsilon(0.001));
  CHECK(to_json(report)["threads"][1]["noise_periods_nanos_noise_computations"].size() == 2);
}

TEST_CASE("analysis: a period is expressed in iterations of mean length") {
  // All threads wait for beta. An iteration of 40.306 ms takes 10 ms longer if it contains an event
  // of this noise. The period of the noise is the time of five iterations, one of which contains an
  // event. Each event therefore occurs at the same point of its iteration.
  const Report report = analyse({.noise = {{.thread = 8,
                                            .nanos = 10 * ms,
                                            .period_nanos = 5 * 40'306 * us + 10 * ms,
                                            .first_nanos = 10 * ms}}});
  INFO(to_text(report));
  const ThreadReport& noisy = thread_of(report, "beta-0/0");
  CHECK(noisy.outliers == 200);
  CHECK(noisy.periods.at(0).iterations == Approx(5).epsilon(0.001));
  CHECK(noisy.periods.at(0).resonates);
}

TEST_CASE("analysis: a cause hidden behind others costs nothing and is named last") {
  // The messages of beta take 25 ms longer in one direction, and all threads wait for beta during
  // this time. This hides two other causes: the late replies and the slow connection in gamma cost
  // nothing.
  const Report report = analyse({.clusters = {"alpha", "beta", "gamma"},
                                 .hosts = 6,
                                 .slow_links = {{"wan.beta.alpha", 6.0}},
                                 .late_replies = {{"sum.join.gamma", 12 * ms}},
                                 .slow_forwards = {{"gamma-3", 400 * us}}});
  INFO(to_text(report));
  REQUIRE(report.findings.size() == 3);
  CHECK(report.findings[0].kind == FindingKind::slow_link);
  CHECK(report.findings[0].cost_nanos == 1000 * 25 * ms);
  for (const std::size_t hidden : {1u, 2u}) {
    CHECK(report.findings[hidden].kind != FindingKind::slow_link);
    CHECK(report.findings[hidden].cost_nanos == 0);
  }
  CHECK(join_of(report, "sum.join.gamma").late_reply_nanos == 1000 * 12 * ms);
}

TEST_CASE("analysis: hidden noise is absorbed and noise that all threads wait for is amplified") {
  // All threads wait for beta, which arrives about 10 ms after alpha because of its links. The
  // noise of 3 ms is hidden in thread 1 of alpha. All 16 threads wait for the noise of thread 11 of
  // beta.
  for (const auto& [thread, amplification] : {std::pair{1u, 0.0}, std::pair{11u, 16.0}}) {
    const LatenessReport lateness =
        analyse({.jitter = [noisy = thread](std::uint32_t one,
                                            std::uint64_t iteration) -> std::int64_t {
          return one == noisy && iteration % 10 == 5 ? 3 * ms : 0;
        }}).lateness.at(0);
    CHECK(lateness.noise_nanos == 100 * 3 * ms);
    CHECK(lateness.absorbed_noise_nanos == (thread == 1 ? 300 * ms : 0));
    CHECK(lateness.noise_amplification == Approx(amplification));
  }
}

TEST_CASE("analysis: the first and the last to leave a join are counted") {
  sample::Options options;
  // The first contributor is on the host of the join, so the reply to it is not late.
  options.late_replies = {{"sum.join.beta", 12 * ms}};
  const Report late = analyse(options);
  const JoinReport& join = join_of(late, "sum.join.beta");
  CHECK(join.contributors[0].left_first == 1000);
  CHECK(join.contributors[1].left_first == 0);
  CHECK(join.contributors[1].left_last == 1000);
  const Report all_at_once = analyse(sample::Options{});
  const JoinReport& together = join_of(all_at_once, "sum.join.beta");
  for (const auto& from : together.contributors) CHECK(from.left_first + from.left_last == 0);
}

TEST_CASE("analysis: a cluster has the totals of its hosts and threads") {
  const Report report = analyse(sample::Options{});
  REQUIRE(report.clusters.size() == 2);
  const ClusterReport& alpha = report.clusters[0];
  const ClusterReport& beta = report.clusters[1];
  CHECK(beta.name == "beta");
  CHECK(beta.hosts == 5);
  CHECK(beta.threads == 8);
  CHECK(beta.computation_nanos == 8 * 1000 * 30 * ms);
  CHECK(beta.critical_rounds == 1000);
  CHECK(alpha.critical_rounds == 0);
  CHECK(beta.wan_messages == 2000);
  CHECK(beta.wan_payload_bytes == 16'000);  // 8 bytes in each message, down and up
  CHECK(alpha.wan_messages == 0);
  CHECK(alpha.lan_messages == 3 * 2000);
  CHECK(alpha.records + beta.records == report.coverage.records);
  CHECK(to_json(report)["clusters"][1]["wan_messages"] == 2000);
}

TEST_CASE("analysis: records repeated after their round was complete begin no new round") {
  sample::Run run(sample::Options{});
  Analysis analysis(run.structure);
  std::uint64_t again = 0;
  for (int round = 0; round < 20; ++round) {
    const auto& records = run.next_round();
    for (std::uint32_t host = 0; host < records.size(); ++host) analysis.add(host, records[host]);
    if (round != 7) continue;
    again = records[2].size();
    analysis.add(2, records[2]);
  }
  const Report report = analysis.finish();
  CHECK(report.coverage.repeated == again);
  CHECK(report.critical[0].rounds == 20);
  CHECK(report.critical[0].incomplete_rounds == 0);
}

TEST_CASE("analysis: if records of a host are lost the rest is analysed and the loss reported") {
  Fed fed;
  fed.lost_host = 2;  // alpha-2
  fed.lost_from = 600;
  fed.options.open_rounds_bytes = 1 << 20;
  const Report report = analyse(sample::Options{}, fed);
  INFO(to_text(report));
  CHECK(report.findings.empty());
  CHECK(report.critical[0].rounds == 600);
  CHECK(report.critical[0].incomplete_rounds == 400);
  CHECK(report.hosts[2].missing_rounds == 400);
  CHECK(report.hosts[1].missing_rounds == 0);
  CHECK(join_of(report, "sum.join.alpha").rounds == 1000);  // host alpha-0 recorded all rounds
  CHECK(join_of(report, "sum.join.alpha-2").rounds == 600);
  CHECK(thread_of(report, "alpha-2/0").computation.count == 600);
  CHECK(to_text(report).find("400 rounds lack records of host alpha-2") != std::string::npos);
}

TEST_CASE("analysis: a gap in the operations of a thread is not a computation") {
  sample::Run run(sample::Options{});
  Analysis analysis(run.structure);
  sample::add_rounds(analysis, run, 10);
  for (int lost = 0; lost < 10; ++lost) run.next_round();
  sample::add_rounds(analysis, run, 10);
  const Report report = analysis.finish();
  CHECK(report.critical[0].rounds == 20);
  CHECK(report.coverage.without_computation == 16);
  check_all_equal(report.threads[0].computation, 18, 30 * ms);
}

TEST_CASE("analysis: records that match nothing are counted and otherwise ignored") {
  sample::Run run(sample::Options{});
  Analysis analysis(run.structure);
  std::vector<EventRecord> records(8);
  records[0].place = 1u << 30;  // a stage that does not exist
  records[1].place = 1;         // a stage of another host
  records[2].place = 1;         // a slot that does not exist
  records[2].slot = 77;
  records[3].kind = 99;  // a kind that does not exist
  records[4].kind = static_cast<std::uint64_t>(EventKind::thread);
  // A thread that does not exist.
  records[4].place = 123456;
  // A condition check that does not exist.
  records[5].kind = static_cast<std::uint64_t>(EventKind::cache_read);
  records[6].up_nanos = std::numeric_limits<std::int64_t>::min();
  records[7].down_nanos = -1;  // lasts about three hundred years
  records[7].up_nanos = std::numeric_limits<std::int64_t>::max();
  analysis.add(0, std::span(records).first(1));
  analysis.add(3, std::span(records).subspan(1, 1));
  analysis.add(0, std::span(records).subspan(2));
  analysis.add(99, std::span(records).first(2));
  const Report report = analysis.finish();
  CHECK(report.coverage.records == 10);
  CHECK(report.coverage.unknown >= 7);
  CHECK(report.findings.empty());
}

TEST_CASE("analysis: failed rounds are counted and left out of all figures") {
  sample::Run run(sample::Options{});
  Analysis analysis(run.structure);
  sample::add_rounds(analysis, run, 4);
  auto& failed = run.next_round();
  for (std::uint32_t host = 0; host < failed.size(); ++host) {
    for (EventRecord& record : failed[host]) record.flags = event_failed;
    analysis.add(host, failed[host]);
  }
  sample::add_rounds(analysis, run, 5);
  const Report report = analysis.finish();
  CHECK(report.critical[0].rounds == 9);
  CHECK(report.critical[0].failed_rounds == 1);
  CHECK(join_of(report, "sum.join").rounds == 9);
}

TEST_CASE("analysis: the JSON states the clocks of its figures and has all sections") {
  const auto json = to_json(analyse({.slow_hosts = {{"beta-2", 1.2}}}));
  for (const char* section :
       {"clocks", "coverage", "findings", "critical_paths", "lateness", "hosts", "threads", "joins",
        "crossings", "links", "stages", "paths", "conditionals"})
    CHECK(json.contains(section));
  CHECK(json["findings"][0]["kind"] == "slow_host");
  CHECK(json["findings"][0]["basis"] == "one host's own clock");
  CHECK(json["crossings"][0].contains("one_way_nanos_half_of_two_way"));
  CHECK(json["threads"].size() == 16);
}
