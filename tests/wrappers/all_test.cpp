// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/all_test.cpp — requirements on all kinds of wrappers, checked for each kind.
#include "wrappers/all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "paths/config/config.hpp"
#include "paths/host/path.hpp"
#include "tests/support/clocks.hpp"
#include "tests/wrappers/chain.hpp"

namespace {

using namespace wrapper_tests;
using paths::WrapperKind;

/// Returns settings with which a kind can be tested between some threads and the end of a path;
/// nullopt if the kind needs clusters. Kinds that need clusters have tests of their own.
std::optional<std::string> settings_of(const WrapperKind& kind) {
  static const std::map<std::string, std::string> known = {
      {"allreduce", "template: f64"},   {"reduce", "template: f64"},
      {"broadcast", "from: 1"},         {"barrier", ""},
      {"emulate_link", "latency: 1ms"}, {"cache", ""},
      {"event_collector", ""},
  };
  const auto found = known.find(kind.name);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

/// Returns the keys that `read` accepts, as the error message about an unknown key lists them.
std::set<std::string> keys_asked(const std::function<void(base::MapReader&)>& read) {
  const std::string stranger(30, '_');
  base::Mistakes mistakes;
  base::MapReader reader(base::parse_settings("{" + stranger + ": 1}", "test"), mistakes, "it");
  read(reader);
  reader.finish();
  std::string said = thrown<base::ConfigError>([&] { mistakes.throw_if_any(); });
  const std::string before = "unknown key '" + stranger + "' in it; expected ";
  const std::size_t begin = said.find(before);
  if (begin == std::string::npos) return {};
  said = said.substr(begin + before.size());
  said = said.substr(0, said.find('\n'));
  std::set<std::string> keys;
  while (!said.empty()) {
    const std::size_t end = std::min({said.find(", "), said.find(" or "), said.size()});
    keys.insert(said.substr(0, end));
    const std::size_t next = said.find_first_not_of(", ", end);
    said = next == std::string::npos ? "" : said.substr(next);
    if (said.starts_with("or ")) said = said.substr(3);
  }
  return keys;
}

/// Throws for every third move and otherwise continues. Used at the end or in the middle of a path.
class Unreliable final : public paths::BlockingWrapper {
 public:
  paths::Result operate(paths::Operation operation, paths::Next next) override {
    if (operation.kind == paths::OperationKind::move && operation.sequence % 3 == 1) {
      throw std::runtime_error(fmt::format("unreliable at {}", operation.sequence));
    }
    if (!next.at_end()) return next(std::move(operation));
    paths::Result result;
    result.payload = operation.payload;
    return result;
  }
};

WrapperKind unreliable_kind(const std::string& name, bool ends) {
  WrapperKind kind;
  kind.name = name;
  kind.help = "Fails.";
  if (ends) kind.job = paths::Job::store;
  kind.read = [](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [](paths::Deployment&) { return std::make_unique<Unreliable>(); };
  };
  return kind;
}

/// One host with three threads that meet in the wrapper `it` and run the same rounds.
class Trial {
 public:
  static constexpr std::uint32_t threads = 3;

  Trial(const WrapperKind& kind, const std::string& thread_0, const std::string& end) {
    paths::WrapperKinds kinds = wrappers::all_kinds();
    kinds.add(unreliable_kind("failing", false));
    kinds.add(unreliable_kind("failing_end", true));
    const std::string settings = *settings_of(kind);
    const std::string config = fmt::format(
        "hosts: {{here: {{threads: {0}}}}}\n"
        "elements: {{work: {{host: here, template: {6}}}}}\n"
        "wrappers: {{it: {{kind: {1}, host: here{2}{3}}}}}\n"
        "paths:\n"
        "  - {{graph: work, host: here, threads: 0, through: [{4}it, {5}]}}\n"
        "  - {{graph: work, host: here, threads: 1-2, through: [it, {5}]}}\n",
        threads, kind.name, settings.empty() ? "" : ", ", settings, thread_0, end,
        kind.name == "barrier" ? "\"\"" : "f64");
    INFO(config);
    const auto plan = std::make_shared<const paths::Plan>(
        paths::read_plan(base::parse_settings(config, "trial"), kinds));
    runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
    paths::Host host(runtime, plan, 0, kinds, std::make_unique<NoTransport>());
    runtime.run([&] {
      host.start();
      test_support::in_threads(runtime, threads,
                               [&](std::uint32_t thread) { take_part(host.deployment(), thread); });
      host.finish();
    });
  }

  static constexpr std::uint64_t rounds = 1'000;
  /// Threads that got an error in a round. Key: round; value: indices of the threads.
  std::map<std::uint64_t, std::set<std::uint32_t>> failed;

 private:
  void take_part(paths::Deployment& deployment, std::uint32_t thread) {
    // Thread 0 has the first path alone. Threads 1 and 2 share the second path.
    paths::Owner owner(deployment, thread);
    paths::Path path(deployment, thread == 0 ? 0 : 1, thread == 0 ? 0 : thread - 1, owner);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      try {
        path.move_value(1.0);
      } catch (const paths::TravelError& error) {
        failed[round].insert(thread);
        CHECK_THAT(error.reason(), Catch::Contains(fmt::format("unreliable at {}", round)));
      }
    }
    path.release();
  }
};

}  // namespace

