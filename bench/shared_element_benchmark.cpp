// SPDX-License-Identifier: Apache-2.0
// bench/shared_element_benchmark.cpp — speed of elements in memory that two processes share
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/descriptor.hpp"
#include "pastset/local_element.hpp"
#include "pastset/shared/space.hpp"
#include "paths/config/config.hpp"
#include "paths/run/session.hpp"
#include "runtime/runtime.hpp"
#include "wrappers/all.hpp"

namespace {

using pastset::Element;
using pastset::SharedSpace;

base::Payload payload_of(std::int64_t bytes) {
  return base::Payload::copy_of(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
}

const pastset::Template any_value = *pastset::Template::parse("u64");

std::unique_ptr<SharedSpace> make_space(std::size_t bytes = std::size_t{64} << 20) {
  return SharedSpace::make("benchmark-" + std::to_string(getpid()), {.bytes = bytes});
}

/// A child process, which runs a function. It ends when the function returns, or when the
/// destructor of this object kills it.
class Other {
 public:
  explicit Other(const std::function<void()>& act) : pid_(fork()) {
    if (pid_ != 0) return;
    act();
    _exit(0);
  }
  /// Creates a child process that maps the space.
  Other(const SharedSpace& space, runtime::Waiting waiting,
        const std::function<void(SharedSpace&)>& act)
      : Other([&] {
          runtime::Runtime runtime({.waiting = waiting});
          runtime.run([&] { act(*SharedSpace::map(base::Descriptor(dup(space.descriptor())))); });
        }) {}
  ~Other() {
    if (!is_over_) kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  void ends_by_itself() { is_over_ = true; }

 private:
  const pid_t pid_;
  bool is_over_ = false;
};

/// Returns a tuple of zeros. The zeros are written directly into the memory that `where`.buffer()
/// returns. `where` is an element or a path.
template <class Where>
base::Payload built_in(Where& where, std::int64_t bytes) {
  base::Buffer buffer = where.buffer(static_cast<std::size_t>(bytes));
  std::memset(buffer.bytes().data(), 0, buffer.size());
  return std::move(buffer).freeze();
}

enum Makes : std::int64_t { copied, written_in_place, handed_on };
constexpr std::array<const char*, 3> made{"copied", "written in place", "handed on"};

/// Reads one byte of each cache line, so that all bytes pass through the processor's cache.
void touch(std::span<const std::byte> bytes) {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 64) sum += static_cast<std::size_t>(bytes[at]);
  benchmark::DoNotOptimize(sum);
}

void move_alone(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  for (auto _ : state) benchmark::DoNotOptimize(element->move(payload));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_alone);

void move_alone_in_this_process(benchmark::State& state) {
  pastset::LocalElement element("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  for (auto _ : state) benchmark::DoNotOptimize(element.move(payload));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_alone_in_this_process);

void move_observe_and_axe_alone(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value);
  const base::Payload payload = payload_of(8);
  for (auto _ : state) {
    const std::uint64_t number = element->move(payload);
    benchmark::DoNotOptimize(element->observe());
    element->axe(number);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_observe_and_axe_alone);

/// Measures the rate at which two processes together move tuples into one element.
void two_movers(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  const Other other(*space, runtime::Waiting::adaptive, [&](SharedSpace& own) {
    const auto same = own.enter("e", any_value);
    for (;;) same->move(payload);
  });
  while (element->last() == 0) {
  }
  const std::uint64_t before = element->last();
  for (auto _ : state) benchmark::DoNotOptimize(element->move(payload));
  state.SetItemsProcessed(static_cast<std::int64_t>(element->last() - before));
}
BENCHMARK(two_movers)->UseRealTime();

enum Wait : std::int64_t { looking_then_sleeping, sleeping, spinning };
constexpr std::array<const char*, 3> words{"looking, then sleeping", "sleeping", "spinning"};

pastset::Stored observe(Element& element, std::int64_t wait) {
  if (wait != spinning) return element.observe();
  for (;;)
    if (auto stored = element.try_observe()) return std::move(*stored);
}

/// Measures a round trip: sends a tuple to the other process, which sends a tuple back.
void there_and_back(benchmark::State& state) {
  const std::int64_t wait = state.range(0);
  const auto waiting =
      wait == looking_then_sleeping ? runtime::Waiting::adaptive : runtime::Waiting::sleep;
  const auto space = make_space();
  const pastset::ElementOptions few{.delta = 4};
  const auto there = space->enter("there", any_value, few);
  const auto back = space->enter("back", any_value, few);
  const base::Payload payload = payload_of(8);
  const auto take = [wait](Element& element) { element.axe(observe(element, wait).number); };
  const Other other(*space, waiting, [&](SharedSpace& own) {
    const auto from = own.enter("there", any_value), to = own.enter("back", any_value);
    for (;;) {
      take(*from);
      to->move(payload);
    }
  });
  runtime::Runtime runtime({.waiting = waiting});
  runtime.run([&] {
    for (auto _ : state) {
      there->move(payload);
      take(*back);
    }
  });
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(words.at(static_cast<std::size_t>(wait)));
}
BENCHMARK(there_and_back)->ArgName("waiting")->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

/// Measures large tuples. One process moves a tuple into the element. Depending on `makes`, this
/// process copies the tuple, writes the tuple directly into the element, or forwards a tuple that
/// is already there. The other process reads each cache line of the tuple in the element.
void large_tuples(benchmark::State& state) {
  const std::int64_t makes = state.range(0), bytes = state.range(1);
  const auto any = *pastset::Template::parse("u8[" + std::to_string(bytes) + "]");
  const auto space = make_space(std::size_t{256} << 20);
  const auto element =
      space->enter("e", any, {.delta = 2}, {.slots = 8, .arena_bytes = std::size_t{160} << 20});
  const base::Payload payload = makes == handed_on ? built_in(*element, bytes) : payload_of(bytes);
  const Other other(*space, runtime::Waiting::adaptive, [&](SharedSpace& own) {
    const auto same = own.enter("e", any);
    for (;;) {
      const pastset::Stored stored = same->observe();
      touch(stored.payload.bytes());
      same->axe(stored.number);
    }
  });
  runtime::Runtime runtime;
  runtime.run([&] {
    for (auto _ : state)
      element->move(makes == written_in_place ? built_in(*element, bytes) : payload);
  });
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetLabel(made.at(static_cast<std::size_t>(makes)));
}
BENCHMARK(large_tuples)
    ->ArgNames({"made", "bytes"})
    ->ArgsProduct({{copied, written_in_place, handed_on}, {1 << 20, 32 << 20}})
    ->UseRealTime();

// ---- paths between two host processes -----------------------------------------------------------

std::shared_ptr<const paths::Plan> two_hosts(bool maps, std::int64_t wait, std::int64_t bytes) {
  const std::string text = fmt::format(R"(
network: {{transport: ipc}}
waiting: {0}
clusters: {{pair: {{hosts: [here, far], threads: 1}}}}
elements:
  there: {{host: far, template: u64, keep_newest: 1, shared: {1}, reach: all}}
  back: {{host: here, template: u64, keep_newest: 1, shared: {1}, reach: all}}
  large: {{host: far, template: "u8[{2}]", delta: 2, shared: {1}, reach: all}}
)",
                                       wait == sleeping ? "sleep" : "adaptive", maps, bytes);
  return std::make_shared<const paths::Plan>(paths::read_plan(
      base::parse_settings(text, "shared_element_benchmark"), wrappers::all_kinds()));
}

void be_host(const std::shared_ptr<const paths::Plan>& plan, std::uint32_t host,
             const std::function<void(paths::Thread&)>& act) {
  paths::Session session(plan, wrappers::all_kinds(), {.is_one_host = true, .host = host});
  paths::Attached attached = session.attach(plan->hosts[host].name, 0);
  act(attached.thread());
  attached.detach();
  for (const std::string& failure : session.end()) throw std::runtime_error(failure);
}

constexpr std::uint64_t last_value = 0;

void path_there_and_back(benchmark::State& state) {
  const auto plan = two_hosts(state.range(0) != 0, state.range(1), 1);
  Other far([&] {
    be_host(plan, 1, [](paths::Thread& thread) {
      paths::Path &there = thread.path("there"), &back = thread.path("back");
      for (std::uint64_t value = 1; value != last_value;) {
        value = there.observe().payload.read<std::uint64_t>();
        back.move_value(value);
      }
    });
  });
  be_host(plan, 0, [&](paths::Thread& thread) {
    paths::Path &there = thread.path("there"), &back = thread.path("back");
    const auto go = [&](std::uint64_t value) {
      there.move_value(value);
      back.observe();
    };
    for (auto _ : state) go(1);
    go(last_value);
  });
  far.ends_by_itself();
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(words.at(static_cast<std::size_t>(state.range(1))));
}
BENCHMARK(path_there_and_back)
    ->ArgNames({"mapped", "waiting"})
    ->ArgsProduct({{0, 1}, {looking_then_sleeping, sleeping}})
    ->UseRealTime();

void path_of_large_tuples(benchmark::State& state) {
  const std::int64_t makes = state.range(1), bytes = state.range(2);
  const auto plan = two_hosts(state.range(0) != 0, looking_then_sleeping, bytes);
  Other far([&] {
    be_host(plan, 1, [](paths::Thread& thread) {
      paths::Path& large = thread.path("large");
      for (bool goes_on = true; goes_on;) {
        const pastset::Stored stored = large.observe();
        touch(stored.payload.bytes());
        goes_on = stored.payload.bytes()[0] == std::byte{0};
        large.axe(stored.number);
      }
    });
  });
  be_host(plan, 0, [&](paths::Thread& thread) {
    paths::Path& large = thread.path("large");
    const base::Payload payload = payload_of(bytes);
    large.first();  // makes the path find its element before the measurement
    for (auto _ : state) large.move(makes == written_in_place ? built_in(large, bytes) : payload);
    large.move(base::Payload::copy_of(
        std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte{1})));
  });
  far.ends_by_itself();
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetLabel(made.at(static_cast<std::size_t>(makes)));
}
BENCHMARK(path_of_large_tuples)
    ->ArgNames({"mapped", "made", "bytes"})
    ->ArgsProduct({{0, 1}, {copied, written_in_place}, {1 << 20, 32 << 20}})
    ->UseRealTime();

// ---- sockets ------------------------------------------------------------------------------------

std::array<base::Descriptor, 2> two_sockets() {
  int both[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0) throw std::runtime_error("no sockets");
  return {base::Descriptor(both[0]), base::Descriptor(both[1])};
}

void write_all(const base::Descriptor& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(to.get(), bytes.data(), bytes.size());
    if (written <= 0) throw std::runtime_error("nobody reads");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void read_all(const base::Descriptor& from, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = read(from.get(), bytes.data(), bytes.size());
    if (got <= 0) throw std::runtime_error("nobody writes");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void socket_there_and_back(benchmark::State& state) {
  const auto sockets = two_sockets();
  std::array<std::byte, 8> value{};
  const Other other([&] {
    for (;;) {
      read_all(sockets[1], value);
      write_all(sockets[1], value);
    }
  });
  for (auto _ : state) {
    write_all(sockets[0], value);
    read_all(sockets[0], value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(socket_there_and_back)->UseRealTime();

void socket_of_large_tuples(benchmark::State& state) {
  const auto sockets = two_sockets();
  std::vector<std::byte> tuple(static_cast<std::size_t>(state.range(0)));
  const Other other([&] {
    for (;;) {
      read_all(sockets[1], tuple);
      touch(tuple);
    }
  });
  for (auto _ : state) write_all(sockets[0], tuple);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(socket_of_large_tuples)->Arg(1 << 20)->Arg(32 << 20)->UseRealTime();

}  // namespace
