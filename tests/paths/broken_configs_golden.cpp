// SPDX-License-Identifier: Apache-2.0
// tests/paths/broken_configs_golden.cpp — error messages of invalid configs.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "base/errors.hpp"
#include "paths/config/config.hpp"
#include "tests/support/golden.hpp"
#include "wrappers/all.hpp"

namespace {

std::string messages(const std::string& text, const std::string& name) {
  try {
    base::Mistakes mistakes;
    const base::Settings settings = base::parse_settings(text, name, mistakes);
    paths::read_plan(settings, wrappers::all_kinds(), {}, std::move(mistakes));
  } catch (const base::ConfigError& error) {
    return std::string(error.what()) + "\n";
  }
  return "no mistakes\n";
}

std::filesystem::path folder(const std::string& name) {
  return std::filesystem::path(PATHS_SOURCE_DIR) / name;
}

}  // namespace

TEST_CASE("broken configs: each is refused with the golden messages") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder("configs/broken"))) {
    const std::string name = entry.path().stem().string();
    INFO(name);
    const std::string found =
        messages(test_support::read_text(entry.path()), entry.path().filename().string());
    CHECK(found != "no mistakes\n");
    CHECK(found == test_support::golden("broken/" + name + ".txt", found));
    ++count;
  }
  CHECK(count >= 40);
}

TEST_CASE("broken configs: each golden message has its config") {
  for (const auto& entry : std::filesystem::directory_iterator(folder("tests/golden/broken"))) {
    INFO(entry.path());
    CHECK(exists(folder("configs/broken") / (entry.path().stem().string() + ".yaml")));
  }
}

TEST_CASE("broken configs: a file of 10 MB is refused for its size") {
  const std::string text = "# " + std::string(10u << 20, 'x') + "\n";
  CHECK(messages(text, "huge.yaml").find("larger than") != std::string::npos);
}

TEST_CASE("broken configs: a binary file is refused as binary") {
  const std::string text("clusters:\0\x01\x02", 12);
  CHECK(messages(text, "binary.yaml").find("binary.yaml") == 0);
  CHECK(messages("clusters: \xff\xfe", "binary.yaml").find("UTF-8") != std::string::npos);
}

TEST_CASE("broken configs: deep nesting is refused without a stack overflow") {
  const std::string text = "clusters: " + std::string(1'000'000, '[');
  CHECK(messages(text, "deep.yaml").find("deep.yaml:1:") == 0);
}

TEST_CASE("broken configs: exploding anchors are refused before they expand") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 12; ++level) {
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [";
    for (int copy = 0; copy < 10; ++copy)
      text += (copy > 0 ? ", *a" : "*a") + std::to_string(level - 1);
    text += "]\n";
  }
  CHECK(messages(text, "explode.yaml").find("explode.yaml:") == 0);
}

TEST_CASE("broken configs: a missing file is named") {
  CHECK_THROWS_WITH(paths::load_plan("/nowhere/missing.yaml", wrappers::all_kinds()),
                    Catch::Contains("/nowhere/missing.yaml"));
  CHECK_THROWS_WITH(paths::load_plan("/tmp", wrappers::all_kinds()), Catch::Contains("/tmp"));
}
