// SPDX-License-Identifier: Apache-2.0
// bench/transport_rates.cpp — round trips and throughput of transports between two processes
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
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
  std::size_t bytes = 8;
  std::uint64_t frames = 1000;  // frames per repetition
  std::uint64_t repetitions = 7;
  std::uint64_t answers_each = 1;  // number of frames per reply; 1 = round trips
};

/// Returns the run key. Both processes have the same key, because the first call of this function
/// precedes fork().
const RunKey& run_key() {
  static const RunKey key(Secret::random());
  return key;
}

std::unique_ptr<Transport> make(runtime::Runtime& runtime, const Ask& ask, std::uint32_t host) {
  auto peers = std::make_shared<Peers>();
  for (int i = 0; i < 2; ++i) {
    const bool is_tcp = ask.transport == "tcp" || ask.transport == "curve";
    const std::string address = is_tcp ? fmt::format("tcp://127.0.0.1:{}", 7790 + i)
                                       : fmt::format("ipc://transport-rates-{}", i);
    peers->hosts.push_back({fmt::format("alpha-{}", i), address, 0});
  }
  if (ask.transport == "curve") peers->keyring = std::make_shared<const Keyring>(run_key());
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

/// Returns the seconds of each repetition, sorted.
std::vector<double> measure(const Ask& ask) {
  std::vector<double> seconds;
  runtime::Runtime runtime;
  runtime.run([&] {
    Counter counter;
    auto transport = make(runtime, ask, 0);
    transport->start(counter);
    const ConnectionId connection = transport->connect(1);
    Frame frame;
    frame.kind = FrameKind::one_way;
    frame.operation.payload = base::Payload::filled(
        ask.bytes, [](auto space) { std::fill(space.begin(), space.end(), std::byte{1}); });
    std::uint64_t awaited = 0;
    for (std::uint64_t repetition = 0; repetition <= ask.repetitions; ++repetition) {
      const base::Nanos began = runtime.now();
      for (std::uint64_t i = 0; i < ask.frames; ++i) {
        frame.call = i;
        transport->send(connection, paths::Frame(frame));
        if (i % ask.answers_each == ask.answers_each - 1) counter.await(++awaited);
      }
      const double span = std::chrono::duration<double>(runtime.now() - began).count();
      if (repetition > 0) seconds.push_back(span);  // repetition 0 is a warm-up
    }
  });
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

void run(const Ask& ask) {
  run_key();
  const pid_t far = fork();  // forks before any thread exists
  if (far == 0) {
    answer(ask);
    _exit(0);
  }
  const auto seconds = measure(ask);
  kill(far, SIGKILL);
  waitpid(far, nullptr, 0);
  const double each = seconds[seconds.size() / 2] / static_cast<double>(ask.frames);
  if (ask.answers_each == 1)
    fmt::print("{:7} {:>9} B  round trip {:9.2f} us\n", ask.transport, ask.bytes, each * 1e6);
  else
    fmt::print("{:7} {:>9} B  one way    {:9.2f} us  {:6.2f} GB/s\n", ask.transport, ask.bytes,
               each * 1e6, static_cast<double>(ask.bytes) / each / 1e9);
}

/// Returns the measurement of tuples that are sent one way. About 256 MiB are sent per repetition,
/// in at most 20,000 tuples.
Ask one_way(const std::string& transport, const std::string& size) {
  const auto bytes = base::parse_bytes(size);
  if (!bytes || *bytes == 0)
    throw CLI::ValidationError("--bytes", fmt::format("'{}' is no size", size));
  const std::uint64_t frames = std::clamp<std::uint64_t>((256 << 20) / *bytes, 1, 20'000);
  return {transport, *bytes, frames, 5, frames};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Two processes of this machine and the transports between them."};
  std::vector<std::string> transports{"tcp", "curve", "ipc", "memory"};
  app.add_option("--transport", transports, "tcp, curve (TCP with encryption), ipc, memory");
  std::vector<std::string> sizes{"8", "64KiB", "1MiB", "4MiB", "16MiB", "64MiB"};
  app.add_option("--bytes", sizes, "sizes of the tuples that are sent one way, such as 64KiB");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& transport : transports) {
    run({transport, 8, 5000});
    for (const std::string& size : sizes) run(one_way(transport, size));
  }
  return 0;
}
