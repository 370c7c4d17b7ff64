// SPDX-License-Identifier: Apache-2.0
// paths/wire/socket_folder.cpp — choosing, checking, locking and removing of socket folders
#include "paths/wire/socket_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "base/digest.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view scheme = "ipc://";
constexpr std::string_view run_folder_name = "paths-run-";
constexpr std::size_t random_bytes = 6;  // number of letters that mkdtemp() appends
constexpr int attempts_max = 100;        // maximum retries if another process removes the folder
constexpr std::string_view door_ending = ".door";
constexpr std::string_view lock_ending = ".lock";

fs::path from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns the private folder of the user's session (XDG_RUNTIME_DIR); empty if this user has no
/// such folder.
fs::path session_folder() {
  const fs::path folder = from_environment("XDG_RUNTIME_DIR");
  struct stat status {};
  const bool is_ours = folder.is_absolute() && stat(folder.c_str(), &status) == 0 &&
                       S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  return is_ours ? folder : fs::path();
}

/// Returns the folder for temporary files: TMPDIR, or /tmp if TMPDIR is not an absolute path.
fs::path temporary_folder() {
  const fs::path folder = from_environment("TMPDIR");
  return folder.is_absolute() ? folder : fs::path("/tmp");
}

fs::path users_folder() {
  const fs::path session = session_folder();
  return session.empty() ? temporary_folder() / fmt::format("paths-{}", geteuid())
                         : session / "paths";
}

/// Returns the folder for doors (socket files for links over shared memory) of some hosts: those
/// that no launcher has started, and whose address is not a Unix socket.
fs::path doors_folder() { return fmt::format("/tmp/paths-{}", geteuid()); }

class Missing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) return status;
  const int error = errno;
  const std::string text = fmt::format("{}: {}", path.string(), std::strerror(error));
  if (error == ENOENT) throw Missing(text);
  throw std::runtime_error(text);
}

constexpr const char* advice = "name another `directory` in the config's `network`";

bool is_relative(const std::string& address) {
  return address.size() > scheme.size() && address[scheme.size()] != '/';
}

/// Returns the name of the environment variable that decides the folder of relative addresses.
const char* variable_of_folder() {
  if (!from_environment("PATHS_SOCKETS").empty()) return "PATHS_SOCKETS";
  return session_folder().empty() ? "TMPDIR" : "XDG_RUNTIME_DIR";
}

/// Returns advice for a socket name that is too long. The advice names the part to shorten.
std::string length_advice(const std::string& address) {
  constexpr std::size_t usual_folder_bytes = 40;
  const std::size_t folder_bytes =
      socket_file(address).string().size() + scheme.size() - address.size();
  if (!is_relative(address) || folder_bytes <= usual_folder_bytes) return advice;
  const char* const variable = variable_of_folder();
  return fmt::format("its folder, {} characters long, is what {} says; set {} to a shorter one",
                     folder_bytes, variable, variable);
}

/// Throws if another user could replace a file in `folder`.
void check_folder(const fs::path& folder) {
  const struct stat status = status_of(folder);
  if (!S_ISDIR(status.st_mode))
    throw std::runtime_error(fmt::format("{} is a symbolic link or file, expected a folder; {}",
                                         folder.string(), advice));
  if (status.st_uid != geteuid())
    throw std::runtime_error(fmt::format("the folder {} belongs to another user (number {}); {}",
                                         folder.string(), status.st_uid, advice));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw std::runtime_error(fmt::format("others can write the folder {}; chmod go-w it, or {}",
                                         folder.string(), advice));
}

/// Throws if another user could replace `folder`, or a folder that contains it. Folders of the
/// system are allowed. Shared folders such as /tmp, in which users can move only their own files,
/// are also allowed.
void check_above(const fs::path& folder) {
  const struct stat status = status_of(folder);
  const bool is_trusted = status.st_uid == geteuid() || status.st_uid == 0 ||
                          // In a container, the system may have any user id: that of "/".
                          status.st_uid == status_of("/").st_uid;
  const bool is_shared = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !(status.st_mode & S_ISVTX);
  if (!is_trusted || is_shared)
    throw std::runtime_error(
        fmt::format("others can replace what is in {}; {}", folder.string(), advice));
  if (folder != folder.root_path()) check_above(folder.parent_path());
}

/// Makes a folder if it is missing, and the missing folders above it. Returns whether the folder
/// was missing.
bool make_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return true;
  if (errno == ENOENT && folder != folder.parent_path()) {
    make_folder(folder.parent_path());
    if (mkdir(folder.c_str(), S_IRWXU) == 0) return true;
  }
  if (errno != EEXIST)
    throw std::runtime_error(
        fmt::format("cannot make the folder {}: {}", folder.string(), std::strerror(errno)));
  return false;
}

