// SPDX-License-Identifier: Apache-2.0
// base/sealed_memory.cpp — memory behind a descriptor, and its seals
#include "base/sealed_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/file_size.hpp"

namespace base {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Descriptor make_sealed_memory(const char* name, std::size_t bytes) {
  Descriptor made(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made) fail("no shared memory");
  if (!set_file_size(made.get(), bytes))
    fail(errno == EFBIG ? "`ulimit -f` forbids shared memory" : "no shared memory of that size");
  if (fcntl(made.get(), F_ADD_SEALS, seals) != 0) fail("shared memory cannot be sealed");
  return made;
}

bool is_sealed_memory(const Descriptor& descriptor, std::size_t bytes) {
  struct stat status {};
  const int found = fcntl(descriptor.get(), F_GET_SEALS);
  return found >= 0 && (found & seals) == seals && fstat(descriptor.get(), &status) == 0 &&
         status.st_size == static_cast<off_t>(bytes);
}

}  // namespace base
