// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/system_call.hpp — check of the result of a system call.
#pragma once
#include <cerrno>
#include <system_error>

namespace paths {

/// Returns `result`, the result of a system call.
/// Throws: std::system_error if `result` is negative; `what` names the call in the error text.
inline int check_system_call(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace paths
