// SPDX-License-Identifier: Apache-2.0
// commands/version.hpp — version, commit, compiler and libraries of this program.
#pragma once
#include <string>
#include <string_view>

namespace commands {

/// Commit of the sources, or "unknown" outside of a clone. The build generates its definition, and
/// links it only into the program `paths`.
extern const std::string_view commit_built;

/// Returns the version, then one line each for the commit, the compiler and the libraries. A bug
/// report needs these lines.
std::string version_text(std::string_view commit);

}  // namespace commands
