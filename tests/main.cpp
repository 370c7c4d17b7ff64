// SPDX-License-Identifier: Apache-2.0
// tests/main.cpp — main() of every test program.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <iostream>
#include <string_view>

#include "tests/support/skip.hpp"

namespace {

constexpr int skipped_exit_code = 77;  // must equal SKIP_RETURN_CODE in tests/CMakeLists.txt
bool has_skipped = false;

}  // namespace

void test_support::skip(std::string_view reason) {
  has_skipped = true;
  std::cout << "skipped: " << reason << std::endl;
}

int main(int argc, char** argv) {
  // run() returns the number of failures, which could equal skipped_exit_code.
  if (Catch::Session().run(argc, argv) != 0) return 1;
  return has_skipped ? skipped_exit_code : 0;
}
