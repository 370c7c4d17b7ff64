// SPDX-License-Identifier: Apache-2.0
// base/text_file.hpp — reading of a whole text file with a size limit
#pragma once
#include <cstddef>
#include <string>

namespace base {

/// Maximum size in bytes of input files such as tables and recordings with a million values.
inline constexpr std::size_t table_bytes_max = 256u << 20;

/// Returns the contents of a file, which may be a pipe. Throws ConfigError if it cannot be read or
/// is larger than `bytes_max`.
std::string load_text(const std::string& file, std::size_t bytes_max);

/// Returns the path of a file whose name `name` occurs in the text of the file `other`. A relative
/// name is relative to the folder of `other`.
std::string file_beside(const std::string& name, const std::string& other);

}  // namespace base
