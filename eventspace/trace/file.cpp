// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/file.cpp — file access by POSIX calls.
#include "eventspace/trace/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "base/output_file.hpp"

namespace eventspace {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what, int error) {
  throw std::runtime_error(fmt::format("{}: cannot {}: {}", path.string(), what,
                                       base::disk_error_text(path.string(), error)));
}

base::Descriptor opened(const std::filesystem::path& path, std::string_view what, int flags) {
  base::Descriptor descriptor;
  do descriptor = base::Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  while (!descriptor && errno == EINTR);
  if (!descriptor) fail(path, what, errno);
  return descriptor;
}

iovec vector_of(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

File File::create(const std::filesystem::path& path) {
  return {path, opened(path, "create", O_WRONLY | O_CREAT | O_EXCL | O_APPEND)};
}

File File::to_append(const std::filesystem::path& path) {
  return {path, opened(path, "write", O_WRONLY | O_APPEND)};
}

File File::to_read(const std::filesystem::path& path) {
  // O_NONBLOCK keeps open() from waiting for a writer if the path is a pipe. A later read then
  // reports an error, because a pipe has no size.
  return {path, opened(path, "read", O_RDONLY | O_NONBLOCK)};
}

std::uint64_t File::size() const {
  struct stat facts {};
  if (::fstat(descriptor_.get(), &facts) != 0) fail(path_, "read", errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

void File::append(std::span<const std::byte> first, std::span<const std::byte> second) {
  while (!first.empty() || !second.empty()) {
    const std::array<iovec, 2> parts{vector_of(first), vector_of(second)};
    const ssize_t written =
        ::writev(descriptor_.get(), parts.data(), static_cast<int>(parts.size()));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(path_, "write", errno);
    }
    const auto bytes = static_cast<std::size_t>(written);
    const std::size_t of_first = std::min(bytes, first.size());
    first = first.subspan(of_first);
    second = second.subspan(bytes - of_first);
  }
}

std::size_t File::read(std::uint64_t place, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(descriptor_.get(), into.data() + done, into.size() - done,
                                static_cast<off_t>(place + done));
    if (got == 0) break;
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      fail(path_, "read", errno);
  }
  return done;
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(path, "create", error.value());
}

std::string read_whole(const std::filesystem::path& path) {
  const File file = File::to_read(path);
  std::string text(file.size(), '\0');
  text.resize(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

void write_whole(const std::filesystem::path& path, std::string_view text) {
  if (!std::filesystem::exists(path)) {
    try {
      base::OutputFile file(path.string(), base::OutputFile::IfThere::refuse);
      file.append(text);
      return file.finish();
    } catch (const base::OutputError&) {
      // If the file exists now, another process or thread has written it in the meantime. The code
      // below compares the contents of the file.
      if (!std::filesystem::exists(path)) throw;
    }
  }
  if (read_whole(path) != text)
    throw std::runtime_error(fmt::format("{}: is of another run", path.string()));
}

}  // namespace eventspace
