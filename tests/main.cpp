// SPDX-License-Identifier: Apache-2.0
// tests/main.cpp — the main() of every test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