struct SafeFile {
  fs::path file;
  bool made_folder = false;
};

SafeFile make_and_check(const std::string& address) {
  const fs::path wanted = socket_file(address);
  const fs::path folder = wanted.parent_path();
  const bool made_folder = make_folder(folder);
  const fs::path above = fs::canonical(folder.parent_path());
  const fs::path safe = above / folder.filename();
  check_folder(safe);
  check_above(above);
  const fs::path file = safe / wanted.filename();
  if (file.string().size() >= sizeof(sockaddr_un::sun_path))
    throw std::runtime_error(
        fmt::format("{} is longer than the {} characters that sockets allow; {}", file.string(),
                    sizeof(sockaddr_un::sun_path) - 1, length_advice(address)));
  return {file, made_folder};
}

/// Folders that this process has made and not removed. A host may have two socket claims in one
/// folder. Of these two, the claim that is released last must remove the folder.
struct MadeFolders {
  static MadeFolders& here() {
    static MadeFolders folders;
    return folders;
  }
  bool note(const SafeFile& safe) {
    const runtime::Lock lock(mutex);
    if (safe.made_folder) all.insert(safe.file.parent_path());
    return all.contains(safe.file.parent_path());
  }
  void remove_if_empty(const fs::path& folder) {
    const runtime::Lock lock(mutex);
    if (rmdir(folder.c_str()) == 0) all.erase(folder);
  }
  runtime::Mutex mutex;
  std::set<fs::path> all;
};

/// Makes the folder of the socket, and checks the folder. Retries, because a process that ends may
/// remove the folder before the check.
SafeFile make_safe(const std::string& address) {
  for (int attempt = 0;; ++attempt) {
    try {
      return make_and_check(address);
    } catch (const Missing&) {
      if (attempt == attempts_max) throw;
    }
  }
}

fs::path lock_file(const fs::path& file) { return fmt::format("{}{}", file.string(), lock_ending); }

bool is_same_file(int descriptor, const fs::path& path) {
  struct stat ours {
  }, there{};
  return fstat(descriptor, &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/// Returns whether a run may have left the file. A run leaves only sockets, and the empty lock
/// files of sockets.
bool is_left_by_run(const fs::directory_entry& entry) {
  std::error_code ignored;
  const fs::file_status status = entry.symlink_status(ignored);
  return fs::is_socket(status) ||
         (fs::is_regular_file(status) && entry.path().extension() == lock_ending &&
          entry.file_size(ignored) == 0);
}

/// Removes the folder of a run. Keeps the folder if it contains a file that no run leaves.
void remove_run_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files, folders{folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const bool is_folder = fs::is_directory(entry.symlink_status(error));
    if (!is_folder && !is_left_by_run(entry)) return;
    (is_folder ? folders : files).push_back(entry.path());
  }
  for (const fs::path& file : files) unlink(file.c_str());
  std::sort(folders.begin(), folders.end(), std::greater<>());  // inner folders first
  for (const fs::path& one : folders) rmdir(one.c_str());       // keeps folders with new files
}

/// Removes the folders of runs whose launcher was killed. Keeps a folder that contains a file that
/// no run leaves, because this folder may belong to a different program.
void remove_old_run_folders(const fs::path& in) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(in, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(run_folder_name) || name.size() != run_folder_name.size() + random_bytes)
      continue;
    const int descriptor =
        open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat status {};
    const bool is_ours = fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
    if (is_ours && flock(descriptor, LOCK_EX | LOCK_NB) == 0) remove_run_folder(entry.path());
    close(descriptor);
  }
}

/// Returns the first of XDG_RUNTIME_DIR, TMPDIR and /tmp in which the paths of sockets are not too
/// long. `name_bytes` is the length of the longest socket name, without the folder of the run.
fs::path place_for_runs(std::size_t name_bytes) {
  const std::size_t own_bytes = run_folder_name.size() + std::strlen("/XXXXXX/") + name_bytes;
  for (const fs::path& folder : {session_folder(), temporary_folder()})
    if (!folder.empty() && folder.string().size() + own_bytes < sizeof(sockaddr_un::sun_path))
      return folder;
  return "/tmp";
}

/// Removes the files of an address if no process uses them.
void remove_if_left(const std::string& address) {
  try {
    SocketClaim::take(address);  // releases the claim and removes the files
  } catch (const std::exception&) {
    // No report is needed, because a host that listens on the address reports the same error.
  }
}

}  // namespace

