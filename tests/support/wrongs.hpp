// SPDX-License-Identifier: Apache-2.0
// tests/support/wrongs.hpp — checks that several OS threads may make at the same time.
#pragma once
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "runtime/runtime.hpp"

namespace test_support {

/// Failed checks of all threads. The destructor fails the test case if a check failed.
/// Why: Catch2 must not be called by several threads at the same time.
class Wrongs {
 public:
  ~Wrongs() { CHECK(all_ == std::set<std::string>{}); }
  void check(bool is_right, const std::string& what) {
    const runtime::Lock lock(mutex_);
    if (!is_right) all_.insert(what);
  }
  template <class Value>
  void equal(const Value& found, const Value& expected) {
    if (!(found == expected)) check(false, fmt::format("{}, not {}", found, expected));
  }
  void contains(const std::string& text, const std::string& part) {
    check(text.find(part) != std::string::npos, text + ", not " + part);
  }

 private:
  runtime::Mutex mutex_;
  std::set<std::string> all_;
};

}  // namespace test_support
