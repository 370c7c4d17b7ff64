// SPDX-License-Identifier: Apache-2.0
// base/usage_error.hpp — a program used the library in a way that it must not.
#pragma once
#include <stdexcept>
#include <string>

namespace base {

/// The fourth kind of error beside bad input, a failing world and our own bugs: a mistake in the
/// program, such as moving along a path that was released. what() begins with who was running,
/// "thread alpha-0/3 at 12.5ms: ...". A thread that lets it pass fails, and so does its run.
class UsageError : public std::logic_error {
 public:
  explicit UsageError(const std::string& mistake);
  const std::string& mistake() const { return mistake_; }  ///< without who was running

 private:
  std::string mistake_;
};

}  // namespace base
