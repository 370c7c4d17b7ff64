// SPDX-License-Identifier: Apache-2.0
// commands/version.hpp — what this program was made of.
#pragma once
#include <string>
#include <string_view>

namespace commands {

/// The commit of the sources, or "unknown" outside of a clone. Its definition is generated, for the
/// program alone.
extern const std::string_view commit_built;

/// The version, then a line each for the commit, the compiler and the libraries that a bug report
/// needs.
std::string version_text(std::string_view commit);

}  // namespace commands
