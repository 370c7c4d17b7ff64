// SPDX-License-Identifier: Apache-2.0
// bench/transport_rates.cpp — round trips and throughput of transports between two processes
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/keys/host_keys.hpp"
#include "paths/keys/keyring.hpp"
#include "paths/wire/shared_memory/transport.hpp"
#include "paths/wire/transports.hpp"
#include "runtime/runtime.hpp"

namespace {

using namespace paths;

/// Counts arriving frames. In the process that replies, also sends a reply after every
/// `answers_each` frames.
class Counter final : public Receiver {
 public:
  Transport* transport = nullptr;
  std::uint64_t answers_each = 0;  // number of frames per reply; 0 = no replies

  void deliver(ConnectionId connection, Frame&& frame) override {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    ++count_;
    const bool answers = answers_each != 0 && frame.call % answers_each == answers_each - 1;
    changed_.wake_all(wakes);
    lock.unlock();
    if (!answers) return;
    if (frame.operation.payload.size() > 8) frame.operation.payload = base::Payload::of(1.0);
    transport->send(connection, std::move(frame));
  }
  void connection_lost(ConnectionId, const std::string&) override {}
  void await(std::uint64_t count) {
    runtime::Lock lock(mutex_);
    while (count_ < count) changed_.wait(lock, runtime::Deadline::never(), {"an answer"});
  }

 private:
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::uint64_t count_ = 0;
};

struct Ask {
  std::string transport;
  std::string security;  // protection of TCP: plain, run or keys
  std::size_t bytes = 8;
  std::uint64_t frames = 1000;  // frames per repetition
  std::uint64_t repetitions = 7;
  std::uint64_t answers_each = 1;  // number of frames per reply; 1 = round trips
  std::size_t connections = 1;
};

/// Keys of a run and of its two hosts. Both processes have the same keys, because the first call of
/// keys() precedes fork().
struct Keys {
  RunKey run{Secret::random()};
  std::array<Secret, 2> seeds = {Secret::random(), Secret::random()};
};
const Keys& keys() {
  static const Keys keys;
  return keys;
}

std::string name_of(std::uint32_t host) { return fmt::format("alpha-{}", host); }

/// Returns the keyring of a host; nullptr if connections are not encrypted.
std::shared_ptr<const Keyring> keyring_of(const std::string& security, std::uint32_t host) {
  if (security == "run") return std::make_shared<const Keyring>(keys().run);
  if (security != "keys") return nullptr;
  HostKeys all;
  for (std::uint32_t i = 0; i < 2; ++i) all.keys[name_of(i)] = {public_key_of(keys().seeds[i])};
  return std::make_shared<const Keyring>(curve_keys_of(keys().seeds[host]), all);
}

std::unique_ptr<Transport> make(runtime::Runtime& runtime, const Ask& ask, std::uint32_t host) {
  auto peers = std::make_shared<Peers>();
  for (std::uint32_t i = 0; i < 2; ++i) {
    Peers::Peer peer{name_of(i), fmt::format("ipc://transport-rates-{}", i), 0};
    if (ask.transport == "tcp") peer.address = fmt::format("tcp://127.0.0.1:{}", 7790 + i);
    peer.arrivals.resize(ask.connections);  // otherwise the host closes some of them as half open
    peer.key_owner = peer.name;
    peers->hosts.push_back(peer);
  }
  peers->keyring = keyring_of(ask.security, host);
  if (ask.transport == "memory") return make_shared_memory_transport(runtime, peers, host);
  return make_transport(runtime, peers, host);
}

void answer(const Ask& ask) {
  runtime::Runtime runtime;
  runtime.run([&] {
    Counter counter;
    auto transport = make(runtime, ask, 1);
    counter.transport = transport.get();
    counter.answers_each = ask.answers_each;
    transport->start(counter);
    counter.await(~std::uint64_t{0});
  });
}

/// Returns the processor time that a process has used, in seconds; 0 = this process.
double processor_seconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0)
    throw std::runtime_error("cannot read the processor time of a process");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

struct Measured {
  double seconds = 0;    // median of the repetitions
  double processor = 0;  // processor time of both processes for one repetition, on average
};

class Sender {
 public:
  Sender(const Ask& ask, pid_t far) : ask_(ask), far_(far) {
    frame_.kind = FrameKind::one_way;
    frame_.text = name_of(0);  // with keys of hosts, the first frame of a connection names the host
    frame_.operation.payload = base::Payload::filled(
        ask.bytes, [](auto space) { std::fill(space.begin(), space.end(), std::byte{1}); });
  }

