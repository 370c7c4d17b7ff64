// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/socket.cpp — opening of doors, and messages on the sockets of links
#include "paths/wire/shared_memory/socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace paths {
namespace {

constexpr int waiting_max = 1024;  // maximum number of connections that wait for accept()
constexpr int claim_attempts_min = 20, claim_attempts_max = 5000;  // one attempt per millisecond
constexpr std::array<char, 2> refusal = {'N', 'O'};
constexpr int kind = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct Name {
  /// Requires: `file` is not too long, which safe_socket_file() checks.
  explicit Name(const std::filesystem::path& file) {
    address.sun_family = AF_UNIX;
    const std::string text = file.string();
    std::copy_n(text.begin(), std::min(text.size(), sizeof address.sun_path - 1), address.sun_path);
  }
  sockaddr_un address{};
  static constexpr socklen_t bytes = sizeof(sockaddr_un);
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, kind, 0));
  if (!made) throw std::system_error(errno, std::generic_category(), "no socket");
  return made;
}

using Control = std::array<char, CMSG_SPACE(2 * sizeof(int))>;

/// Takes ownership of all received descriptors. Stores the first two descriptors in `taken`, and
/// closes all further descriptors.
void take_descriptors(msghdr& message, std::array<Descriptor, 2>& taken) {
  std::size_t count = 0;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= one->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(one) + at, sizeof descriptor);
      Descriptor held(descriptor);
      if (count < taken.size()) taken[count++] = std::move(held);
    }
  }
}

/// Takes the claim to a door; retries while another host holds the claim only for a moment. (A host
/// that starts holds claims in remove_left_doors(), but does not listen at their doors.) Returns
/// nullptr if another host listens at the door, or keeps the claim for too long.
std::unique_ptr<SocketClaim> take_claim(const std::string& address, runtime::Runtime& runtime) {
  for (int attempt = 0;; ++attempt) {
    auto claim = SocketClaim::take(door_address(address));
    if (claim || attempt == claim_attempts_max ||
        (attempt >= claim_attempts_min && connect_link(address)))
      return claim;
    runtime.sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Door open_door(const std::string& address, runtime::Runtime& runtime) {
  Door door{take_claim(address, runtime), new_socket()};
  if (!door.claim) throw std::system_error(EADDRINUSE, std::generic_category(), "shared memory");
  const Name name(door.claim->file());
  unlink(name.address.sun_path);  // a killed process may have left this file
  if (bind(door.listening.get(), name.generic(), Name::bytes) != 0 ||
      listen(door.listening.get(), waiting_max) != 0)
    throw std::system_error(errno, std::generic_category(), "shared memory");
  remove_left_doors(door.claim->file().parent_path());
  return door;
}

Descriptor connect_link(const std::string& address) {
  const std::string door = door_address(address);
  std::error_code ignored;
  if (!std::filesystem::exists(socket_file(door), ignored)) return {};
  Descriptor made = new_socket();
  const Name name(safe_socket_file(door));
  if (connect(made.get(), name.generic(), Name::bytes) != 0) made.close();
  return made;
}

Descriptor accept_link(const Descriptor& listening) {
  return Descriptor(accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

bool is_this_users(const Descriptor& socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         peer.uid == geteuid();
}

bool send_greeting(const Descriptor& socket, int first, int second) {
  LinkGreeting greeting;
  iovec part{&greeting, sizeof greeting};
  alignas(cmsghdr) Control control{};
  const std::array<int, 2> descriptors{first, second};
  const std::size_t bytes = (second < 0 ? 1 : 2) * sizeof(int);
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  return sendmsg(socket.get(), &message, MSG_NOSIGNAL) == sizeof greeting;
}

void send_refusal(const Descriptor& socket) {
  [[maybe_unused]] const auto sent =
      send(socket.get(), refusal.data(), refusal.size(), MSG_NOSIGNAL);
}

/// Asks the peer to check the rings. Ignores a full socket, because the peer checks the rings when
/// it reads the messages in the full socket.
void ring_bell(const Descriptor& socket) {
  const char bell = 0;
  [[maybe_unused]] const auto sent = send(socket.get(), &bell, sizeof bell, MSG_NOSIGNAL);
}

SocketWord next_word(const Descriptor& socket) {
  LinkGreeting greeting;
  iovec part{&greeting, sizeof greeting};
  alignas(cmsghdr) Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t bytes = recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  SocketWord word;
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return word;
  take_descriptors(message, word.descriptors);
  word.lacks_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
  if (bytes <= 0) {
    word.kind = SocketWord::Kind::end;
  } else if (bytes == 1) {
    word.kind = SocketWord::Kind::bell;
  } else if (bytes == std::ssize(refusal)) {
    word.kind = SocketWord::Kind::refusal;
  } else {
    word.kind = SocketWord::Kind::greeting;
    if (bytes == sizeof greeting && (message.msg_flags & MSG_TRUNC) == 0) word.greeting = greeting;
  }
  return word;
}

}  // namespace paths
