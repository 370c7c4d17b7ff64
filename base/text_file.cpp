// SPDX-License-Identifier: Apache-2.0
// base/text_file.cpp — reads block by block, so that a device without end is no trap.
#include "base/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/errors.hpp"

namespace base {

std::string load_text(const std::string& file, std::size_t bytes_max) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::string block(1u << 16, '\0');
  while (stream && text.size() <= bytes_max) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad())
    throw ConfigError({{{file}, "cannot be read: " + std::generic_category().message(errno)}});
  if (text.size() > bytes_max)
    throw ConfigError({{{file}, fmt::format("larger than {} bytes", bytes_max)}});
  return text;
}

std::string file_beside(const std::string& name, const std::string& other) {
  return (std::filesystem::path(other).parent_path() / name).lexically_normal().string();
}

}  // namespace base
