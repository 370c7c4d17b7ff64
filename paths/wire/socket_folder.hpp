// SPDX-License-Identifier: Apache-2.0
// paths/wire/socket_folder.hpp — the files of Unix sockets, in folders that nobody else can reach
// into.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace paths {

/// Where "ipc://FILE" is; "" for an address that is not one of a Unix socket. A relative FILE is in
/// the run's own folder: PATHS_SOCKETS, as `paths run` sets it, else the user's: `paths` in
/// XDG_RUNTIME_DIR, if that is theirs, else paths- and the user's number in TMPDIR or /tmp.
std::filesystem::path socket_file(const std::string& address);
/// The address with that file, for people.
std::string located(const std::string& address);

/// The same file without symbolic links, to listen on or connect to. Makes its folder when it is
/// missing, for this user alone. Throws std::runtime_error, which says what to do, when another
/// user could change what is in there.
std::filesystem::path safe_socket_file(const std::string& address);

/// A host's right to listen there: a lock that goes with the process, however it ends. (ZeroMQ
/// takes the file of a socket from whoever listens on it without asking.)
class SocketClaim {
 public:
  /// Null when another process has it. Throws like safe_socket_file().
  static std::unique_ptr<SocketClaim> take(const std::string& address);
  SocketClaim(const SocketClaim&) = delete;
  SocketClaim& operator=(const SocketClaim&) = delete;
  /// Removes what it was for: the socket's file, and its folder if that is empty and was made for
  /// it, or is the run's own.
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
  /// In XDG_RUNTIME_DIR, TMPDIR or /tmp: the first in which names of sockets of `name_bytes` are
  /// short enough. Throws std::system_error when none can be made.
  explicit RunFolder(std::size_t name_bytes = 0);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // locked, so that others see that we live
};

/// What hosts that were killed left behind at addresses of a config's own; nothing that is in use.
class SocketCleaner {
 public:
  /// Before the hosts begin.
  explicit SocketCleaner(std::vector<std::string> addresses);
  ~SocketCleaner();
  SocketCleaner(const SocketCleaner&) = delete;
  SocketCleaner& operator=(const SocketCleaner&) = delete;

 private:
  std::vector<std::string> addresses_;
  std::vector<std::filesystem::path> missing_folders_;
};

}  // namespace paths
