// SPDX-License-Identifier: Apache-2.0
// tests/support/translate.cpp — how Catch2 writes what is no std::exception.
#include <catch2/catch.hpp>

#include "runtime/wait.hpp"

CATCH_TRANSLATE_EXCEPTION(const runtime::Stop& stop) { return stop.what(); }
