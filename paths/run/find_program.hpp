// SPDX-License-Identifier: Apache-2.0
// paths/run/find_program.hpp — the file of a program that a command line names.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace paths {

/// A path stays as it is; a name is looked for beside the running program, then in PATH. Nothing
/// when there is no such program.
std::optional<std::string> find_program(const std::string& name);
/// The programs beside the running one, to offer instead of a misspelt one.
std::vector<std::string> programs_beside();

}  // namespace paths
