// SPDX-License-Identifier: Apache-2.0
// paths/run/find_program.hpp — search for the executable file of a program by its name.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace paths {

/// Returns the executable file of the program `name`. If `name` contains a folder, returns `name`
/// unchanged. Otherwise searches the folder of the running program, then PATH. Returns nullopt if
/// no such program is found.
std::optional<std::string> find_program(const std::string& name);
/// Returns the names of the programs in the folder of the running program, as suggestions for a
/// misspelt name.
std::vector<std::string> programs_beside();

}  // namespace paths
