// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/system_call.hpp — check of the result of a system call.
#pragma once
#include <cerrno>
#include <system_error>

namespace paths {

/// Returns the result. Throws: std::system_error if it is negative; `what` names the call.
inline int check_system_call(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace paths
