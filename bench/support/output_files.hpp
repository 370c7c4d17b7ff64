// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.hpp — looks at the files of options before a run that takes long.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

namespace bench {

/// Pairs of an option and the file that it names, "" for none. Throws std::invalid_argument for the
/// first that cannot be written.
void check_writable(std::initializer_list<std::pair<const char*, std::string>> files);

}  // namespace bench
