// SPDX-License-Identifier: Apache-2.0
// tests/paths/stranger_real.cpp — a run of two processes with invalid connections to their ports.
//
// PATHS_STRANGERS=10000 makes that many connections of each kind, and prints the cost.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "paths/wire/frame.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/resources.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

const std::string old_greeting("\x01\x00\x04\x00\x61\x62\x63", 7);

std::string signature() { return "\xff" + std::string(8, '\0') + "\x7f"; }

/// Returns a greeting of ZMTP 2: a dealer, no identity, one message.
std::string second_greeting() {
  return signature() + std::string("\x01\x05\x00\x00\x00\x03xyz", 9);
}

std::string message(const std::string& bytes, bool has_more) {
  const char flags = has_more ? '\x01' : '\0';
  return std::string{flags, static_cast<char>(bytes.size())} + bytes;  // up to 255 bytes
}

/// Returns the first bytes that ZeroMQ 4 sends as a dealer, if it is not refused.
std::string third_greeting() {
  const std::string mechanism = "NULL" + std::string(16, '\0');
  const std::string ready = "\x05READY\x0bSocket-Type" + std::string("\0\0\0\x06", 4) + "DEALER";
  return signature() + std::string("\x03\x00", 2) + mechanism + std::string(32, '\0') + "\x04" +
         static_cast<char>(ready.size()) + ready;
}

/// Returns the hello of a peer that knows the digest and claims to be the connected host alpha-1.
std::string impostor(const paths::Plan& plan) {
  paths::Frame hello;
  hello.kind = paths::FrameKind::hello;
  hello.run_high = plan.digest.high;
  hello.run_low = plan.digest.low;
  hello.from_host = 1;
  hello.stage = plan.shares[0].entrances.at(0).stage;
  hello.text = "alpha-1";
  hello.deployment =
      std::make_shared<const paths::DeploymentId>(paths::DeploymentId{"", 1, 1, plan.digest});
  const auto header = paths::encode_header(hello);
  return message({reinterpret_cast<const char*>(header.data()), header.size()}, true) +
         message("", false);
}

class Stranger {
 public:
  Stranger(int port, const std::string& bytes) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    is_there_ = connect(descriptor_, to, sizeof address) == 0;
    if (is_there_) say(bytes);
  }
  Stranger(Stranger&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), is_there_(other.is_there_) {}
  ~Stranger() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_there() const { return is_there_; }
  void say(const std::string& bytes) {
    // If the connection was closed meanwhile, the rest cannot be sent.
    if (send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) is_there_ = false;
  }
  /// Reads until the other end closes or is silent for that time.
  void listen(int milliseconds) {
    const timeval patience{milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char some[4096];
    while (recv(descriptor_, some, sizeof some, 0) > 0) {
    }
  }

 private:
  int descriptor_;
  bool is_there_ = false;
};

std::size_t lines_with(const std::string& word, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

/// Runs rounds until the end file exists.
void reduce(paths::Thread& thread, const Say& say, const std::string& end_file) {
  double end = 0;
  std::uint64_t round = 0;
  for (; end == 0; ++round) {
    const bool wants_end = thread.rank() == 0 && fs::exists(end_file);
    end = thread.path("sum").move_value(wants_end ? 1.0 : 0.0).payload.read<double>();
    const double count = thread.path("count").move_value(double(round)).payload.read<double>();
    if (count != 2.0 * double(round)) throw std::runtime_error("a wrong result");
    if (round == 20) say("is at work");
    thread.sleep_for(100us);
  }
  say(fmt::format("rounds {}", round));
}

struct Visit {
  const Sim& sim;
  int port;
  std::uint64_t count;

  void each(const std::string& bytes) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      Stranger one(port, bytes);
      if (i % 64 == 0) one.listen(20);
    }
  }
  void all() const {
    runtime::Random random(1);
    each(old_greeting);
    each(second_greeting());
    std::string noise(64 * 1024, '\0');
    for (char& one : noise) one = static_cast<char>(random.next());
    each(noise);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (char& one : noise) one = static_cast<char>(random.next());
      Stranger(port, noise.substr(0, 1 + random.below(300)));
    }
    each("");
    each(third_greeting());
    each(third_greeting() + message("nonsense", true) + message("more", false));
    each(third_greeting() + message("one part", false));
    each(third_greeting() + impostor(sim.plan()) + impostor(sim.plan()));
    held_open();
  }
  /// Sends half a greeting on each of many connections, and keeps them open. Stops when no more
  /// descriptors are available.
  void held_open() const {
    std::vector<Stranger> slow;
    for (std::uint64_t i = 0; i < count; ++i) {
      slow.emplace_back(port, (i % 2 == 0 ? third_greeting() : old_greeting).substr(0, 1 + i % 6));
      if (!slow.back().is_there()) slow.pop_back();
    }
    for (Stranger& one : slow) one.say("\x7f");
  }
};

}  // namespace

TEST_CASE(
    "strangers: among noise and old greetings and many connections a run continues and ends "
    "right") {
  const std::uint64_t count = from_environment("PATHS_STRANGERS", 100);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int port = free_ports(2);
  const Sim sim(fmt::format(R"(
network: {{port: {}}}
clusters: {{alpha: {{hosts: 2, threads: 1}}}}
collectives:
  sum: {{operation: sum, template: f64}}
  count: {{operation: sum, template: f64}}
)",
                            port));
  const Folder folder;
  const std::string file = folder.file("end");
  const auto work = [&](paths::Thread& thread, const Say& say) { reduce(thread, say, file); };
  HostProcess victim(sim, 0, work), other(sim, 1, work);
  REQUIRE(victim.says("is at work"));

  const Visit visit{sim, port, count};
  // First visits, which make the process fill its memory pools.
  Visit{sim, port, std::min<std::uint64_t>(count, 100)}.all();
  const auto resident = resident_kib(victim.pid());
  const auto open = open_descriptors(victim.pid());
  visit.all();
  const Stopwatch clock;
  while (open_descriptors(victim.pid()) > open && clock.now() < 60s) pause(50ms);
  const auto open_after = open_descriptors(victim.pid());
  const auto resident_after = resident_kib(victim.pid());
  std::ofstream(file).put('.');
  const int code = victim.end(60'000), other_code = other.end(60'000);
  const std::size_t lines = lines_with("[warning]", victim.text());
  INFO(victim.text() << other.text());
  CHECK(code == 0);
  CHECK(other_code == 0);
  CHECK(open_after <= open);
  CHECK(resident_after < resident + 64 * 1024);
  CHECK(lines <= 2);  // few, because all connections come from one address
  if (count != 100)
    fmt::print(
        "{} of each sort: {} to {} KiB resident, {} to {} descriptors, {} lines in the log, {}",
        count, resident, resident_after, open, open_after, lines, victim.text());
}
