// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_scene.hpp — a shared space with several processes of a test.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "pastset/shared/space.hpp"
#include "pastset/tuple.hpp"
#include "runtime/random.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/forked.hpp"

namespace shared_space_scene {

using pastset::SharedSpace;
using pastset::Template;
using test_support::Between;
using test_support::Forked;
using test_support::on_steady_clock;
using test_support::pause;
using namespace std::chrono_literals;

inline std::string own_name() {
  static int count = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

inline runtime::Deadline soon(const runtime::Runtime& runtime, base::Nanos span = 20s) {
  return runtime::Deadline::written_at(runtime.now() + span);
}

/// Returns a duplicate of `descriptor`, for the same memory.
inline base::Descriptor again(int descriptor) { return base::Descriptor(dup(descriptor)); }

/// Returns a read-only mapping of the memory of `space`.
inline std::unique_ptr<SharedSpace> for_reading(const SharedSpace& space) {
  const std::string path = "/proc/self/fd/" + std::to_string(space.descriptor());
  return SharedSpace::map(base::Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

inline const Template values = *Template::parse("u64[]");

/// Returns a tuple of `count` values, all equal to `value`. The size of a tuple decides where it is
/// stored: in its slot, in shared extents, or, if the element has little memory, in extents of its
/// own.
inline base::Payload tuple_of(std::uint64_t value, std::size_t count) {
  const std::vector<std::uint64_t> all(count, value);
  return pastset::TupleWriter(values).put_array<std::uint64_t>(all).payload();
}
inline base::Payload tuple_of(std::uint64_t value) {
  return tuple_of(value, value % 4 == 0 ? 1 + value % 900 : 1);
}

/// Returns a tuple with the bytes of `tuple`, written directly in the element's memory.
inline base::Payload built_in(pastset::Element& element, const base::Payload& tuple) {
  base::Buffer buffer = element.buffer(tuple.size());
  std::memcpy(buffer.bytes().data(), tuple.bytes().data(), tuple.size());
  return std::move(buffer).freeze();
}

/// Returns the value of which a tuple consists. Throws if the values of the tuple differ, as after
/// a torn write.
inline std::uint64_t value_of(const pastset::Stored& stored) {
  const auto all = pastset::TupleReader(values, stored.payload).get_array<std::uint64_t>(0);
  if (all.empty() || std::count(all.begin(), all.end(), all[0]) != std::ssize(all))
    throw std::runtime_error("a torn tuple");
  return all[0];
}

/// Maps a space that another process is about to make. Waits until the space exists.
inline std::unique_ptr<SharedSpace> map_when_there(runtime::Runtime& runtime,
                                                   const std::string& name,
                                                   const SharedSpace::Options& options = {},
                                                   base::Nanos patience = 20s) {
  for (const base::Nanos end = runtime.now() + patience;;) {
    try {
      return SharedSpace::map(name, options);
    } catch (const pastset::SharedSpaceError&) {
      if (runtime.now() > end) throw;
      runtime.sleep_for(2ms);
    }
  }
}

/// Throws if `is_so` is false. Replaces the checks of Catch2 in child processes, where Catch2
/// cannot report a failure.
inline void expect(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

template <class Is>
void wait_until(runtime::Runtime& runtime, const Is& is) {
  for (const base::Nanos end = runtime.now() + 20s; !is(); runtime.sleep_for(1ms))
    expect(runtime.now() < end, "it does not become so");
}

/// Waits until another process has entered the element. Returns the element.
inline std::shared_ptr<pastset::Element> find_when_there(runtime::Runtime& runtime,
                                                         SharedSpace& space,
                                                         const std::string& element = "e") {
  wait_until(runtime, [&] { return space.find(element) != nullptr; });
  return space.find(element);
}

/// Starts a process that waits until another process has entered the element. The process then
/// calls `act` with the element.
inline Forked process_with(const std::string& name,
                           const std::function<void(runtime::Runtime&, pastset::Element&)>& act,
                           const std::string& element = "e") {
  return Forked([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name);
    act(runtime, *find_when_there(runtime, *space, element));
  });
}

inline runtime::Task start(runtime::Runtime& runtime, std::function<void()> work) {
  return runtime.spawn(runtime::ContextRole::thread, {"other"}, std::move(work));
}

}  // namespace shared_space_scene
