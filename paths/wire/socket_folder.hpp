// SPDX-License-Identifier: Apache-2.0
// paths/wire/socket_folder.hpp — files of Unix sockets, in folders that no other user can change
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace paths {

/// Returns the file of an address "ipc://FILE"; empty for an address of any other form. A relative
/// FILE is in one of these folders, the first that applies:
/// - the folder that the environment variable PATHS_SOCKETS names (`paths run` sets the variable to
///   the folder of the run);
/// - the folder `paths` in XDG_RUNTIME_DIR, if this user owns XDG_RUNTIME_DIR;
/// - the folder `paths-UID` in TMPDIR, or in /tmp if TMPDIR is not an absolute path.
std::filesystem::path socket_file(const std::string& address);
/// Returns an address "ipc://FILE" with the absolute path of its file, such as
/// "ipc:///tmp/paths-0/alpha-0", for messages to users. Returns any other address unchanged.
std::string located(const std::string& address);

/// Returns the file socket_file(address), with the symbolic links in its path resolved. Hosts
/// listen on this file and connect to it. If the folder of the file is missing, makes the folder,
/// which is then accessible to this user only.
/// Throws: std::runtime_error, with advice, if another user could change the contents of the
///         folder.
std::filesystem::path safe_socket_file(const std::string& address);

/// Returns the address of the door of the host that listens on `address`. A door is the socket file
/// at which a host accepts links over shared memory. If `address` is a Unix socket, the door is in
/// the same folder. Otherwise the door is in the folder `doors` in the folder that the environment
/// variable PATHS_SOCKETS names. Without this variable, the door is in /tmp/paths-UID, which all
/// hosts of a machine find.
std::string door_address(const std::string& address);
/// Removes the doors that killed hosts left in a folder. Keeps doors that are in use, and files
/// that are not sockets. Holds the claim of each removed door for some microseconds.
void remove_left_doors(const std::filesystem::path& folder);

/// The right of a host to listen on a socket file. The right is a lock, which the kernel releases
/// when the process ends in any way.
/// Why: without this right, ZeroMQ would replace the socket file of another listening process.
class SocketClaim {
 public:
  /// Takes the right; returns nullptr if another process has it. Throws like safe_socket_file().
  static std::unique_ptr<SocketClaim> take(const std::string& address);
  SocketClaim(const SocketClaim&) = delete;
  SocketClaim& operator=(const SocketClaim&) = delete;
  /// Removes the socket file. Also removes the folder of the file if the folder is empty, provided
  /// that this process made the folder, or that the address does not name the folder.
  ~SocketClaim();
  const std::filesystem::path& file() const { return file_; }

 private:
  SocketClaim(std::filesystem::path file, int descriptor, bool owns_folder)
      : file_(std::move(file)), descriptor_(descriptor), owns_folder_(owns_folder) {}
  std::filesystem::path file_;
  int descriptor_;
  bool owns_folder_;
};

/// A folder with a random name for the sockets of one run. The destructor removes the folder and
/// its files. The constructor removes the old folders of runs whose launcher was killed. Old
/// folders with files other than sockets and locks of sockets are kept.
class RunFolder {
 public:
  /// Makes the folder in XDG_RUNTIME_DIR, TMPDIR or /tmp. Uses the first of them in which the path
  /// of a socket is not too long. `name_bytes` is the length of the longest socket name.
  /// Throws: std::system_error if the folder cannot be made there.
  explicit RunFolder(std::size_t name_bytes = 0);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // locked folder; the lock shows other launchers that this run lives
};

/// Removes files that killed hosts left at the addresses of a config. Keeps files that are in use.
class SocketCleaner {
 public:
  /// Notes the addresses. The destructor removes the files.
  /// Requires: the hosts have not started yet.
  explicit SocketCleaner(std::vector<std::string> addresses);
  ~SocketCleaner();
  SocketCleaner(const SocketCleaner&) = delete;
  SocketCleaner& operator=(const SocketCleaner&) = delete;

 private:
  std::vector<std::string> addresses_;
  std::vector<std::filesystem::path> missing_folders_;
};

}  // namespace paths
