// SPDX-License-Identifier: Apache-2.0
// tests/support/translate.cpp — text that Catch2 prints for runtime::Stop, which is no
// std::exception.
#include <catch2/catch.hpp>

#include "runtime/wait.hpp"

CATCH_TRANSLATE_EXCEPTION(const runtime::Stop& stop) { return stop.what(); }
