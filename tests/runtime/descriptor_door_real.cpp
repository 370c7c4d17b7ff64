// SPDX-License-Identifier: Apache-2.0
// tests/runtime/descriptor_door_real.cpp — descriptors handed to processes that connect.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>

#include "runtime/processes/descriptor_door.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/skip.hpp"

using runtime::DescriptorDoor;

namespace {

base::Descriptor memory_of(char letter) {
  base::Descriptor memory(memfd_create("a door's", MFD_CLOEXEC));
  REQUIRE(write(memory.get(), &letter, 1) == 1);
  return memory;
}

char letter_in(const base::Descriptor& memory) {
  char letter = 0;
  return pread(memory.get(), &letter, 1, 0) == 1 ? letter : '?';
}

/// Returns a listening socket with the name of a DescriptorDoor, as a foreign process could make
/// it.
base::Descriptor listen_as(const std::string& name) {
  const std::string text = "paths-door-" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(text.begin(), text.end(), address.sun_path + 1);
  base::Descriptor listening(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  REQUIRE(bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0);
  REQUIRE(listen(listening.get(), 0) == 0);
  return listening;
}

/// Sends the descriptor `memory` over the connection `to`. Has no effect if the peer is gone.
void hand_out(const base::Descriptor& to, const base::Descriptor& memory) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = memory.get();
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  sendmsg(to.get(), &message, MSG_NOSIGNAL);
}

std::string own_name() { return "door-test-" + std::to_string(getpid()); }

}  // namespace

TEST_CASE("descriptor door: it hands its descriptor to each process that connects") {
  const uid_t user = geteuid();
  CHECK_FALSE(DescriptorDoor::knock(user, own_name()));
  {
    const DescriptorDoor door(own_name(), memory_of('a'));
    const DescriptorDoor other(own_name() + ".x", memory_of('b'));
    for (int i = 0; i < 300; ++i) {
      CHECK(letter_in(DescriptorDoor::knock(user, own_name())) == 'a');
      CHECK(letter_in(DescriptorDoor::knock(user, own_name() + ".x")) == 'b');
    }
    CHECK_THROWS_AS(DescriptorDoor(own_name(), memory_of('c')), std::system_error);
    const auto all = DescriptorDoor::all();
    CHECK(std::count(all.begin(), all.end(), DescriptorDoor::Named{user, own_name()}) == 1);
  }
  CHECK_FALSE(DescriptorDoor::knock(user, own_name()));
  CHECK_THROWS_AS(DescriptorDoor(std::string(86, 'a'), memory_of('c')), std::system_error);
  const DescriptorDoor longest(std::string(85, 'a'), memory_of('c'));
  CHECK(letter_in(DescriptorDoor::knock(user, std::string(85, 'a'))) == 'c');
}

TEST_CASE("descriptor door: a socket of another user with the same name is not trusted") {
  const base::Descriptor listening = listen_as("4000000-" + own_name());
  const base::Descriptor memory = memory_of('x');
  test_support::on_steady_clock([&](runtime::Runtime& runtime) {
    const runtime::Task squatter = runtime.spawn(runtime::ContextRole::thread, {"squatter"}, [&] {
      const base::Descriptor who(accept(listening.get(), nullptr, nullptr));
      hand_out(who, memory);
      // Keeps the connection open until this context is cancelled.
      runtime.sleep_for(std::chrono::hours(1));
    });
    CHECK_FALSE(DescriptorDoor::knock(4'000'000, own_name()));
  });
}

TEST_CASE("descriptor door: a peer that accepts but does not reply delays no caller for long") {
  const base::Descriptor listening = listen_as(std::to_string(geteuid()) + "-" + own_name());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(DescriptorDoor::knock(geteuid(), own_name()));
}

TEST_CASE("descriptor door: it hands its descriptor to processes of other users too") {
  if (geteuid() != 0) return test_support::skip("another user (root)");
  const std::string name = own_name();
  test_support::Between<std::atomic<int>> stage;
  test_support::Forked other([&](runtime::Runtime& runtime) {
    while (*stage != 1) runtime.sleep_for(base::Nanos(1'000'000));
    if (setuid(65534) != 0) throw std::runtime_error("no other user");
    if (letter_in(DescriptorDoor::knock(0, name)) != 'a') throw std::runtime_error("nothing");
    if (DescriptorDoor::knock(65534, name)) throw std::runtime_error("of himself");
  });
  const DescriptorDoor door(name, memory_of('a'));
  *stage = 1;
  CHECK(other.wait() == 0);
}
