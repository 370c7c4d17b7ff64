// SPDX-License-Identifier: Apache-2.0
// The main() of every test program, compiled once because Catch2 takes long.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include "runtime/wait.hpp"

// What is no std::exception.
CATCH_TRANSLATE_EXCEPTION(const runtime::Stop& stop) { return stop.what(); }
