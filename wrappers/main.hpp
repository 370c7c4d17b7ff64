// SPDX-License-Identifier: Apache-2.0
// wrappers/main.hpp — main() of a program over paths, with every kind of wrapper.
#pragma once
#include <functional>

#include "paths/host/host.hpp"  // programs call thread.host()
#include "paths/run/program.hpp"

namespace paths {

/// Runs `thread` once for every thread of the config: `return paths::main(argc, argv, work);`.
int main(int argc, char** argv, std::function<void(Thread&)> thread);
/// Runs a program that has options of its own.
int main(int argc, char** argv, const Program& program);

}  // namespace paths
