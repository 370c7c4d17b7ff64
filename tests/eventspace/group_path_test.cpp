// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/group_path_test.cpp — messages of groups that wait for earlier messages.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/group_record.hpp"

namespace {

using eventspace::EventRecord;
using eventspace::GroupAction;
using eventspace::GroupCause;
using eventspace::GroupStep;
using eventspace::TimeCause;

constexpr std::int64_t ms = 1'000'000;

const std::string text = text_of(eventspace::GroupOperation{"world", "broadcast", "tree"});

EventRecord step(GroupAction action, std::uint32_t peer, std::int64_t begin, std::int64_t end) {
  GroupStep one;
  one.action = action;
  one.peer = peer;
  one.bytes = 1'000'000;
  one.begin_nanos = begin;
  one.end_nanos = end;
  return record_of(one);
}

/// Returns the records of a host whose single thread does nothing but the operation.
std::vector<EventRecord> records_of_host(std::uint32_t host, std::vector<EventRecord> steps,
                                         std::int64_t end) {
  const std::uint32_t number = eventspace::text_number(text);
  std::vector<EventRecord> all = eventspace::records_of(text, 0);
  all.insert(all.end(), steps.begin(), steps.end());
  all.push_back(record_of(eventspace::GroupMember{
      .thread = host, .text = number, .bytes = 1'000'000, .end_nanos = end}));
  all.push_back(record_of(eventspace::GroupShare{.text = number, .hosts = 3, .end_nanos = end}));
  EventRecord life;
  life.kind = eventspace::number_of_kind(eventspace::EventKind::thread);
  life.place = host;
  life.up_nanos = end;
  all.push_back(life);
  return all;
}

/// Times of an operation in which host 0 sends to host 1 and, after a copy, to host 2. The message
/// to host 2 leaves 20 ms after the message to host 1. `clusters` are the clusters of the hosts.
struct Causes {
  explicit Causes(const std::vector<std::uint32_t>& clusters) {
    eventspace::Structure structure;
    structure.clusters = {"alpha", "beta", "gamma"};
    for (std::uint32_t host = 0; host < 3; ++host)
      structure.hosts.push_back({fmt::format("h{}", host), clusters[host], host, 1});
    eventspace::Analysis analysis(structure, {.has_common_clock = true});
    analysis.add(0, records_of_host(0,
                                    {step(GroupAction::copy, 0, 0, 50 * ms),
                                     step(GroupAction::send, 1, 0, 80 * ms),
                                     step(GroupAction::send, 2, 50 * ms, 100 * ms)},
                                    100 * ms));
    analysis.add(1, records_of_host(1, {step(GroupAction::receive, 0, 0, 80 * ms)}, 80 * ms));
    analysis.add(2, records_of_host(2, {step(GroupAction::receive, 0, 0, 100 * ms)}, 100 * ms));
    const eventspace::Report report = analysis.finish();
    REQUIRE(report.groups.operations.size() == 1);
    const auto& by_cause = report.groups.operations[0].by_cause;
    sending_of_group = by_cause[static_cast<std::size_t>(GroupCause::sending)];
    folding_of_group = by_cause[static_cast<std::size_t>(GroupCause::folding)];
    for (const auto& row : report.time.critical) of_run[row.cause] += row.nanos;
  }
  std::int64_t sending_of_group = 0, folding_of_group = 0;
  std::map<TimeCause, std::int64_t> of_run;
};

}  // namespace

TEST_CASE("group path: a message waits for the earlier message to another host of the cluster") {
  for (const auto& clusters : {std::vector{0u, 0u, 0u}, std::vector{0u, 1u, 1u}}) {
    Causes causes(clusters);
    CHECK(causes.sending_of_group == 100 * ms);
    CHECK(causes.folding_of_group == 0);
    CHECK(causes.of_run[TimeCause::sending] == 100 * ms);
    CHECK(causes.of_run[TimeCause::folding] == 0);
  }
}

TEST_CASE("group path: a message does not wait for the earlier message to another cluster") {
  Causes causes({0, 1, 2});
  CHECK(causes.sending_of_group == 50 * ms);
  CHECK(causes.folding_of_group == 50 * ms);
  CHECK(causes.of_run[TimeCause::sending] == 50 * ms);
  CHECK(causes.of_run[TimeCause::folding] == 50 * ms);
}
