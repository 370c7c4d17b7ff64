// SPDX-License-Identifier: Apache-2.0
// wrappers/main.hpp — main() of a program over paths, with every kind of wrapper.
#pragma once
#include <functional>

#include "paths/host/host.hpp"  // programs call thread.host()
#include "paths/run/program.hpp"

namespace paths {

/// Main function of a program: runs `thread` once for each thread of the config. Use: `return
/// paths::main(argc, argv, work);`.
int main(int argc, char** argv, std::function<void(Thread&)> thread);
/// Main function of a program that has options of its own.
int main(int argc, char** argv, const Program& program);

}  // namespace paths
