// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_otf2_test.cpp — exported OTF2 archives, read back by otf2-print, a tool
// of OTF2.
#include <catch2/catch.hpp>
#include <regex>
#include <sstream>

#include "eventspace/export/otf2.hpp"
#include "tests/eventspace/export_sample.hpp"
#include "tests/support/skip.hpp"

namespace {

using namespace eventspace;
using namespace export_sample;
using trace_sample::Folder;

/// Output of otf2-print for an archive.
struct Printed {
  std::map<std::string, int> events;
  std::map<std::string, int> regions;  // number of entries of each region
  std::map<int, int> group_of_location;
  // Number of sent messages minus number of received messages, for each kind of message.
  std::map<std::string, int> messages;
  bool is_nested = true;
  bool is_in_order = true;
};

void add_event(const std::smatch& words, Printed& printed,
               std::map<int, std::vector<std::string>>& open, std::map<int, std::uint64_t>& at) {
  const std::string what = words[1], facts = words[4];
  const int location = std::stoi(words[2]);
  const std::uint64_t time = std::stoull(words[3]);
  printed.is_in_order = printed.is_in_order && at[location] <= time;
  at[location] = time;
  ++printed.events[what];
  if (what == "ENTER") {
    open[location].push_back(facts);
    std::smatch region;
    if (std::regex_search(facts, region, std::regex("Region: \"([^\"]*)\"")))
      ++printed.regions[region[1]];
  }
  if (what == "LEAVE") {
    printed.is_nested =
        printed.is_nested && !open[location].empty() && open[location].back() == facts;
    if (!open[location].empty()) open[location].pop_back();
  }
  std::smatch message;
  const std::regex ranks("(?:Receiver|Sender): (\\d+) .*Tag: (\\d+)");
  if (!what.starts_with("MPI_") || !std::regex_search(facts, message, ranks)) return;
  const int here = printed.group_of_location[location];
  const int there = std::stoi(message[1]);
  const bool is_send = what == "MPI_SEND";
  printed.messages[fmt::format("{} to {}: {}", is_send ? here : there, is_send ? there : here,
                               message[2].str())] += is_send ? 1 : -1;
}

Printed read(const std::string& text) {
  Printed printed;
  std::map<int, std::vector<std::string>> open;
  std::map<int, std::uint64_t> at;
  const std::regex location("LOCATION +(\\d+) .*Group: .*<(\\d+)>.*");
  const std::regex event("([A-Z_]+) +(\\d+) +(\\d+)  (.*)");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch words;
    if (std::regex_match(line, words, location))
      printed.group_of_location[std::stoi(words[1])] = std::stoi(words[2]);
    else if (std::regex_match(line, words, event))
      add_event(words, printed, open, at);
  }
  for (const auto& [number, regions] : open)
    printed.is_nested = printed.is_nested && regions.empty();
  return printed;
}

bool has_otf2(const TraceDirectory& trace, const fs::path& directory) {
  const std::string why = refusal([&] { export_otf2(trace, directory, own_clocks(trace)); });
  if (why == "nothing") return true;
  CHECK_THAT(why, Catch::Contains("built without OTF2"));
  test_support::skip("otf2 (library)");
  return false;
}

}  // namespace

TEST_CASE("otf2: otf2-print finds every record nested and in order and all messages in pairs") {
  const Folder folder;
  write_run(folder.path() / "run", 20);
  const TraceDirectory trace(folder.path() / "run");
  if (!has_otf2(trace, folder.path() / "archive")) return;
  const std::string archive = (folder.path() / "archive" / "traces.otf2").string();
  const std::string events = output_of("otf2-print", "-Werror " + archive);
  if (events.empty()) return test_support::skip("otf2 (otf2-print)");
  const Printed printed = read(output_of("otf2-print", "-G -Werror " + archive) + events);
  CHECK(printed.is_nested);
  CHECK(printed.is_in_order);
  CHECK(printed.events.at("ENTER") == printed.events.at("LEAVE"));
  CHECK(printed.regions.at("computation") == 8 * 20);
  CHECK(printed.regions.at("thread") == 8);
  CHECK(printed.regions.at("sum") == 8 * 20);
  CHECK(printed.regions.at("store") == 20);
  CHECK(printed.regions.at("forward to alpha-0") == 2 * 20);
  // In each round, four operations cross to another host and back, which takes 8 messages: from
  // alpha-1, from beta-1, from beta-0 to its gateway, and from the gateway.
  CHECK(printed.events.at("MPI_SEND") == 8 * 20);
  for (const auto& [message, unmatched] : printed.messages) {
    INFO(message);
    CHECK(unmatched == 0);
  }
}

TEST_CASE("otf2: each host is a process even if it recorded nothing") {
  const Folder folder;
  write_run(folder.path() / "run", 0);
  fs::remove(folder.path() / "run" / "beta-1.trace");
  const TraceDirectory trace(folder.path() / "run");
  if (!has_otf2(trace, folder.path() / "archive")) return;
  const std::string printed =
      output_of("otf2-print", "-G -Werror " + (folder.path() / "archive" / "traces.otf2").string());
  if (printed.empty()) return test_support::skip("otf2 (otf2-print)");
  std::set<int> groups;
  for (const auto& [location, group] : read(printed).group_of_location) groups.insert(group);
  CHECK(groups == std::set<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("otf2: a non-empty directory is left unchanged and named in the error") {
  const Folder folder;
  write_run(folder.path() / "run", 1);
  const TraceDirectory trace(folder.path() / "run");
  if (!has_otf2(trace, folder.path() / "archive")) return;
  CHECK_THAT(refusal([&] { export_otf2(trace, folder.path() / "archive", own_clocks(trace)); }),
             Catch::Contains("archive: cannot write OTF2: is there already"));
}
