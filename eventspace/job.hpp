// SPDX-License-Identifier: Apache-2.0
// eventspace/job.hpp — what a wrapper is there for, as far as those who read a trace must know.
#pragma once
#include <cstdint>
#include <string_view>

namespace eventspace {

enum class Job : std::uint8_t {
  other,      ///< passes on what comes: nothing that an analysis tells apart
  join,       ///< paths meet in it and are one below
  crossing,   ///< the path goes on at another host
  link,       ///< an emulated link: what passes is delayed
  check,      ///< decides for a cluster from what the others tell
  gate,       ///< answers some rounds itself, so that they go no further
  store,      ///< ends a path in an element
  prefetch,   ///< begins a path: brings up what is at its end
  push,       ///< begins a path: sends what comes into an element down to its end
  collector,  ///< records what passes
};

std::string_view job_name(Job job);
/// Job::other for a word of a later version.
Job job_named(std::string_view word);

}  // namespace eventspace
