// SPDX-License-Identifier: Apache-2.0
// tests/paths/keys_real.cpp — keys of runs: peers without a key or with a wrong key, and the memory
// that holds the secret.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "paths/wire/zmq/authenticator.hpp"
#include "runtime/random.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

std::shared_ptr<const Keyring> keyring_of(const std::shared_ptr<const RunKey>& key) {
  return std::make_shared<const Keyring>(*key);
}

/// A CURVE server on a free port of this machine.
struct CurveServer {
  CurveServer(zmq::context_t& context, const Keyring& keyring)
      : router(context, zmq::socket_type::router) {
    router.set(zmq::sockopt::linger, 0);
    router.set(zmq::sockopt::rcvtimeo, 1000);
    router.set(zmq::sockopt::zap_domain, "paths");
    listen_with(router, keyring);
    router.bind("tcp://127.0.0.1:*");
  }
  std::string address() { return router.get(zmq::sockopt::last_endpoint); }
  /// Returns whether a message arrives within a second.
  bool receives() {
    zmq::message_t message;
    return router.recv(message).has_value();
  }
  zmq::socket_t router;
};

/// Returns a socket that sends a message to `server`. The socket expects the server to have the
/// public key of `expects`.
zmq::socket_t client_of(zmq::context_t& context, CurveServer& server, const CurveKeys& own,
                        const PublicKey& expects) {
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.set(zmq::sockopt::curve_serverkey, zmq::buffer(expects));
  dealer.set(zmq::sockopt::curve_publickey, zmq::buffer(own.public_key));
  dealer.set(zmq::sockopt::curve_secretkey, zmq::buffer(own.secret.bytes().data(), key_bytes));
  dealer.connect(server.address());
  dealer.send(zmq::str_buffer("hello"));
  return dealer;
}

/// A keyring that throws an exception when it must check a key.
class BrokenKeyring final : public Keyring {
 public:
  BrokenKeyring() : Keyring(*run_key()) {}
  std::optional<std::string> owner_of(const PublicKey&) const override {
    throw std::runtime_error("no more memory");
  }
};

