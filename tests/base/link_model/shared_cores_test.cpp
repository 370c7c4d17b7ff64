// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/shared_cores_test.cpp — work of hosts on the shared cores of machines,
// and the order of the work of one host
#include "base/link_model/shared_cores.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <vector>

#include "base/link_model/processor.hpp"

using base::Nanos;
using tuning::WorkKind;
using namespace std::chrono_literals;

namespace {

struct Request {
  std::uint32_t host;
  Nanos at, time;
};

/// Times in nanoseconds at which pieces of work end, in order; indexed by host.
using Ends = std::vector<std::vector<std::int64_t>>;

/// Returns the times at which the requests for work end. `requests` are sorted by time.
Ends ends_of(const std::vector<std::uint32_t>& machines, std::size_t cores,
             const std::vector<Request>& requests) {
  tuning::SharedCores<std::uint32_t> shared(machines, cores);
  std::vector<tuning::Processor<std::uint32_t>> processors(machines.size());
  Ends ends(machines.size());
  const auto begin_work = [&](Nanos now) {
    for (auto& processor : processors)
      if (const auto piece = processor.begin_next())
        shared.begin(piece->work, now, piece->time, piece->work);
  };
  const auto end_until = [&](Nanos limit) {
    while (shared.next_end() <= limit) {
      const Nanos now = shared.next_end();
      while (const auto host = shared.take_ended(now)) {
        ends[*host].push_back(now.count());
        processors[*host].end();
      }
      begin_work(now);
    }
  };
  for (const auto& [host, at, time] : requests) {
    end_until(at - 1ns);
    processors[host].request(time, host, WorkKind::receipt);
    begin_work(at);
  }
  end_until(Nanos::max() - 1ns);
  return ends;
}

}  // namespace

TEST_CASE("shared cores: with a core for each host, hosts do not slow each other down") {
  CHECK(ends_of({0, 0}, 2, {{0, 0ns, 10ns}, {1, 0ns, 7ns}, {0, 3ns, 5ns}}) == Ends{{10, 15}, {7}});
  CHECK(ends_of({0, 1}, 1, {{0, 0ns, 10ns}, {1, 0ns, 7ns}}) == Ends{{10}, {7}});
}

TEST_CASE("shared cores: more hosts than cores work more slowly, at the same speed") {
  CHECK(ends_of({0, 0}, 1, {{0, 0ns, 10ns}, {1, 0ns, 10ns}}) == Ends{{20}, {20}});
  // Times in ns. Until 20, both hosts share one core, and each does 10 of its work. Then the work
  // of host 1 has ended, and host 0 does its other 20 alone.
  CHECK(ends_of({0, 0}, 1, {{0, 0ns, 30ns}, {1, 0ns, 10ns}}) == Ends{{40}, {20}});
  // Host 1 begins at 20, when host 0 has 10 left. At 40, each of them has done 10 more.
  CHECK(ends_of({0, 0}, 1, {{0, 0ns, 30ns}, {1, 20ns, 15ns}}) == Ends{{40}, {45}});
  CHECK(ends_of({0, 0, 0}, 2, {{0, 0ns, 10ns}, {1, 0ns, 10ns}, {2, 0ns, 10ns}}) ==
        Ends{{15}, {15}, {15}});
}

TEST_CASE("a processor begins work for steps before it receives frames") {
  tuning::Processor<int> processor;
  processor.request(1ns, 1, WorkKind::receipt);
  processor.request(1ns, 2, WorkKind::receipt);
  CHECK(processor.begin_next()->work == 1);
  processor.request(1ns, 3, WorkKind::step);
  processor.request(1ns, 4, WorkKind::step);
  CHECK_FALSE(processor.begin_next());  // it does not interrupt its work
  for (const int next : {3, 4, 2}) {
    processor.end();
    CHECK(processor.works());
    CHECK(processor.begin_next()->work == next);
  }
  processor.end();
  CHECK_FALSE(processor.begin_next());
  CHECK_FALSE(processor.works());
}

TEST_CASE("shared cores: the work of one host ends in the order of its requests") {
  CHECK(ends_of({0, 0}, 1, {{0, 0ns, 10ns}, {0, 0ns, 1ns}, {1, 0ns, 11ns}}) ==
        Ends{{20, 22}, {22}});
}

TEST_CASE("shared cores: work of no time ends after the earlier work of its host") {
  CHECK(ends_of({0, 0}, 1, {{0, 0ns, 10ns}, {0, 0ns, 0ns}, {1, 5ns, 0ns}}) == Ends{{10, 10}, {5}});
}

TEST_CASE("shared cores: removed work takes no more time") {
  tuning::SharedCores<int> shared({0, 0}, 1);
  shared.begin(0, 0ns, 10ns, 1);
  shared.begin(1, 0ns, 10ns, 3);
  CHECK(shared.next_end() == 20ns);
  shared.cancel(0, 10ns);
  CHECK(shared.next_end() == 15ns);
  CHECK(shared.take_ended(15ns) == 3);
  CHECK(shared.next_end() == Nanos::max());
}

TEST_CASE("shared cores: random work ends when a step-by-step division of the cores ends it") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t hosts = 1 + random() % 6, cores = 1 + random() % 3;
    std::vector<std::uint32_t> machines;
    for (std::size_t host = 0; host < hosts; ++host)
      machines.push_back(static_cast<std::uint32_t>(random() % 2));
    std::vector<Request> requests;
    Nanos at{0};
    for (int count = 0; count < 20; ++count) {
      at += Nanos(random() % 30);
      requests.push_back({static_cast<std::uint32_t>(random() % hosts), at,
                          Nanos(1 + static_cast<std::int64_t>(random() % 40))});
    }
    // The reference divides each nanosecond among the hosts that have work at the begin of this
    // nanosecond. The end of a piece is rounded up, so a piece ends up to one nanosecond late.
    Ends expected(hosts);
    std::vector<std::deque<double>> left(hosts);
    std::size_t next = 0;
    for (std::int64_t now = 0; now < 5000; ++now) {
      for (; next < requests.size() && requests[next].at.count() == now; ++next)
        left[requests[next].host].push_back(static_cast<double>(requests[next].time.count()));
      std::vector<double> working(2);
      for (std::size_t host = 0; host < hosts; ++host)
        if (!left[host].empty()) ++working[machines[host]];
      for (std::size_t host = 0; host < hosts; ++host) {
        if (left[host].empty()) continue;
        left[host].front() -= std::min(1.0, static_cast<double>(cores) / working[machines[host]]);
        if (left[host].front() > 1e-6) continue;
        left[host].pop_front();
        expected[host].push_back(now + 1);
      }
    }
    INFO("round " << round);
    CHECK(ends_of(machines, cores, requests) == expected);
  }
}
