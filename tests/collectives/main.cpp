// SPDX-License-Identifier: Apache-2.0
// tests/collectives/main.cpp — schedules need nothing that runs: this room's tests link it alone.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