/// Sends the parts as a request to the ZAP handler, which authenticates peers for ZeroMQ. Returns
/// the status of the reply.
std::string zap_status(zmq::socket_t& socket, const std::vector<std::string>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    socket.send(zmq::buffer(parts[i]),
                i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  std::vector<std::string> reply;
  zmq::message_t part;
  do {
    REQUIRE(socket.recv(part).has_value());
    reply.push_back(part.to_string());
  } while (part.more());
  REQUIRE(reply.size() == 6);
  CHECK(reply[0] == "1.0");
  return reply[2];
}

/// Lets a process wait until the process that started it opens the gate, or ends.
class Gate {
 public:
  Gate() { REQUIRE(pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~Gate() {
    open();
    close(ends_[0]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }
  /// Blocks until the other process opens the gate.
  void wait() {
    open();
    char byte = 0;
    while (read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Runs a host that reduces with the other hosts of `sim`. `key` is the run key that this host has;
/// nullptr = none. The host first waits for `gate`, if there is one.
HostProcess host_with(const Sim& sim, std::uint32_t host, std::shared_ptr<const RunKey> key,
                      Gate* gate = nullptr) {
  return HostProcess([&sim, host, key, gate](const Say& say) {
    if (gate != nullptr) gate->wait();
    RunOptions options{.is_one_host = true, .host = host};
    options.run_key = key;
    try {
      const auto failures = run_plan(sim.shared_plan(), sim.kinds(), options, [&](Thread& thread) {
        say(fmt::format("sum {}", thread.path("sum").move_value(1.0).payload.read<double>()));
      });
      for (const std::string& failure : failures) say("failed: " + failure);
      return failures.empty() ? 0 : 1;
    } catch (const std::exception& error) {
      say(std::string("broke: ") + error.what());
      return 2;
    }
  });
}

std::string two_over_tcp(const std::string& deadline) {
  return fmt::format("deadline: {}\nshared_memory: false\n", deadline) + network_line("tcp", 2) +
         "clusters: {alpha: {hosts: 2, threads: 1}}\n"
         "collectives: {sum: {operation: sum, template: f64}}\n";
}

/// Returns whether a core dump of this process would contain `bytes`.
bool would_be_dumped(std::span<const std::uint8_t> bytes) {
  std::ifstream maps("/proc/self/smaps");
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  REQUIRE(memory >= 0);
  std::uint64_t begin = 0, end = 0;
  bool is_found = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long first = 0, last = 0;
    char may_read = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %c", &first, &last, &may_read) == 3) {
      begin = first;
      end = may_read == 'r' ? last : first;
    }
    if (!line.starts_with("VmFlags:") || line.find(" dd") != std::string::npos) continue;
    constexpr std::uint64_t step = 64 << 10;
    // The kernel does not dump this memory either. The search therefore does not find the copy of
    // the bytes that it makes here.
    const LockedMemory some(step + bytes.size());
    for (std::uint64_t at = begin; at < end; at += step) {
      const std::uint64_t size = std::min<std::uint64_t>(end - at, some.bytes().size());
      const ssize_t got = pread(memory, some.bytes().data(), size, static_cast<off_t>(at));
      if (got > 0 && memmem(some.bytes().data(), static_cast<std::size_t>(got), bytes.data(),
                            bytes.size()) != nullptr)
        is_found = true;
    }
  }
  close(memory);
  return is_found;
}

}  // namespace

TEST_CASE("keys: two hosts with one run key meet") {
  const Sim sim(two_over_tcp("20s"));
  HostProcess a = host_with(sim, 0, run_key()), b = host_with(sim, 1, run_key());
  for (HostProcess* one : {&a, &b}) {
    check_ends_well(*one);
    CHECK(one->lines("sum 2").size() == 1);
  }
}

TEST_CASE("keys: hosts with two run keys wait for their own peers until the deadline") {
  const Sim sim(two_over_tcp("2s"));
  HostProcess a = host_with(sim, 0, run_key()), b = host_with(sim, 1, new_run_key());
  const int code = a.end(), code_of_b = b.end();
  INFO(a.text() << b.text());
  CHECK(code == 1);
  CHECK(code_of_b == 1);
  CHECK(a.lines("sum ").empty());
  const std::string& text = b.text();
  const std::string line = fmt::format(
      "host alpha-1: what listens at {} has not the key of this run", sim.plan().hosts[0].address);
  const std::size_t at = text.find(line);
  CHECK(at != std::string::npos);
  CHECK(text.find(line, at + 1) == std::string::npos);
  CHECK_THAT(a.text(), Catch::Contains("turned away: it does not have the key of this host"));
  CHECK_THAT(text, Catch::Contains("failed: ") && Catch::Contains("alpha-0"));
}

// Does not run under the thread sanitizer, which rejects forks of a process with other threads.
// Here threads of ZeroMQ run.
TEST_CASE("keys: strangers without a key, and with another one, do not disturb a run",
          "[without_tsan]") {
  const Sim sim(two_over_tcp("20s"));
  HostProcess a = host_with(sim, 0, run_key());
  // Both hosts are forked before this process has threads of ZeroMQ. Such a thread could hold a
  // lock of the allocator at that moment. Host a is forked before the gate exists, because its copy
  // would keep the gate shut.
  Gate gate;
  HostProcess b = host_with(sim, 1, run_key(), &gate);
  const std::string& address = sim.plan().hosts[0].address;
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const Stopwatch clock;
  while (!RawPeer(port).is_there() && clock.now() < 20s) pause(20ms);
  zmq::context_t context;
  std::vector<zmq::socket_t> wrong;
  for (int i = 0; i < 20; ++i) {
    RawPeer plain(port);
    plain.send_frame(raw_hello(RawHeader{}, 1, 1));
    CHECK(plain.next_header() == std::nullopt);
    const CurveKeys own = new_run_key()->curve_keys();
    zmq::socket_t& one = wrong.emplace_back(context, zmq::socket_type::dealer);
    one.set(zmq::sockopt::linger, 0);
    // Every second stranger even knows the public key of the run.
    const CurveKeys server = (i % 2 == 0 ? run_key() : new_run_key())->curve_keys();
    one.set(zmq::sockopt::curve_serverkey, zmq::buffer(server.public_key));
    one.set(zmq::sockopt::curve_publickey, zmq::buffer(own.public_key));
    one.set(zmq::sockopt::curve_secretkey, zmq::buffer(own.secret.bytes().data(), key_bytes));
    one.connect(address);
    one.send(zmq::str_buffer("hello"));
  }
  gate.open();
  for (HostProcess* one : {&a, &b}) {
    check_ends_well(*one);
    CHECK(one->lines("sum 2").size() == 1);
  }
}

TEST_CASE("keys: the side that listens survives peers with a wrong key, and so do these") {
  for (const bool knows_server : {true, false}) {
    zmq::context_t context, elsewhere;
    const auto keyring = keyring_of(run_key());
    const Authenticator authenticator(context, keyring, "alpha-0");
    {
      CurveServer server(context, *keyring);
      const CurveKeys unknown = new_run_key()->curve_keys();
      const PublicKey expected = knows_server ? keyring->own().public_key : unknown.public_key;
      const zmq::socket_t stranger = client_of(elsewhere, server, unknown, expected);
      CHECK_FALSE(server.receives());
      const zmq::socket_t peer =
          client_of(elsewhere, server, keyring->own(), keyring->own().public_key);
      CHECK(server.receives());
    }
    context.close();
  }
}

TEST_CASE("keys: a server without an authenticator accepts no key at all") {
  zmq::context_t context;
  const auto keyring = keyring_of(run_key());
  CurveServer server(context, *keyring);
  const zmq::socket_t peer = client_of(context, server, keyring->own(), keyring->own().public_key);
  CHECK_FALSE(server.receives());
}

TEST_CASE("keys: requests of ZAP are answered by 200 or 400 only") {
  zmq::context_t context;
  const auto keyring = keyring_of(run_key());
  const Authenticator authenticator(context, keyring, "alpha-0");
  {
    zmq::socket_t client(context, zmq::socket_type::req);
    client.set(zmq::sockopt::linger, 0);
    client.set(zmq::sockopt::rcvtimeo, 20'000);
    client.connect("inproc://zeromq.zap.01");
    const auto text_of = [](const PublicKey& key) { return std::string(key.begin(), key.end()); };
    const std::vector<std::string> right = {
        "1.0", "1", "paths", "127.0.0.1", "", "CURVE", text_of(keyring->own().public_key)};
    CHECK(zap_status(client, right) == "200");
    auto unknown = right;
    unknown.back() = text_of(new_run_key()->curve_keys().public_key);
    CHECK(zap_status(client, unknown) == "400");
    runtime::Random random(from_environment("PATHS_SEED", 1));
    for (std::uint64_t i = 0; i < or_fewer(from_environment("PATHS_SEEDS", 2000)); ++i) {
      auto wrong = right;
      if (random.below(3) == 0) wrong.resize(random.below(right.size()) + 1);
      if (random.below(5) == 0) wrong.insert(wrong.end(), random.below(4) + 1, "more");
      std::string& part = wrong[random.below(wrong.size())];
      if (random.below(2) == 0 || part.empty()) part += std::string(random.below(300) + 1, 'x');
      part[random.below(part.size())] ^= static_cast<char>(1 + random.below(255));
      const std::string status = zap_status(client, wrong);
      // Only the parts below decide. The other parts (address, domain, number and identity) may
      // contain anything.
      const bool is_right = wrong.size() == right.size() && wrong[0] == right[0] &&
                            wrong[5] == right[5] && wrong[6] == right[6];
      CHECK(status == (is_right ? "200" : "400"));
    }
  }
  context.close();
}

TEST_CASE("keys: if the check of keys fails for good the process of the host ends") {
  const auto outcome = as_child("dies", [] {
    zmq::context_t context;
    const Authenticator authenticator(context, std::make_shared<const BrokenKeyring>(), "alpha-0");
    CurveServer server(context, *keyring_of(run_key()));
    const CurveKeys own = run_key()->curve_keys();
    const zmq::socket_t peer = client_of(context, server, own, own.public_key);
    server.receives();
  });
  CHECK(outcome.exit_code == ended_by(SIGABRT));
  CHECK_THAT(outcome.text, Catch::Contains("host alpha-0: the check of its peers' keys has ended: "
                                           "no more memory"));
}

TEST_CASE("keys: a run key leaves the environment, and core dumps do not contain it") {
#if defined(PATHS_ASAN) || defined(PATHS_TSAN)
  return skip("the memory of a sanitizer is too large to be searched");
#endif
  setenv(run_key_variable, digits_of(*run_key()).c_str(), 1);
  const auto outcome = as_child("search", [] {
    const auto key = take_run_key();
    const auto check = [](bool is_right, const char* what) {
      if (!is_right) fmt::print("wrong: {}\n", what);
    };
    check(key != nullptr, "no key");
    if (key == nullptr) return;
    check(std::getenv(run_key_variable) == nullptr, "still in the environment");
    check(take_run_key() == key, "another key later");
    const CurveKeys curve = key->curve_keys();
    const LockedMemory digits(2 * key_bytes);
    key->secret().write_digits(std::span<char, 2 * key_bytes>(
        reinterpret_cast<char*>(digits.bytes().data()), 2 * key_bytes));
    check(!would_be_dumped(key->secret().bytes()), "secret in a dump");
    check(!would_be_dumped(curve.secret.bytes()), "derived secret in a dump");
    check(!would_be_dumped(digits.bytes()), "digits in a dump");
    check(would_be_dumped(curve.public_key), "the search finds nothing");
    check(run_shell("env").text.find(run_key_variable) == std::string::npos, "in a child");
    fmt::print("searched\n");
    std::fflush(stdout);
  });
  unsetenv(run_key_variable);
  INFO(outcome.text);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.text.find("searched") != std::string::npos);
  CHECK(outcome.text.find("wrong: ") == std::string::npos);
}

TEST_CASE("keys: a run key in the environment that is none is refused without its text") {
  for (const std::string& text :
       {std::string("12ab"), std::string(64, 'x'), std::string(65, 'a')}) {
    setenv(run_key_variable, text.c_str(), 1);
    CHECK_THROWS_WITH(take_run_key(), Catch::StartsWith("environment") &&
                                          Catch::Contains("expected the 64 hexadecimal digits") &&
                                          !Catch::Contains(text));
    unsetenv(run_key_variable);
  }
}

TEST_CASE("keys: the id and the keys of a run differ, and each run key has its own") {
  const auto elsewhere = new_run_key();
  CHECK(run_key()->id() == RunKey(Secret::parse(digits_of(*run_key())).value()).id());
  CHECK_FALSE(run_key()->id() == elsewhere->id());
  const CurveKeys one = run_key()->curve_keys(), two = elsewhere->curve_keys();
  CHECK(one.public_key != two.public_key);
  CHECK_FALSE(one.secret == two.secret);
  CHECK_FALSE(one.secret == run_key()->secret());
}