TEST_CASE("all kinds: names are unique and every description is complete") {
  std::set<std::string> names;
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    INFO(kind.name);
    CHECK(names.insert(kind.name).second);
    CHECK(kind.help.ends_with('.'));
    CHECK(kind.read != nullptr);
    for (const paths::SettingHelp& setting : kind.settings) {
      INFO(setting.name);
      CHECK_FALSE(setting.name.empty());
      CHECK_FALSE(setting.type.empty());
      CHECK_FALSE(setting.fallback.empty());
      CHECK(setting.help.ends_with('.'));
    }
  }
}

TEST_CASE("all kinds: the described settings are those that are read") {
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    INFO(kind.name);
    std::set<std::string> described;
    for (const paths::SettingHelp& setting : kind.settings) described.insert(setting.name);
    paths::Plan plan;
    plan.clusters = {"test"};
    plan.hosts.resize(1);
    plan.wrappers.resize(1);
    const auto read = [&](base::MapReader& reader) { kind.read(reader, {plan, 0, 0, 1}); };
    CHECK(keys_asked(read) == described);
  }
}

TEST_CASE("all kinds: a collective consists of joins that have all its settings") {
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    if (!kind.collective) continue;
    INFO(kind.name);
    CHECK(kind.joins());
    CHECK(kind.collective->help.ends_with('.'));
    std::set<std::string> of_joins, described;
    for (const paths::SettingHelp& setting : kind.settings) of_joins.insert(setting.name);
    for (const paths::SettingHelp& setting : kind.collective->settings) {
      INFO(setting.name);
      CHECK(of_joins.contains(setting.name));
      CHECK(setting.help.ends_with('.'));
      described.insert(setting.name);
    }
    if (!kind.collective->root_slot.empty()) CHECK(of_joins.contains(kind.collective->root_slot));
    CHECK((kind.collective->read != nullptr) == !described.empty());
    if (kind.collective->read != nullptr) CHECK(keys_asked(kind.collective->read) == described);
  }
}

TEST_CASE("all kinds: an exception at the end reaches all waiters and no other round") {
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    if (!settings_of(kind)) continue;
    INFO(kind.name);
    const Trial trial(kind, "", "failing_end: {}");
    for (std::uint64_t round = 0; round < Trial::rounds; ++round) {
      const auto failed = trial.failed.find(round);
      const std::size_t count = failed == trial.failed.end() ? 0 : failed->second.size();
      // In these kinds of wrappers, an error that occurs below reaches only the thread whose
      // operation continues down the path.
      const bool one = kind.name == "reduce" || kind.name == "broadcast";
      const std::size_t expected = one ? 1 : Trial::threads;
      if (count != (round % 3 == 1 ? expected : 0)) {
        FAIL("round " << round << ": " << count << " threads failed");
      }
    }
  }
}

TEST_CASE("all kinds: a contributor that fails above leaves no thread waiting") {
  for (const WrapperKind& kind : wrappers::all_kinds().all()) {
    if (!settings_of(kind)) continue;
    INFO(kind.name);
    const Trial trial(kind, "failing: {}, ", "store: {element: work}");
    for (std::uint64_t round = 0; round < Trial::rounds; ++round) {
      const auto failed = trial.failed.find(round);
      if (round % 3 != 1) {
        if (failed != trial.failed.end()) FAIL("round " << round << " failed");
        continue;
      }
      REQUIRE(failed != trial.failed.end());
      CHECK(failed->second.contains(0));
      if (!kind.joins()) CHECK(failed->second.size() == 1);
    }
  }
}