fs::path socket_file(const std::string& address) {
  if (!address.starts_with(scheme)) return "";
  const fs::path file = address.substr(scheme.size());
  if (file.is_absolute()) return file;
  const fs::path runs = from_environment("PATHS_SOCKETS");
  return (runs.empty() ? users_folder() : runs) / file;
}

std::string located(const std::string& address) {
  const fs::path file = socket_file(address);
  return file.empty() ? address : std::string(scheme) + file.string();
}

fs::path safe_socket_file(const std::string& address) { return make_safe(address).file; }

std::string door_address(const std::string& address) {
  const auto parts = base::parse_address(address);
  if (parts && !parts->transport->is_network)
    return fmt::format("{}{}{}", scheme, parts->place, door_ending);
  const std::string name = fmt::format("{:016x}{}", base::digest_of(address).high, door_ending);
  if (!from_environment("PATHS_SOCKETS").empty()) return fmt::format("{}doors/{}", scheme, name);
  return fmt::format("{}{}/{}", scheme, doors_folder().string(), name);
}

void remove_left_doors(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string file = entry.path().string();
    if (!file.ends_with(fmt::format("{}{}", door_ending, lock_ending)) || !is_left_by_run(entry))
      continue;
    file.resize(file.size() - lock_ending.size());
    const fs::file_status door = fs::symlink_status(file, ignored);
    if (fs::exists(door) && !fs::is_socket(door)) continue;  // keeps a file that is not of a run
    remove_if_left(fmt::format("{}{}", scheme, file));
  }
}

std::unique_ptr<SocketClaim> SocketClaim::take(const std::string& address) {
  for (int attempt = 0;; ++attempt) {
    const SafeFile safe = make_safe(address);
    const fs::path lock = lock_file(safe.file);
    const int descriptor =
        open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const int error = errno;
    const bool is_locked = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (is_locked && is_same_file(descriptor, lock))
      return std::unique_ptr<SocketClaim>(
          new SocketClaim(safe.file, descriptor,
                          MadeFolders::here().note(safe) || is_relative(address) ||
                              safe.file.parent_path() == doors_folder()));
    if (descriptor >= 0) close(descriptor);
    if (descriptor >= 0 && !is_locked) return nullptr;
    // Tries again if another process, which has just ended, has removed the folder, or the file
    // that this process has locked.
    if (descriptor < 0 && (error != ENOENT || attempt == attempts_max))
      throw std::runtime_error(fmt::format("{}: {}", lock.string(), std::strerror(error)));
    if (attempt == attempts_max)
      throw std::runtime_error(
          fmt::format("{}: replaced by another process {} times, each time when this process had "
                      "just locked it",
                      lock.string(), attempt + 1));
  }
}

SocketClaim::~SocketClaim() {
  unlink(file_.c_str());
  unlink(lock_file(file_).c_str());
  if (owns_folder_) MadeFolders::here().remove_if_empty(file_.parent_path());
  close(descriptor_);
}

RunFolder::RunFolder(std::size_t name_bytes) {
  const fs::path in = place_for_runs(name_bytes);
  remove_old_run_folders(in);
  for (int attempt = 0;; ++attempt) {
    std::string name = (in / fmt::format("{}XXXXXX", run_folder_name)).string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::system_error(
          errno, std::generic_category(),
          fmt::format("cannot make the folder {} for sockets, where {}", name,
                      in == session_folder() ? "XDG_RUNTIME_DIR says" : "TMPDIR says, or /tmp"));
    path_ = name;
    descriptor_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    // Checks that the folder still exists. Another launcher may have removed it, because an
    // unlocked folder looks like the folder of an old run.
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) == 0 &&
        is_same_file(descriptor_, path_))
      return;
    const int error = errno;
    const bool is_open = descriptor_ >= 0;
    if (is_open) close(descriptor_);
    rmdir(name.c_str());
    if ((!is_open && error != ENOENT) || attempt == attempts_max)
      throw std::system_error(is_open ? EBUSY : error, std::generic_category(),
                              fmt::format("cannot open and lock the folder {} for sockets", name));
  }
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(descriptor_);
}

SocketCleaner::SocketCleaner(std::vector<std::string> addresses)
    : addresses_(std::move(addresses)) {
  std::error_code ignored;
  for (const std::string& address : addresses_)
    if (const fs::path folder = socket_file(address).parent_path(); !fs::exists(folder, ignored))
      missing_folders_.push_back(folder);
}

SocketCleaner::~SocketCleaner() {
  std::error_code ignored;
  for (const std::string& address : addresses_) {
    const fs::path file = socket_file(address);
    if (fs::exists(lock_file(file), ignored)) remove_if_left(address);
  }
  for (const fs::path& folder : missing_folders_) rmdir(folder.c_str());
}

}  // namespace paths
