// SPDX-License-Identifier: Apache-2.0
// base/text_file.cpp — reading in blocks, so that an endless device stops at the size limit
#include "base/text_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/errors.hpp"
#include "base/say.hpp"

namespace base {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw ConfigError({{{file}, why}});
}

/// A file that is being read. Opening does not block. A pipe without a writer is an error; a pipe
/// with a slow writer is not.
class OpenFile {
 public:
  explicit OpenFile(const std::string& name) : name_(name) {
    do number_ = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (number_ < 0 && errno == EINTR);
    if (number_ < 0) refuse_errno();
    struct stat status {};
    is_pipe_ = fstat(number_, &status) == 0 && S_ISFIFO(status.st_mode);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(number_); }

  /// Reads the next bytes and returns their number; 0 at the end of the file. Blocks while a pipe
  /// is empty.
  std::size_t read(std::string& block) {
    for (;;) {
      const ssize_t count = ::read(number_, block.data(), block.size());
      if (count == 0 && is_pipe_ && is_at_begin_)
        refuse(name_, "expected text, found a pipe that no process writes to");
      if (count >= 0) {
        is_at_begin_ = false;
        return static_cast<std::size_t>(count);
      }
      if (errno == EAGAIN)
        wait();
      else if (errno != EINTR)
        refuse_errno();
    }
  }

 private:
  void wait() {
    constexpr int silence_milliseconds = 5000;
    pollfd one{number_, POLLIN, 0};
    if (::poll(&one, 1, is_reported_ ? -1 : silence_milliseconds) != 0) return;
    is_reported_ = true;
    say(fmt::format("{}: still waiting for what another process writes to it\n", name_));
  }
  [[noreturn]] void refuse_errno() const {
    refuse(name_, "cannot be read: " + std::generic_category().message(errno));
  }
  const std::string& name_;
  int number_ = -1;
  bool is_pipe_ = false, is_at_begin_ = true, is_reported_ = false;
};

}  // namespace

std::string load_text(const std::string& file, std::size_t bytes_max) {
  OpenFile open(file);
  std::string text;
  std::string block(1u << 16, '\0');
  while (const std::size_t count = open.read(block)) {
    text.append(block, 0, count);
    if (text.size() > bytes_max) refuse(file, fmt::format("larger than {} bytes", bytes_max));
  }
  return text;
}

std::string file_beside(const std::string& name, const std::string& other) {
  return (std::filesystem::path(other).parent_path() / name).lexically_normal().string();
}

}  // namespace base
