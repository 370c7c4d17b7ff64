// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/group_record_test.cpp — encoding of the records of group operations.
#include "eventspace/group_record.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace eventspace;

TEST_CASE("group records: a step keeps peer and channel and number and bytes beyond 16 MiB") {
  GroupStep step;
  step.share = 7;
  step.number = 0xfffffffe;
  step.action = GroupAction::receive;
  step.peer = 1'000'000;
  step.channel = 70'000;
  step.bytes = (std::uint64_t{3} << 30) + 17;
  step.begin_nanos = -5;
  step.end_nanos = 12;
  const GroupStep found = step_of(record_of(step));
  CHECK(found.share == step.share);
  CHECK(found.number == step.number);
  CHECK(found.action == step.action);
  CHECK(found.peer == step.peer);
  CHECK(found.channel == step.channel);
  CHECK(found.bytes == step.bytes);
  CHECK(found.begin_nanos == step.begin_nanos);
  CHECK(found.end_nanos == step.end_nanos);
  CHECK(is_of_group(record_of(step)));
  step.bytes = std::uint64_t{5} << 30;
  CHECK(step_of(record_of(step)).bytes == 0xffffffff);
}

TEST_CASE("group records: shares and members refer to each other") {
  const GroupShare share{.text = 0xdeadbeef,
                         .share = 3,
                         .operation = 0xffffffff,
                         .hosts = 10'000,
                         .has_failed = true,
                         .begin_nanos = 1,
                         .end_nanos = 2};
  const GroupShare found = share_of(record_of(share));
  CHECK(found.text == share.text);
  CHECK(found.share == share.share);
  CHECK(found.operation == share.operation);
  CHECK(found.hosts == share.hosts);
  CHECK(found.has_failed);
  const GroupMember member{12, 0xdeadbeef, 3, (std::uint64_t{1} << 40) + 5, 5, 6};
  CHECK(member_of(record_of(member)).bytes == member.bytes);
  CHECK(member_of(record_of(member)).thread == 12);
  CHECK(member_of(record_of(member)).text == member.text);
  CHECK(member_of(record_of(member)).share == 3);
}

TEST_CASE("group records: a prediction keeps its times") {
  const GroupPrediction prediction{0xdeadbeef, 3, std::uint64_t{1} << 55, 1.2345, 77};
  const GroupPrediction found = prediction_of(record_of(prediction));
  CHECK(is_of_group(record_of(prediction)));
  CHECK(found.text == prediction.text);
  CHECK(found.share == 3);
  CHECK(found.predicted_nanos == prediction.predicted_nanos);
  CHECK(found.measured_per_predicted == Approx(1.235));
  CHECK(found.at_nanos == 77);
  CHECK(prediction_of(record_of(GroupPrediction{1, 2, 3, 1e9, 0})).measured_per_predicted ==
        Approx(16'777.215));
}

TEST_CASE("group records: a name is complete when all its pieces have arrived in any order") {
  const GroupOperation operation{"world", "allreduce", "stretched:stretch=65536"};
  const std::string text = text_of(operation);
  auto records = records_of(text, 1);
  CHECK(records.size() == (text.size() + 6) / 7);
  GroupTexts texts;
  std::reverse(records.begin(), records.end());
  for (const EventRecord& record : records) {
    CHECK(texts.find(text_number(text)) == nullptr);
    texts.add(record);
    texts.add(record);  // each host records the same text
  }
  REQUIRE(texts.find(text_number(text)) != nullptr);
  CHECK(*texts.find(text_number(text)) == text);
  CHECK(group_operation_of(text) == operation);
  CHECK(group_operation_of("") == GroupOperation());
  const GroupOperation chosen{"world", "allreduce", "ring", "tuned"};
  CHECK(group_operation_of(text_of(chosen)) == chosen);
  CHECK(words_of(chosen) == "allreduce of world by ring (tuned)");
  const GroupOperation by_row{"world", "allreduce", "ring", "tuned", "12"};
  CHECK(group_operation_of(text_of(by_row)) == by_row);
  CHECK(words_of(by_row) == "allreduce of world by ring (tuned, line 12 of the table)");
  // A record contains a piece of a text. If the piece begins beyond the end of the text, the record
  // is damaged and must be ignored.
  EventRecord beyond = records.front();
  beyond.slot = 1000;
  texts.add(beyond);
  CHECK(*texts.find(text_number(text)) == text);
}
