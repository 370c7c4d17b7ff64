// SPDX-License-Identifier: Apache-2.0
// groups/running.cpp — text and digest of an operation
#include "groups/running.hpp"

#include <fmt/format.h>

#include <array>

#include "base/digest.hpp"

namespace groups {

std::string call_text(const GroupView& view, std::uint64_t number, const PreparedCall& prepared) {
  return fmt::format("in operation {} of group {} {} calls '{}'", number, view.name(),
                     view.thread_text(view.place(0)), prepared.signature);
}

std::uint64_t combined_digest(std::uint64_t before, std::uint64_t after) {
  const std::array<std::uint64_t, 2> both{before, after};
  return base::digest_of(std::as_bytes(std::span(both))).low;
}

}  // namespace groups
