// SPDX-License-Identifier: Apache-2.0
// tests/pricing/main.cpp — prices need nothing that runs: these tests link their rooms alone.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
