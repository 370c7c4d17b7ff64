// SPDX-License-Identifier: Apache-2.0
// base/usage_error.hpp — the exception for incorrect use of the library
#pragma once
#include <stdexcept>
#include <string>

namespace base {

/// A mistake in the calling program, such as a move on a released path. It is distinct from bad
/// input, a failing environment and bugs of the library. what() begins with the running thread or
/// fiber, and the time: "thread alpha-0/3 at 12.5ms: ...". If a thread does not catch this
/// exception, the thread and its run fail.
class UsageError : public std::logic_error {
 public:
  explicit UsageError(const std::string& mistake);
  const std::string& mistake() const { return mistake_; }  ///< what() without thread and time

 private:
  std::string mistake_;
};

}  // namespace base
