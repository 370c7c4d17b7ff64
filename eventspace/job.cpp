// SPDX-License-Identifier: Apache-2.0
// eventspace/job.cpp — names of the jobs, in the order of the enum.
#include "eventspace/job.hpp"

#include <algorithm>
#include <array>

namespace eventspace {
namespace {

constexpr std::array<std::string_view, 10> names = {
    "other", "join", "crossing", "link", "check", "gate", "store", "prefetch", "push", "collector"};
static_assert(names.size() == static_cast<std::size_t>(Job::collector) + 1);

}  // namespace

std::string_view job_name(Job job) { return names.at(static_cast<std::size_t>(job)); }

Job job_named(std::string_view word) {
  const auto found = std::find(names.begin(), names.end(), word);
  return found == names.end() ? Job::other : static_cast<Job>(found - names.begin());
}

}  // namespace eventspace
