// SPDX-License-Identifier: Apache-2.0
// A program of somebody who installed PATHS.
#include <fmt/format.h>

#include "base/version.hpp"

int main() { fmt::print("PATHS {}\n", base::version); }
