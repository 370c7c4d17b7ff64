// SPDX-License-Identifier: Apache-2.0
// base/output_file.cpp — output under a temporary name, then a rename
#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

namespace base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pending_bytes_max = std::size_t{256} << 10;

std::string folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string reason_text(const std::string& target, int error) {
  const std::string folder = folder_of(target);
  std::error_code failed;
  if (error == ENOENT && !fs::exists(folder, failed))
    return fmt::format("there is no folder {}", folder);
  return disk_error_text(target, error);
}

/// Returns the folder where the file system of `folder` is mounted.
std::string disk_of(const std::string& folder) {
  std::error_code failed;
  fs::path at = fs::canonical(folder, failed);
  struct stat here {};
  if (failed || ::stat(at.c_str(), &here) != 0) return folder;
  while (at.has_relative_path()) {
    struct stat above {};
    if (::stat(at.parent_path().c_str(), &above) != 0 || above.st_dev != here.st_dev) break;
    at = at.parent_path();
  }
  return at.string();
}

std::string size_text(double bytes) {
  constexpr std::array<std::string_view, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes)
                   : fmt::format("{:.1f} {}", bytes, units[unit]);
}

/// Writes all bytes. Returns 0 or the errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

/// Finds errors that a network disk reports only at close(), such as a full disk, by closing a
/// duplicate of the descriptor. Returns 0 or the errno.
int flush(int descriptor) {
  const int second = ::dup(descriptor);
  return second < 0 || ::close(second) != 0 ? errno : 0;
}

/// Creates a temporary file next to `target`. Tries further names while a name is taken. A name may
/// be taken although it contains our pid: processes in different containers may have the same pid,
/// and a killed process leaves its file.
std::pair<std::string, Descriptor> create_beside(const std::string& target, mode_t mode) {
  static std::atomic<unsigned> next{0};
  for (int attempts = 0;; ++attempts) {
    std::string name = fmt::format("{}.{}.{}.unfinished", target, ::getpid(), next.fetch_add(1));
    Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file || errno != EEXIST || attempts == 1000) return {std::move(name), std::move(file)};
  }
}

}  // namespace

std::string disk_error_text(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  struct statvfs disk {};
  const std::string folder = folder_of(path);
  if ((error != ENOSPC && error != EDQUOT) || ::statvfs(folder.c_str(), &disk) != 0) return reason;
  const auto block = static_cast<double>(disk.f_frsize);
  const std::string files = disk.f_files > 0 && disk.f_favail == 0 ? ", and no more files fit" : "";
  return fmt::format("{}: {} of {} are free on the disk at {}{}", reason,
                     size_text(static_cast<double>(disk.f_bavail) * block),
                     size_text(static_cast<double>(disk.f_blocks) * block), disk_of(folder), files);
}

int find_disk_error(const std::string& folder) {
  const auto [name, file] = create_beside(folder + "/probe", 0600);
  if (!file) return errno;
  ::unlink(name.c_str());
  const int error = write_all(file.get(), std::string(std::size_t{64} << 10, 'x'));
  return error != 0 ? error : flush(file.get());
}

OutputError::OutputError(const std::string& path, const std::string& why)
    : std::runtime_error(fmt::format("{}: cannot be written: {}", path, why)), reason(why) {}

OutputFile::OutputFile(std::string path, IfThere if_there)
    : path_(std::move(path)), target_(path_), if_there_(if_there) {
  std::error_code failed;
  if (fs::is_symlink(path_, failed)) {
    const fs::path followed = fs::weakly_canonical(path_, failed);
    if (!failed) target_ = followed.string();
  }
  struct stat there {};
  const bool is_there = ::stat(target_.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode)) fail(EISDIR);
  if (is_there && S_ISREG(there.st_mode) && if_there_ == IfThere::refuse) fail(EEXIST);
  const bool is_of_system = path_.starts_with("/dev/") || path_.starts_with("/proc/");
  if (is_there && (is_of_system || !S_ISREG(there.st_mode))) {
    descriptor_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!descriptor_) fail(errno);
    return;
  }
  if (is_there && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  std::tie(unfinished_, descriptor_) =
      create_beside(target_, is_there ? there.st_mode & 07777 : 0666);
  if (!descriptor_) fail(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ && !unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void OutputFile::append(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() >= pending_bytes_max) write_pending();
}

void OutputFile::write_pending() {
  if (const int error = write_all(descriptor_.get(), pending_)) fail(error);
  pending_.clear();
}

void OutputFile::finish() {
  write_pending();
  if (const int error = flush(descriptor_.get())) fail(error);
  if (!unfinished_.empty()) put_in_place();
  descriptor_.close();
}

void OutputFile::put_in_place() const {
  if (if_there_ == IfThere::refuse) {
    if (::link(unfinished_.c_str(), target_.c_str()) == 0) {
      ::unlink(unfinished_.c_str());
      return;
    }
    if (errno == EEXIST) fail(EEXIST);
    // The disk has no hard links. rename() would replace a file that another process has created
    // since the constructor looked.
    const char* const from = unfinished_.c_str();
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) return;
    if (errno != EINVAL && errno != ENOSYS) fail(errno);
  }
  if (::rename(unfinished_.c_str(), target_.c_str()) != 0) fail(errno);
}

void OutputFile::fail(int error) const { throw OutputError(path_, reason_text(target_, error)); }

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.append(text);
  file.finish();
}

void check_can_write(const std::string& path) { OutputFile{path}; }

}  // namespace base
