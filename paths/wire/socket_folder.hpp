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
/// the folder that the variable PATHS_SOCKETS names. `paths run` sets this variable to the folder
/// of the run. If PATHS_SOCKETS is not set, FILE is in the folder `paths` in XDG_RUNTIME_DIR, if
/// this user owns XDG_RUNTIME_DIR. Otherwise FILE is in the folder `paths-UID` in TMPDIR or /tmp.
std::filesystem::path socket_file(const std::string& address);
/// Returns the address with the whole path of its file, such as "ipc:///tmp/paths-0/alpha-0", for
/// messages to users. Returns other addresses unchanged.
std::string located(const std::string& address);

/// Returns the file of socket_file() with the symbolic links in its path resolved. A host listens
/// on this file or connects to it. If the folder of the file is missing, makes the folder,
/// accessible to this user only. Throws std::runtime_error, with advice, if another user could
/// change the contents of the folder.
std::filesystem::path safe_socket_file(const std::string& address);

/// Returns the address of a host's door: the socket file at which the host that listens on
/// `address` accepts links over shared memory. If `address` is a Unix socket, the door is in the
/// same folder. Other doors are in the folder that the variable PATHS_SOCKETS names. Without this
/// variable they are in /tmp/paths-UID, which all hosts of a machine find.
std::string door_address(const std::string& address);
/// Removes the doors that killed hosts left in a folder. Leaves doors that are in use, and files
/// that are no sockets. Holds the claim of each removed door for some microseconds.
void remove_left_doors(const std::filesystem::path& folder);

/// The right of a host to listen on a socket file. The right is a lock, which the kernel releases
/// when the process ends in any way. (Without the right, ZeroMQ would replace the socket file of
/// another listening process.)
class SocketClaim {
 public:
  /// Returns nullptr if another process has the right. Throws like safe_socket_file().
  static std::unique_ptr<SocketClaim> take(const std::string& address);
  SocketClaim(const SocketClaim&) = delete;
  SocketClaim& operator=(const SocketClaim&) = delete;
  /// Removes the socket file. Also removes its folder, if the folder is empty and belongs to the
  /// run or was made for this file.
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
/// its files. The constructor removes old folders of runs whose launcher was killed, if they
/// contain only sockets and locks of sockets.
class RunFolder {
 public:
  /// Makes the folder in the first of XDG_RUNTIME_DIR, TMPDIR and /tmp in which the path of a
  /// socket whose name has `name_bytes` bytes is not too long. Throws std::system_error if the
  /// folder cannot be made there.
  explicit RunFolder(std::size_t name_bytes = 0);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // locked; shows other launchers that this one lives
};

/// Removes files that killed hosts left at the addresses of a config. Leaves files that are in use.
class SocketCleaner {
 public:
  /// Requires: constructed before the hosts start. The destructor removes the files.
  explicit SocketCleaner(std::vector<std::string> addresses);
  ~SocketCleaner();
  SocketCleaner(const SocketCleaner&) = delete;
  SocketCleaner& operator=(const SocketCleaner&) = delete;

 private:
  std::vector<std::string> addresses_;
  std::vector<std::filesystem::path> missing_folders_;
};

}  // namespace paths
