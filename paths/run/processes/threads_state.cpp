// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/threads_state.cpp — socket through which a process reports states.
#include "paths/run/processes/threads_state.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "paths/run/processes/system_call.hpp"

namespace paths {
namespace {

/// Environment variable with the number of the descriptor to which a program writes its
/// ThreadsState, and with the identity of the descriptor's file. The identity shows the program
/// whether the number now belongs to a different file.
constexpr const char* state_variable = "PATHS_LAUNCHER";

/// Returns text that identifies a descriptor and its file; "" if the descriptor is not an open
/// socket.
std::string identity_of_socket(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return "";
  return fmt::format("{}:{}", descriptor, status.st_ino);
}

}  // namespace

ThreadsStateSockets make_threads_state_sockets() {
  int ends[2];
  check_system_call(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
                    "socketpair");
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

std::pair<std::string, std::string> threads_state_variable(const base::Descriptor& of_process) {
  return {state_variable, identity_of_socket(of_process.get())};
}

void ThreadsStateReader::read() {
  char states[64];
  ssize_t count = 0;
  while (socket_ && (count = ::read(socket_.get(), states, sizeof states)) > 0)
    state_ = static_cast<ThreadsState>(states[count - 1]);
  if (count == 0) socket_.close();
}

void notify_launcher(ThreadsState state) {
  const char* const variable = std::getenv(state_variable);
  int descriptor = -1;
  if (variable == nullptr || std::sscanf(variable, "%d:", &descriptor) != 1) return;
  if (identity_of_socket(descriptor) != variable) return;
  const char byte = static_cast<char>(state);
  [[maybe_unused]] const auto sent = send(descriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace paths
