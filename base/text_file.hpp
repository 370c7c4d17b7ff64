// SPDX-License-Identifier: Apache-2.0
// base/text_file.hpp — a file as text, as long as it is not one without end.
#pragma once
#include <cstddef>
#include <string>

namespace base {

/// What a person may write is not larger; nor are tables and recordings of a million values.
inline constexpr std::size_t table_bytes_max = 256u << 20;

/// All of a file, which may be a pipe. Throws ConfigError when it cannot be read or is larger than
/// `bytes_max`.
std::string load_text(const std::string& file, std::size_t bytes_max);

/// A file that another one names: a relative name counts from the folder of that.
std::string file_beside(const std::string& name, const std::string& other);

}  // namespace base
