// SPDX-License-Identifier: Apache-2.0
// paths/address.hpp — what lies behind "tcp://HOST:PORT" and "ipc://FILE".
#pragma once
#include <filesystem>
#include <string>

namespace paths {

/// "tcp://localhost:7700" as ZeroMQ can listen on it, which takes no names. Blocks while it asks
/// for the name.
std::string numeric_address(const std::string& address);

/// "" when the address is not one of a Unix socket.
std::filesystem::path socket_file(const std::string& address);
/// ZeroMQ takes the file of a Unix socket from whoever listens on it without asking.
bool somebody_listens(const std::string& address);
/// The folder of a Unix socket is made when it is missing, for this user alone.
void make_socket_folder(const std::string& address);

}  // namespace paths
