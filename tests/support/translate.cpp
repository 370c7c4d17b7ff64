// SPDX-License-Identifier: Apache-2.0
// tests/support/translate.cpp — text of exceptions that are no std::exception, for Catch2.
#include <catch2/catch.hpp>

#include "runtime/wait.hpp"

CATCH_TRANSLATE_EXCEPTION(const runtime::Stop& stop) { return stop.what(); }
