// SPDX-License-Identifier: Apache-2.0
// base/file_size.hpp — setting of the size of an open file
#pragma once
#include <cstdint>

namespace base {

/// Sets the size like ftruncate(). Returns false with errno on failure. A size beyond `ulimit -f`
/// gives the error EFBIG, whereas ftruncate() would end the process with SIGXFSZ.
bool set_file_size(int descriptor, std::uint64_t bytes);

}  // namespace base
