// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/one_root.hpp — the root of one of three clusters; the test plays the other two
// clusters.
#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/one_host.hpp"

namespace wrapper_tests {

using Entries = std::vector<base::Settings::Entry>;

inline base::Settings word(const char* text) { return base::Settings::scalar(text); }
inline base::Settings two_words(const char* one, const char* other) {
  return base::Settings::list({word(one), word(other)});
}

inline double value_of(const paths::Result& result) { return result.payload.read<double>(); }

/// The root of cluster b. The test fills elements a and c with the tuples of the other clusters.
/// Each test builds the path from the thread to the root itself.
struct OneRoot {
  paths::Result move(std::uint64_t sequence, double value) {
    return here->move(0, 0, sequence, base::Payload::of(value));
  }
  std::string error(std::uint64_t sequence, double value) {
    return test_support::thrown<paths::TravelError>([&] { move(sequence, value); });
  }
  pastset::Element& element(const char* name) { return *here->host().element(name); }
  /// Runs `what` at time `when` in a context of its own, so that the root can wait for its effect.
  void at(base::Nanos when, std::function<void()> what) {
    later.push_back(here->spawn([this, when, what] {
      here->runtime().sleep_until(when);
      what();
    }));
  }
  void run(const std::function<void()>& main) { here->run(main); }
  /// Releases the thread's path. Checks that the result element `b` then has an error mark that
  /// states the cause.
  void check_mark_at_end(bool has_failed) {
    run([&] {
      paths::Operation release = here->operation(0, 0, 0, paths::OperationKind::release);
      if (has_failed) release.failure = here->host().failure("", 0, "its thread failed");
      test_support::thrown<paths::TravelError>([&] { here->operate(release); });
      CHECK_THAT(element("b").error_mark().value_or("").text,
                 Catch::Contains(has_failed ? "its thread failed" : "thread here/0 released"));
    });
  }

  test_support::PlanBuilder builder;
  std::optional<test_support::OneHost> here;
  std::vector<runtime::Task> later;
};

/// Returns the error message for a wrapper of this kind with these settings, or "nothing" if they
/// are valid. First the setting `key` gets the value `value`, or is removed if `value` is null.
/// Element `other` has the template f64.
inline std::string mistakes_with(const std::string& kind, const Entries& settings,
                                 const pastset::Template& of_elements, std::string_view key,
                                 const base::Settings& value) {
  test_support::PlanBuilder builder;
  for (const char* name : {"a", "b", "c"}) builder.element(name, of_elements);
  builder.element("other", *pastset::Template::parse("f64"));
  Entries entries;
  for (const auto& [name, setting] : settings)
    if (const auto& used = name.text() == key ? value : setting; !used.is_null())
      entries.emplace_back(name, used);
  const auto check = builder.wrapper(kind, "check", base::Settings::map(entries));
  builder.path("graph", 1, {check, builder.does("end", nullptr)});
  return test_support::thrown<base::ConfigError>([&] { test_support::OneHost here(builder); });
}

}  // namespace wrapper_tests
