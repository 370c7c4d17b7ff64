// SPDX-License-Identifier: Apache-2.0
// tests/runtime/contexts.hpp — names for fibers of tests, and an object that counts its
// destructions.
#pragma once
#include <cstdint>

#include "runtime/runtime.hpp"

namespace test_support {

inline runtime::ContextName named(std::uint64_t number) { return {"thread", "alpha-0", number}; }

/// Object whose destructor increments `count`.
template <class Count>
struct CountEnd {
  Count& count;
  ~CountEnd() { ++count; }
};

}  // namespace test_support
