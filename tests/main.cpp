// SPDX-License-Identifier: Apache-2.0
// tests/main.cpp — main() of every test program.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/skip.hpp"

namespace {

constexpr int skipped_exit_code = 77;  // must equal SKIP_RETURN_CODE in tests/CMakeLists.txt
std::set<std::string> skipped_cases;

/// Returns the number of cases that the command line selects.
std::size_t selected_cases(Catch::Session& session) {
  const Catch::Config& config = session.config();
  return filterTests(getAllTestCasesSorted(config), config.testSpec(), config).size();
}

}  // namespace

void test_support::skip(std::string_view reason) {
  skipped_cases.insert(Catch::getResultCapture().getCurrentTestName());
  std::cout << "skipped: " << reason << std::endl;
}

int main(int argc, char** argv) {
  Catch::Session session;
  // Does not return the result of run(): it is the number of failures, which could equal
  // skipped_exit_code.
  if (session.run(argc, argv) != 0) return 1;
  if (skipped_cases.empty()) return 0;
  return skipped_cases.size() == selected_cases(session) ? skipped_exit_code : 0;
}
