// SPDX-License-Identifier: Apache-2.0
// tests/base/errors_test.cpp — texts of errors, and reports of bugs in the program.
#include "base/errors.hpp"

#include <catch2/catch.hpp>

namespace {

struct BugsThrow {
  BugsThrow() { base::set_bugs_throw(true); }
  ~BugsThrow() {
    base::set_bugs_throw(false);
    base::set_context_line(nullptr);
  }
};

}  // namespace

TEST_CASE("errors: a position prints as compilers print it and omits unknown parts") {
  CHECK(base::Position{"a.yaml", 3, 7}.text() == "a.yaml:3:7");
  CHECK(base::Position{"a.yaml", 3, 0}.text() == "a.yaml:3");
  CHECK(base::Position{"a.yaml", 0, 0}.text() == "a.yaml");
  CHECK(base::Position{}.text().empty());
}

TEST_CASE("errors: positions in one file share its name and compare by it") {
  const std::string text = "folder/a.yaml";
  const base::Position one{text, 3, 7}, other{"folder/a.yaml", 4, 1};
  CHECK(&one.file.text() == &other.file.text());
  CHECK(one.file == other.file);
  CHECK(one.file.text() == text);
  CHECK(base::FileName("b.yaml") != one.file);
  CHECK(base::FileName("b.yaml") < one.file);
  CHECK(base::FileName() == base::FileName(""));
  CHECK(base::FileName().empty());
  CHECK(sizeof(base::Position) <= 16);
}

TEST_CASE("errors: a config error prints one line per mistake") {
  const base::ConfigError error({{{"a.yaml", 1, 2}, "first"}, {{}, "second"}});
  CHECK(std::string(error.what()) == "a.yaml:1:2: first\nsecond");
  CHECK(error.mistakes().size() == 2);
}

TEST_CASE("errors: control characters in mistakes are escaped") {
  const base::ConfigError error({{{"a\n.yaml", 1, 2}, "found '\x1b[2J'"}}, 3);
  CHECK(std::string(error.what()) == "a\\n.yaml:1:2: found '\\x1b[2J'\nand 3 more");
}

TEST_CASE("errors: ENSURE does nothing if its claim holds and otherwise reports a bug") {
  const BugsThrow guard;
  CHECK_NOTHROW([] { ENSURE(1 + 1 == 2); }());
  CHECK_THROWS_WITH([] { ENSURE(1 + 1 == 3); }(), Catch::Contains("not true: 1 + 1 == 3"));
  CHECK_THROWS_AS([] { ENSURE(false); }(), std::logic_error);
}

TEST_CASE("errors: a failed equality shows both values") {
  const BugsThrow guard;
  CHECK_THROWS_WITH([] { ENSURE_EQ(2 + 2, 5); }(), Catch::Contains("2 + 2 == 5 fails: 4 and 5"));
}

TEST_CASE("errors: a bug report names the source line and the running context") {
  const BugsThrow guard;
  base::set_context_line([]() -> std::string { return "stage 3"; });
  CHECK_THROWS_WITH(base::report_bug("x.cpp", 12, "lost a tuple"),
                    "bug at x.cpp:12: lost a tuple (stage 3)");
}
