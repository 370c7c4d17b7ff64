// SPDX-License-Identifier: Apache-2.0
// base/sealed_memory.cpp — memory behind a descriptor, its seals and its mapping
#include "base/sealed_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

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

MappedSealedMemory::MappedSealedMemory(Descriptor descriptor, std::size_t bytes)
    : descriptor_(std::move(descriptor)) {
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (mapped == MAP_FAILED) fail("shared memory cannot be mapped");
  bytes_ = {static_cast<std::byte*>(mapped), bytes};
}

MappedSealedMemory MappedSealedMemory::make(const char* name, std::size_t bytes) {
  return {make_sealed_memory(name, bytes), bytes};
}

MappedSealedMemory MappedSealedMemory::map(Descriptor descriptor, std::size_t bytes) {
  // If another process could shrink the memory, a read beyond its end would kill this process.
  if (!is_sealed_memory(descriptor, bytes)) {
    errno = EINVAL;
    fail("the memory is not sealed, or has another size");
  }
  return {std::move(descriptor), bytes};
}

MappedSealedMemory::MappedSealedMemory(MappedSealedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedSealedMemory& MappedSealedMemory::operator=(MappedSealedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedSealedMemory::~MappedSealedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace base
