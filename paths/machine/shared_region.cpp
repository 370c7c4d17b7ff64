// SPDX-License-Identifier: Apache-2.0
// paths/machine/shared_region.cpp — layout and mapping of a region
#include "paths/machine/shared_region.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "base/sealed_memory.hpp"

namespace paths {
namespace {

constexpr std::uint64_t magic_number = 0x5041'5448'5331'0003;  // each layout has a different number
constexpr std::size_t page_bytes = 4096;
/// Distance in bytes between the begins of two chunks. This distance is not a power of two, because
/// equal positions in all chunks would then compete for the same lines of a cache.
constexpr std::size_t chunk_stride_bytes = SharedRegion::chunk_bytes + page_bytes;

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

/// Start of a region, before the memory of large values. In a new region, everything except the
/// magic number is zero.
struct SharedRegion::Head {
  std::uint64_t magic;
  Gate gate;
  alignas(64) std::atomic<std::uint64_t> sleepers;
  std::atomic<std::uint64_t> first_failed;
  std::array<Announced, slots> broadcasts;
  std::array<Seat, members_max> seats;

  static constexpr std::size_t bytes() {
    return (sizeof(Head) + page_bytes - 1) / page_bytes * page_bytes;
  }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::size_t SharedRegion::bytes_of(std::uint32_t members) {
  return Head::bytes() + (slots + posts * std::size_t{members}) * slot_bytes +
         2 * (1 + std::size_t{members}) * chunk_stride_bytes;
}

SharedRegion::SharedRegion(base::Descriptor descriptor, std::uint32_t members)
    : descriptor_(std::move(descriptor)), members_(members) {
  void* const mapped =
      mmap(nullptr, bytes_of(members), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (mapped == MAP_FAILED) fail(errno, "shared memory cannot be mapped");
  base_ = static_cast<std::byte*>(mapped);
}

SharedRegion SharedRegion::make(std::uint32_t members) {
  ENSURE(members > 0 && members <= members_max);
  SharedRegion region(base::make_sealed_memory("paths-region", bytes_of(members)), members);
  region.head().magic = magic_number;
  return region;
}

SharedRegion SharedRegion::map(base::Descriptor descriptor, std::uint32_t members) {
  ENSURE(members > 0 && members <= members_max);
  // If another process could shrink the memory, a read beyond its end would kill this process.
  if (!base::is_sealed_memory(descriptor, bytes_of(members)))
    fail(EINVAL, "the memory is not a region of this group");
  SharedRegion region(std::move(descriptor), members);
  if (region.head().magic != magic_number) fail(EINVAL, "the memory is not a region");
  return region;
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      members_(std::exchange(other.members_, 0)),
      base_(std::exchange(other.base_, nullptr)) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(members_, other.members_);
  std::swap(base_, other.base_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (base_ != nullptr) munmap(base_, bytes_of(members_));
}

SharedRegion::Head& SharedRegion::head() const { return *reinterpret_cast<Head*>(base_); }
SharedRegion::Gate& SharedRegion::gate() const { return head().gate; }
std::atomic<std::uint64_t>& SharedRegion::sleepers() const { return head().sleepers; }
std::atomic<std::uint64_t>& SharedRegion::first_failed() const { return head().first_failed; }
SharedRegion::Seat& SharedRegion::seat(std::uint32_t member) const { return head().seats[member]; }
SharedRegion::Announced& SharedRegion::slot(std::uint32_t broadcast) const {
  return head().broadcasts[broadcast % slots];
}

std::byte* SharedRegion::far_slot(std::uint32_t broadcast) const {
  return base_ + Head::bytes() + std::size_t{broadcast % slots} * slot_bytes;
}

std::byte* SharedRegion::far_post(std::uint32_t member, std::uint64_t post) const {
  return base_ + Head::bytes() + (slots + posts * std::size_t{member} + post % posts) * slot_bytes;
}

std::byte* SharedRegion::chunk(std::size_t number) const {
  return far_post(members_, 0) + number * chunk_stride_bytes;
}

std::byte* SharedRegion::far_result(std::uint32_t round) const { return chunk(round % 2); }

std::byte* SharedRegion::far_given(std::uint32_t member, std::uint32_t round) const {
  return chunk(2 * (1 + std::size_t{member}) + round % 2);
}

}  // namespace paths
