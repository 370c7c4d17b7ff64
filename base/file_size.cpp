// SPDX-License-Identifier: Apache-2.0
// base/file_size.cpp — ftruncate() after a check of the limit
#include "base/file_size.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace base {

bool set_file_size(int descriptor, std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    errno = EFBIG;
    return false;
  }
  return ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
}

}  // namespace base