  Measured measure() {
    Measured measured;
    runtime_.run([&] {
      transport_ = make(runtime_, ask_, 0);
      transport_->start(counter_);
      if (ask_.connections > 1) {
        measured = {seconds_of([&] { connect_all(); }), 0};
        return;
      }
      const ConnectionId connection = transport_->connect(1);
      seconds_of([&] { send_all(connection); });  // a warm-up
      frame_.text.clear();
      const double before = processor();
      std::vector<double> seconds;
      for (std::uint64_t i = 0; i < ask_.repetitions; ++i)
        seconds.push_back(seconds_of([&] { send_all(connection); }));
      measured.processor = (processor() - before) / static_cast<double>(ask_.repetitions);
      std::sort(seconds.begin(), seconds.end());
      measured.seconds = seconds[seconds.size() / 2];
    });
    return measured;
  }

 private:
  double processor() const { return processor_seconds(0) + processor_seconds(far_); }
  template <class Act>
  double seconds_of(Act act) {
    const base::Nanos began = runtime_.now();
    act();
    return std::chrono::duration<double>(runtime_.now() - began).count();
  }
  void send_all(ConnectionId connection) {
    for (std::uint64_t i = 0; i < ask_.frames; ++i) {
      frame_.call = i;
      transport_->send(connection, paths::Frame(frame_));
      if (i % ask_.answers_each == ask_.answers_each - 1) counter_.await(++awaited_);
    }
  }
  void connect_all() {
    frame_.call = 0;
    for (std::size_t i = 0; i < ask_.connections; ++i)
      transport_->send(transport_->connect(1), paths::Frame(frame_));
    counter_.await(ask_.connections);
  }

  const Ask& ask_;
  const pid_t far_;
  Frame frame_;
  // The transport must be destroyed first.
  runtime::Runtime runtime_;
  Counter counter_;
  std::unique_ptr<Transport> transport_;
  std::uint64_t awaited_ = 0;
};

void run(const Ask& ask) {
  keys();
  const pid_t far = fork();  // forks before any thread exists
  if (far == 0) {
    answer(ask);
    _exit(0);
  }
  const Measured measured = Sender(ask, far).measure();
  kill(far, SIGKILL);
  waitpid(far, nullptr, 0);
  const double each = measured.seconds / static_cast<double>(ask.frames);
  fmt::print("{:6} {:5} {:>9} B  ", ask.transport, ask.security, ask.bytes);
  if (ask.connections > 1)
    fmt::print("{} connections {:.3f} s\n", ask.connections, measured.seconds);
  else if (ask.answers_each == 1)
    fmt::print("round trip {:9.2f} us\n", each * 1e6);
  else
    fmt::print("one way    {:9.2f} us  {:6.2f} GB/s  {:6.2f} processor s/GB\n", each * 1e6,
               static_cast<double>(ask.bytes) / each / 1e9,
               measured.processor / static_cast<double>(ask.frames * ask.bytes) * 1e9);
}

/// Returns the measurement of tuples that are sent one way. About 256 MiB are sent per repetition,
/// in at most 20,000 tuples.
Ask one_way(const std::string& transport, const std::string& security, const std::string& size) {
  const auto bytes = base::parse_bytes(size);
  if (!bytes || *bytes == 0)
    throw CLI::ValidationError("--bytes", fmt::format("'{}' is no size", size));
  const std::uint64_t frames = std::clamp<std::uint64_t>((256 << 20) / *bytes, 1, 20'000);
  return {transport, security, *bytes, frames, 5, frames};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Two processes of this machine and the transports between them."};
  std::vector<std::string> transports{"tcp", "ipc", "memory"};
  app.add_option("--transport", transports, "tcp, ipc, memory")
      ->check(CLI::IsMember({"tcp", "ipc", "memory"}));
  std::vector<std::string> modes{"plain", "run", "keys"};
  app.add_option("--security", modes, "protection of tcp: plain, run, keys")
      ->check(CLI::IsMember({"plain", "run", "keys"}));
  std::vector<std::string> sizes{"1KiB", "64KiB", "1MiB", "4MiB", "16MiB", "64MiB"};
  app.add_option("--bytes", sizes, "sizes of the tuples that are sent one way, such as 64KiB");
  std::size_t connections = 1000;
  app.add_option("--connections", connections, "connections of tcp to make, 0 = none");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& transport : transports) {
    const bool is_tcp = transport == "tcp";
    for (const std::string& security : is_tcp ? modes : std::vector<std::string>{""}) {
      run({transport, security, 8, 5000});
      for (const std::string& size : sizes) run(one_way(transport, security, size));
      if (is_tcp && connections > 1)
        run({.transport = transport, .security = security, .connections = connections});
    }
  }
  return 0;
}
