// SPDX-License-Identifier: Apache-2.0
// paths/keys/key_file.cpp — strict checks of key files
#include "paths/keys/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"

namespace paths {
namespace {

constexpr std::size_t file_bytes_max = 4096;
constexpr std::uint64_t format = 1;
constexpr mode_t permissions = 0777;

std::string_view name_of(KeyKind kind) { return kind == KeyKind::run ? "run key" : "host key"; }

std::string beginning_of(KeyKind kind) { return fmt::format("PATHS {} ", name_of(kind)); }

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw base::ConfigError({{base::Position{file, 0, 0}, why}});
}

std::string sort_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Opens a key file without waiting and without following a symbolic link. Checks that only the
/// owner of the file can read the file.
base::Descriptor open_checked(const std::string& file, KeyKind kind) {
  base::Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!opened && errno == ELOOP)
    refuse(file, fmt::format("expected a file with a {}, found a symbolic link", name_of(kind)));
  if (!opened)
    refuse(file, fmt::format("expected a file with a {}: {}", name_of(kind), strerror(errno)));
  struct stat status {};
  if (fstat(opened.get(), &status) != 0) refuse(file, strerror(errno));
  if (!S_ISREG(status.st_mode))
    refuse(file, fmt::format("expected a file with a {}, found {}", name_of(kind),
                             sort_of(status.st_mode)));
  if (status.st_uid != geteuid())
    refuse(file, fmt::format("the {} belongs to user {}; expected one of this user, {}",
                             name_of(kind), status.st_uid, geteuid()));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(file, fmt::format("other users may use the {} (mode {:04o}); make a new one, "
                             "which only this user can read",
                             name_of(kind), status.st_mode & permissions));
  return opened;
}

/// Reads text into `space`, at most as many bytes as `space` has. Returns the text.
std::string_view read_into(const LockedMemory& space, int descriptor, const std::string& file) {
  const auto bytes = space.bytes();
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(file, strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

/// Returns the part of a text before the first end of a line, and removes it from the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check_first_line(std::string_view line, const std::string& file, KeyKind kind) {
  const std::string beginning = beginning_of(kind);
  const auto number = line.starts_with(beginning)
                          ? base::parse_natural(line.substr(beginning.size()))
                          : std::nullopt;
  if (!number)
    refuse(file, fmt::format("expected the first line to be '{}{}', found another text", beginning,
                             format));
  if (*number != format)
    refuse(file, fmt::format("the {} has format {}; this version reads format {}", name_of(kind),
                             *number, format));
}

void write_all(int descriptor, std::string_view text, const std::string& file) {
  while (!text.empty()) {
    const ssize_t put = write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      unlink(file.c_str());  // removes the key file, which is incomplete
      throw base::OutputError(file, strerror(error));
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

void write_key_file(const std::string& file, KeyKind kind, const Secret& secret) {
  const base::Descriptor made(
      open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!made && errno == EEXIST) refuse(file, "it exists, and a key is never overwritten");
  if (!made) throw base::OutputError(file, strerror(errno));
  const LockedMemory digits(2 * key_bytes);
  auto* const text = reinterpret_cast<char*>(digits.bytes().data());
  secret.write_digits(std::span<char, 2 * key_bytes>(text, 2 * key_bytes));
  write_all(made.get(), fmt::format("{}{}\n", beginning_of(kind), format), file);
  write_all(made.get(), {text, 2 * key_bytes}, file);
  write_all(made.get(), "\n", file);
}

Secret read_key_file(const std::string& file, KeyKind kind) {
  const base::Descriptor opened = open_checked(file, kind);
  const LockedMemory space(file_bytes_max);
  std::string_view text = read_into(space, opened.get(), file);
  if (text.empty()) refuse(file, fmt::format("expected a {}, found an empty file", name_of(kind)));
  check_first_line(take_line(text), file, kind);
  const std::string_view digits = take_line(text);
  auto secret = Secret::parse(digits);
  if (!secret || !text.empty())
    refuse(file,
           fmt::format("expected {} hexadecimal digits in the second and last line, found {} "
                       "characters{}",
                       2 * key_bytes, digits.size(), text.empty() ? "" : " and further lines"));
  return std::move(*secret);
}

std::shared_ptr<const RunKey> find_run_key(const std::string& file) {
  auto taken = take_run_key();
  if (file.empty()) return taken;
  auto read = std::make_shared<const RunKey>(read_key_file(file, KeyKind::run));
  if (taken != nullptr && !(taken->secret() == read->secret()))
    refuse(file, fmt::format("the run key differs from that in {}; expected one of them, or two "
                             "that are equal",
                             run_key_variable));
  return read;
}

}  // namespace paths
