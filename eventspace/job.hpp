// SPDX-License-Identifier: Apache-2.0
// eventspace/job.hpp — purposes of wrappers that trace readers distinguish.
#pragma once
#include <cstdint>
#include <string_view>

namespace eventspace {

/// Purpose of a wrapper, as far as an analysis needs it.
enum class Job : std::uint8_t {
  other,      ///< passes operations on without an effect that an analysis distinguishes
  join,       ///< merges several paths, which continue below it as one path
  crossing,   ///< continues the path on another host
  link,       ///< emulated link, which delays messages
  check,      ///< condition check, which uses values of other clusters for its decision
  gate,       ///< replies to some rounds itself; these do not continue down the path
  store,      ///< ends a path in an element
  prefetch,   ///< begins a path and fetches tuples from the element at its end
  push,       ///< begins a path and sends the tuples of an element down to its end
  collector,  ///< records the operations that pass
};

std::string_view job_name(Job job);
/// Returns the Job with the name `word`. Returns Job::other if the name is unknown. A trace of a
/// later version may have unknown names.
Job job_named(std::string_view word);

}  // namespace eventspace
