// SPDX-License-Identifier: Apache-2.0
// tests/planning/main.cpp — plans need nothing that runs: these tests link their rooms alone.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
