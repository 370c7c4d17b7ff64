// SPDX-License-Identifier: Apache-2.0
// base/file_size.hpp — the size of a file that has a descriptor.
#pragma once
#include <cstdint>

namespace base {

/// As ftruncate(), but a size beyond `ulimit -f` is an error, EFBIG. The system would end the
/// process by SIGXFSZ. Returns false, with errno, when the file does not have that size.
bool set_file_size(int descriptor, std::uint64_t bytes);

}  // namespace base
