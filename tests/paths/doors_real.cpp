// SPDX-License-Identifier: Apache-2.0
// tests/paths/doors_real.cpp — processes that try to take the doors of hosts for shared memory.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "paths/wire/shared_memory/socket.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"

namespace {

using namespace test_support;
namespace fs = std::filesystem;

/// A listening SOCK_SEQPACKET socket with any name, such as that of a host's door.
class Squatter {
 public:
  explicit Squatter(const std::string& name) : descriptor_(socket(AF_UNIX, SOCK_SEQPACKET, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    is_listening_ = bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
                    ::listen(descriptor_, 16) == 0;
  }
  ~Squatter() { close(descriptor_); }
  bool is_listening() const { return is_listening_; }
  bool has_visitor() const {
    pollfd wanted{descriptor_, POLLIN, 0};
    return poll(&wanted, 1, 0) > 0;
  }
  /// Returns the number of bytes that the first visitor has sent.
  ssize_t bytes_of_visitor() const {
    const int visitor = accept(descriptor_, nullptr, nullptr);
    char some[64];
    const ssize_t bytes = recv(visitor, some, sizeof some, MSG_DONTWAIT);
    close(visitor);
    return bytes;
  }

 private:
  int descriptor_;
  bool is_listening_ = false;
};

std::string config_of(const std::string& network) {
  return network +
         "shared_memory: true\ndeadline: 20s\nclusters: {a: {hosts: 2, threads: 1}}\n"
         "collectives: {sum: {operation: sum, template: f64}}\n";
}

void sum(paths::Thread& thread, const Say&) {
  for (int round = 0; round < 100; ++round)
    if (thread.path("sum").move_value(1.0).payload.read<double>() != 2.0)
      throw std::runtime_error("a wrong sum");
}

fs::path door_of(const Sim& sim) {
  return paths::socket_file(paths::door_address(sim.plan().hosts[0].address));
}

/// Makes the folder of a door as a run makes it, so that a process can listen there before the run.
/// Removes the door that a killed host with the same port may have left.
void make_folder_of(const fs::path& door) {
  fs::create_directories(door.parent_path());
  fs::permissions(door.parent_path(), fs::perms::owner_all);
  fs::remove(door);
}

}  // namespace

TEST_CASE("doors: a process of this user that sits on a door is replaced when the host starts") {
  const std::string transport = GENERATE("tcp", "ipc");
  const Sim sim(config_of(network_line(transport, 2)));
  const fs::path door = door_of(sim);
  make_folder_of(door);
  const Squatter squatter(door.string());
  REQUIRE(squatter.is_listening());
  HostProcess owner(sim, 0, [](paths::Thread& thread, const Say& say) {
    say("has started");
    sum(thread, say);
  });
  REQUIRE(owner.says("has started"));
  HostProcess other(sim, 1, sum);
  check_ends_well(owner);
  check_ends_well(other);
  CHECK_FALSE(squatter.has_visitor());
  CHECK_FALSE(fs::exists(door));
  // With ipc, removes the folder, because a host does not remove a folder that it did not make.
  if (transport == "ipc") fs::remove(door.parent_path());
}

TEST_CASE("doors: a host waits for its door while another process removes left doors") {
  const Folder folder;
  const std::string address = "ipc://" + folder.file("host");
  const auto busy_for = std::chrono::milliseconds(GENERATE(3, 100));
  on_steady_clock([&](runtime::Runtime& runtime) {
    auto claim = paths::SocketClaim::take(paths::door_address(address));
    runtime::Task remover = runtime.spawn(runtime::ContextRole::service, {"remover"}, [&] {
      runtime.sleep_for(busy_for);
      claim.reset();
    });
    CHECK(paths::open_door(address, runtime).claim != nullptr);
    remover.join();
  });
}

TEST_CASE("doors: a host does not wait for a door at which another host listens") {
  const Folder folder;
  const std::string address = "ipc://" + folder.file("host");
  on_steady_clock([&](runtime::Runtime& runtime) {
    const paths::Door door = paths::open_door(address, runtime);
    const base::Nanos begun = runtime.now();
    CHECK_THROWS_AS(paths::open_door(address, runtime), std::system_error);
    CHECK(runtime.now() - begun < std::chrono::seconds(5));
  });
}

TEST_CASE("doors: an occupied abstract name does not matter") {
  const Sim sim(config_of(network_line("tcp", 2)));
  const std::string digest = base::digest_of(sim.plan().hosts[0].address).text();
  const std::string name = fmt::format("paths-{}-{}", geteuid(), digest);
  const Squatter squatter(std::string(1, '\0') + name);
  REQUIRE(squatter.is_listening());
  HostProcesses hosts = start_hosts(sim, sum);
  check_all_end_well(hosts);
  CHECK_FALSE(squatter.has_visitor());
}

TEST_CASE("doors: a process of another user at a door gets neither a byte nor a descriptor") {
  if (geteuid() != 0) return skip("only root can make a process of another user");
  const Sim sim(config_of(network_line("tcp", 2)));
  const fs::path door = door_of(sim);
  make_folder_of(door);
  const Folder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const std::string elsewhere = folder.file("squatter");
  HostProcess stranger([&](const Say& say) {
    if (setresuid(65534, 65534, 65534) != 0) return 1;
    const Squatter squatter(elsewhere);
    if (!squatter.is_listening()) return 2;
    say("listens");
    while (!squatter.has_visitor()) pause(std::chrono::milliseconds(1));
    say(fmt::format("got {}", squatter.bytes_of_visitor()));
    return 0;
  });
  REQUIRE(stranger.says("listens"));
  // Only root can do this: other users cannot replace files in that folder.
  fs::rename(elsewhere, door);
  HostProcess other(sim, 1, sum);
  CHECK(stranger.end() == 0);
  const std::string got = stranger.line("got ");
  // "0" = the connection was closed; "-1" = nothing arrived yet.
  CHECK((got == "0" || got == "-1"));
  HostProcess owner(sim, 0, sum);
  check_ends_well(owner);
  check_ends_well(other);
  CHECK_THAT(other.text(), Catch::Contains("a process of another user listens"));
}
