// SPDX-License-Identifier: Apache-2.0
// commands/config_copy.cpp — unlinked file that child processes open through its descriptor.
#include "commands/config_copy.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text_file.hpp"

namespace commands {
namespace {

/// Writes the text to a new file without a name (an unlinked file). Returns the descriptor of the
/// file, which child processes inherit.
base::Descriptor nameless_file(const std::string& text) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
  if (folder.empty()) folder = "/tmp";
  std::string name = (folder / "paths-config-XXXXXX").string();
  base::Descriptor made(mkstemp(name.data()));
  if (made) unlink(name.c_str());
  std::size_t done = 0;
  while (made && done < text.size()) {
    const ssize_t written = write(made.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) made.close();
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  if (!made)
    throw std::system_error(errno, std::generic_category(),
                            "cannot copy the config to " + folder.string());
  return made;
}

/// Returns whether child processes can read the same text from this file name. Names such as
/// /dev/stdin and /dev/fd/63 may refer to another file in each process.
bool is_same_everywhere(const std::string& file) {
  std::error_code ignored;
  const std::string where = std::filesystem::absolute(file, ignored).lexically_normal().string();
  return !where.starts_with("/dev/") && !where.starts_with("/proc/") &&
         std::filesystem::is_regular_file(file, ignored);
}

}  // namespace

ConfigCopy::ConfigCopy(const std::string& file) : file_(file) {
  const std::string text = base::load_text(file, base::settings_bytes_max);
  settings_ = base::parse_settings(text, file);
  if (is_same_everywhere(file)) return;
  copy_ = nameless_file(text);
  file_ = fmt::format("/proc/self/fd/{}", copy_.get());
}

}  // namespace commands
