// SPDX-License-Identifier: Apache-2.0
// paths/machine/shared_region.cpp — layout and mapping of a region
#include "paths/machine/shared_region.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/errors.hpp"

namespace paths {
namespace {

constexpr std::uint64_t magic_number = 0x5041'5448'5331'0003;  // each layout has a different number
constexpr std::size_t page_bytes = 4096;
/// Distance in bytes between the begins of two chunks. This distance is not a power of two, because
/// equal positions in all chunks would then compete for the same lines of a cache.
constexpr std::size_t chunk_stride_bytes = SharedRegion::chunk_bytes + page_bytes;

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

SharedRegion SharedRegion::make(std::uint32_t members) {
  ENSURE(members > 0 && members <= members_max);
  SharedRegion region(base::MappedSealedMemory::make("paths-region", bytes_of(members)), members);
  region.head().magic = magic_number;
  return region;
}

SharedRegion SharedRegion::map(base::Descriptor descriptor, std::uint32_t members) {
  ENSURE(members > 0 && members <= members_max);
  SharedRegion region(base::MappedSealedMemory::map(std::move(descriptor), bytes_of(members)),
                      members);
  if (region.head().magic != magic_number)
    throw std::system_error(EINVAL, std::generic_category(), "the memory is not a region");
  return region;
}

SharedRegion::Head& SharedRegion::head() const { return *reinterpret_cast<Head*>(begin()); }
SharedRegion::Gate& SharedRegion::gate() const { return head().gate; }
std::atomic<std::uint64_t>& SharedRegion::sleepers() const { return head().sleepers; }
std::atomic<std::uint64_t>& SharedRegion::first_failed() const { return head().first_failed; }
SharedRegion::Seat& SharedRegion::seat(std::uint32_t member) const { return head().seats[member]; }
SharedRegion::Announced& SharedRegion::slot(std::uint32_t broadcast) const {
  return head().broadcasts[broadcast % slots];
}

std::byte* SharedRegion::far_slot(std::uint32_t broadcast) const {
  return begin() + Head::bytes() + std::size_t{broadcast % slots} * slot_bytes;
}

std::byte* SharedRegion::far_post(std::uint32_t member, std::uint64_t post) const {
  return begin() + Head::bytes() +
         (slots + posts * std::size_t{member} + post % posts) * slot_bytes;
}

std::byte* SharedRegion::chunk(std::size_t number) const {
  return far_post(members_, 0) + number * chunk_stride_bytes;
}

std::byte* SharedRegion::far_result(std::uint32_t round) const { return chunk(round % 2); }

std::byte* SharedRegion::far_given(std::uint32_t member, std::uint32_t round) const {
  return chunk(2 * (1 + std::size_t{member}) + round % 2);
}

}  // namespace paths
