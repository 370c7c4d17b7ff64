// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/structure_test.cpp — structure of a run (hosts, wrappers, paths) as JSON:
// writing, reading, and refusal of wrong texts.
#include "eventspace/structure.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/support/thrown.hpp"

namespace {

using eventspace::no_stage;
using eventspace::Structure;

Structure sample() {
  Structure structure;
  structure.clusters = {"alpha", "be\"ta"};
  structure.hosts = {{"alpha-0", 0, 0, 2}, {"gate", 1, 2, 0}, {"b1", 1, 2, 3}};
  structure.wrappers = {{"sum", "allreduce", 0, 2, "operation: sum", "a.yaml:12:5"},
                        {"", "condition_check", 2, 1, "", "", {1, 0}},
                        {"wan", "emulate_link", 1, 5, "latency: 30ms", "a.yaml:20:3"}};
  structure.stages = {{0, 2, 0, 0}, {1, no_stage, 3, 0}, {2, 1, 1, 1}};
  structure.paths = {{"sum", 0, 0, 2, 0, 0}, {"cache", 2, 0, 0, 0, 1}};
  return structure;
}

std::string refusal(const std::function<void(Structure&)>& spoil) {
  Structure structure = sample();
  spoil(structure);
  return test_support::thrown<std::runtime_error>(
      [&] { eventspace::structure_from_json(to_json(structure)); });
}

}  // namespace

TEST_CASE("structure: a written structure reads back and so does an empty one") {
  CHECK(eventspace::structure_from_json(to_json(sample())) == sample());
  CHECK(eventspace::structure_from_json(eventspace::to_json(Structure{})) == Structure{});
}

TEST_CASE("structure: wrappers have jobs and those of older files have the jobs of their kinds") {
  using eventspace::Job;
  Structure structure = sample();
  structure.wrappers[0].job = Job::join;
  structure.wrappers[0].answers_in_kind = true;
  structure.wrappers[1].job = Job::check;
  structure.wrappers[2].job = Job::link;
  std::string text = to_json(structure);
  CHECK(eventspace::structure_from_json(text) == structure);
  const auto erase_all = [&](const std::string& part) {
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part))
      text.erase(at, part.size());
  };
  for (const Job job : {Job::join, Job::check, Job::link})
    erase_all(",\"job\":\"" + std::string(job_name(job)) + "\"");
  erase_all(",\"answers_in_kind\":true");
  REQUIRE(text.find("job") == std::string::npos);
  CHECK(eventspace::structure_from_json(text) == structure);
}

TEST_CASE("structure: the rank of a thread gives its host and its number there") {
  const Structure structure = sample();
  CHECK(structure.thread_count() == 5);
  CHECK(structure.host_of_thread(1) == 0);
  CHECK(structure.host_of_thread(2) == 2);
  CHECK(structure.thread_name(1) == "alpha-0/1");
  CHECK(structure.thread_name(4) == "b1/2");
  CHECK(structure.thread_name(5) == "thread 5");
  CHECK(Structure{}.thread_count() == 0);
}

TEST_CASE("structure: a dangling reference is refused with its place") {
  using Catch::Contains;
  CHECK_THAT(refusal([](Structure& s) { s.hosts[2].cluster = 2; }),
             Contains("hosts[2] refers to cluster 2, there are 2"));
  CHECK_THAT(refusal([](Structure& s) { s.wrappers[1].host = 9; }),
             Contains("wrappers[1] refers to host 9"));
  CHECK_THAT(refusal([](Structure& s) { s.wrappers[1].combines[1] = 2; }),
             Contains("wrappers[1] refers to cluster 2"));
  CHECK_THAT(refusal([](Structure& s) { s.stages[0].wrapper = 3; }),
             Contains("stages[0] refers to wrapper 3"));
  CHECK_THAT(refusal([](Structure& s) { s.stages[0].below = 3; }),
             Contains("stages[0] refers to stage 3"));
  CHECK_THAT(refusal([](Structure& s) { s.paths[0].stage = 3; }),
             Contains("paths[0] refers to stage 3"));
  CHECK_THAT(refusal([](Structure& s) { s.paths[0].host = 3; }),
             Contains("paths[0] refers to host 3"));
  CHECK_THAT(refusal([](Structure& s) { s.paths[0].first_thread = 1; }),
             Contains("paths[0] is of threads 1 to 2 of host alpha-0, which has 2"));
  CHECK_THAT(refusal([](Structure& s) { s.hosts[2].first_thread = 3; }),
             Contains("hosts[2] begins with thread 3, expected 2"));
}

TEST_CASE("structure: an element is matched only by a value that is its whole name") {
  Structure::Wrapper wrapper;
  wrapper.settings = "result: sum.a\ncombine: [sum.a, sum.b-2, \"null\"]\nlast: sum_c";
  for (const char* element : {"sum.a", "sum.b-2", "null", "sum_c"})
    CHECK(names_element(wrapper, element));
  for (const char* element : {"", "sum", "a", "sum.b", "b-2", "2", "c", "result", "sum.a.b"})
    CHECK_FALSE(names_element(wrapper, element));
}

TEST_CASE("structure: a cycle of stages is refused") {
  CHECK_THAT(refusal([](Structure& s) { s.stages[1].below = 0; }),
             Catch::Contains("is below itself"));
}

TEST_CASE("structure: many mistakes are reported up to a limit") {
  const std::string said = refusal([](Structure& s) {
    for (int i = 0; i < 1000; ++i) s.stages.push_back({77, no_stage, 0, 0});
  });
  CHECK_THAT(said, Catch::Contains("stages[3]") && Catch::Contains("and 995 more"));
}

TEST_CASE("structure: an invalid structure is refused with the reason") {
  using Catch::Contains;
  const auto refused = [](const std::string& text) { eventspace::structure_from_json(text); };
  CHECK_THROWS_WITH(refused("{"), Contains("the structure of the run: ") &&
                                      Contains("ends in the middle, in line 1"));
  CHECK_THROWS_WITH(refused("{}"), Contains("version"));
  CHECK_THROWS_WITH(refused(R"({"version": 2})"),
                    Contains("is of version 2; this program reads version 1"));
  std::string text = to_json(sample());
  text.replace(text.find("\"threads\":2"), 11, "\"threads\":-2");
  CHECK_THROWS_WITH(refused(text), Contains("hosts[0]") && Contains("found -2"));
  text = to_json(sample());
  text.replace(text.find("\"threads\":2"), 11, "\"threads\":4294967296");
  CHECK_THROWS_WITH(refused(text), Contains("hosts[0]") && Contains("found 4294967296"));
}
