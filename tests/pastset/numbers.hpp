// SPDX-License-Identifier: Apache-2.0
// tests/pastset/numbers.hpp — tuples of one number, and fibers that move or read them.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "pastset/element.hpp"
#include "runtime/runtime.hpp"

namespace test_support {

inline const pastset::Template number = *pastset::Template::parse("u64");

inline base::Payload tuple(std::uint64_t value) { return base::Payload::of(value); }

inline std::uint64_t value_of(const pastset::Stored& stored) {
  return stored.payload.read<std::uint64_t>();
}

inline runtime::Task start(runtime::Runtime& runtime, std::uint64_t which,
                           std::function<void()> work) {
  return runtime.spawn(runtime::ContextRole::thread, {"thread", "t", which}, std::move(work));
}

}  // namespace test_support
