// SPDX-License-Identifier: Apache-2.0
// base/descriptor.cpp — closing of a file descriptor
#include "base/descriptor.hpp"

#include <unistd.h>

namespace base {

void Descriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace base
