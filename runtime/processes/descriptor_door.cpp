// SPDX-License-Identifier: Apache-2.0
// runtime/processes/descriptor_door.cpp — abstract sockets that pass descriptors
#include "runtime/processes/descriptor_door.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/os_thread.hpp"

namespace runtime {
namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_CLOEXEC;
constexpr int waiting_max = 64;  // backlog of the socket; if it is full, processes must retry
constexpr int patience_ms = 1000;

constexpr std::string_view prefix = "paths-door-";

struct Name {
  sockaddr_un address{};
  socklen_t bytes = 0;
  Name(uid_t user, const std::string& name) {
    const std::string text = fmt::format("{}{}-{}", prefix, user, name);
    address.sun_family = AF_UNIX;  // a name that begins with a zero byte is in no file system
    const std::size_t letters = std::min(text.size(), sizeof address.sun_path - 1);
    std::copy_n(text.begin(), letters, address.sun_path + 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
  }
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// A message of one byte that carries a descriptor.
struct Message {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

bool send_descriptor(int socket, int descriptor) {
  Message message;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

base::Descriptor receive_descriptor(int socket) {
  Message message;
  if (recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1) return {};
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  return base::Descriptor(descriptor);
}

}  // namespace

struct DescriptorDoor::State {
  base::Descriptor listening, handed_out, wake;
  OsThread thread;

  void answer() const {
    for (;;) {
      std::array<pollfd, 2> polled{{{listening.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}}};
      if (::poll(polled.data(), polled.size(), -1) < 0) continue;
      if (polled[1].revents != 0) return;
      const base::Descriptor who(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (who) send_descriptor(who.get(), handed_out.get());
      // If there is no free descriptor for the client, pauses before the next accept.
      if (!who && errno != EAGAIN) ::poll(&polled[1], 1, patience_ms);
    }
  }
};

DescriptorDoor::DescriptorDoor(const std::string& name, base::Descriptor handed_out)
    : state_(std::make_unique<State>()) {
  State* const state = state_.get();
  const auto fail = [&](int error) {
    throw std::system_error(error, std::generic_category(),
                            fmt::format("no door '{}' for others", name));
  };
  if (name.empty() || name.size() > name_bytes_max) fail(ENAMETOOLONG);
  state->handed_out = std::move(handed_out);
  state->listening = base::Descriptor(socket(AF_UNIX, kind | SOCK_NONBLOCK, 0));
  state->wake = base::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const Name address(geteuid(), name);
  if (!state->listening || !state->wake ||
      bind(state->listening.get(), address.generic(), address.bytes) != 0 ||
      listen(state->listening.get(), waiting_max) != 0)
    fail(errno);
  state->thread = OsThread(service_stack_bytes, [state] { state->answer(); });
}

std::string DescriptorDoor::new_name(std::string_view prefix) {
  std::array<std::uint64_t, 2> words{};
  if (getentropy(words.data(), sizeof words) != 0)
    throw std::system_error(errno, std::generic_category(), "no random numbers");
  return fmt::format("{}-{:016x}{:016x}", prefix, words[0], words[1]);
}

void DescriptorDoor::leave_to_parent() { state_.release(); }

DescriptorDoor::~DescriptorDoor() {
  if (!state_) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(state_->wake.get(), &one, sizeof one);
  state_->thread.join();
}

base::Descriptor DescriptorDoor::knock(uid_t user, const std::string& name) {
  const base::Descriptor asking(socket(AF_UNIX, kind, 0));
  // Time limit, because the listening process possibly never replies.
  const timeval most{patience_ms / 1000, 0};
  setsockopt(asking.get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const Name address(user, name);
  if (name.size() > name_bytes_max || !asking ||
      connect(asking.get(), address.generic(), address.bytes) != 0)
    return {};
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != user)
    return {};
  pollfd polled{asking.get(), POLLIN, 0};
  if (::poll(&polled, 1, patience_ms) != 1) return {};
  return receive_descriptor(asking.get());
}

/// Reads /proc/net/unix, which every user may read. The line of an abstract socket ends with "@"
/// and its name.
std::vector<DescriptorDoor::Named> DescriptorDoor::all() {
  const std::string before = fmt::format("@{}", prefix);
  std::set<Named> doors;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(before);
    if (at == line.npos) continue;
    const char* const text = line.c_str() + at + before.size();
    char* end = nullptr;
    const unsigned long user = std::strtoul(text, &end, 10);
    if (end != text && *end == '-') doors.insert({static_cast<uid_t>(user), end + 1});
  }
  return {doors.begin(), doors.end()};
}

}  // namespace runtime
