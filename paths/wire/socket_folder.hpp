// SPDX-License-Identifier: Apache-2.0
// paths/wire/socket_folder.hpp — files of Unix sockets, in folders that no other user can change
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace paths {

/// Returns the file of an address "ipc://FILE"; empty for other addresses. A relative FILE is in
/// the run's own folder, PATHS_SOCKETS, which `paths run` sets. Without it, FILE is in the user's
/// folder: `paths` in XDG_RUNTIME_DIR if this user owns that, otherwise paths-UID in TMPDIR or
/// /tmp.
std::filesystem::path socket_file(const std::string& address);
/// Returns the address with that file, for messages to people.
std::string located(const std::string& address);

/// Returns the same file without symbolic links, to listen on or connect to. Makes its folder, for
/// this user alone, if it is missing. Throws std::runtime_error, with advice, if another user could
/// change the contents of the folder.
std::filesystem::path safe_socket_file(const std::string& address);

/// A host's right to listen on a file: a lock that ends with the process, in whatever way. (ZeroMQ
/// would take a socket's file from a listening process without asking.)
class SocketClaim {
 public:
  /// Returns nullptr if another process has the right. Throws like safe_socket_file().
  static std::unique_ptr<SocketClaim> take(const std::string& address);
  SocketClaim(const SocketClaim&) = delete;
  SocketClaim& operator=(const SocketClaim&) = delete;
  /// Removes the socket's file. Also removes its folder if that is empty, and was made for the file
  /// or is the run's own.
  ~SocketClaim();
  const std::filesystem::path& file() const { return file_; }

 private:
  SocketClaim(std::filesystem::path file, int descriptor, bool owns_folder)
      : file_(std::move(file)), descriptor_(descriptor), owns_folder_(owns_folder) {}
  std::filesystem::path file_;
  int descriptor_;
  bool owns_folder_;
};

/// A folder for the sockets of one run, with a random name. The destructor removes it with all its
/// files. The constructor removes the folders of runs whose launcher was killed, if they contain
/// only sockets and their locks.
class RunFolder {
 public:
  /// Makes it in XDG_RUNTIME_DIR, TMPDIR or /tmp: the first in which socket names of `name_bytes`
  /// are short enough. Throws std::system_error if none can be made.
  explicit RunFolder(std::size_t name_bytes = 0);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // locked, so that other launchers see that this one lives
};

/// Removes what killed hosts left at the addresses of a config, and nothing that is in use.
class SocketCleaner {
 public:
  /// Requires: constructed before the hosts begin. The destructor cleans up.
  explicit SocketCleaner(std::vector<std::string> addresses);
  ~SocketCleaner();
  SocketCleaner(const SocketCleaner&) = delete;
  SocketCleaner& operator=(const SocketCleaner&) = delete;

 private:
  std::vector<std::string> addresses_;
  std::vector<std::filesystem::path> missing_folders_;
};

}  // namespace paths
