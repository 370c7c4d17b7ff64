// SPDX-License-Identifier: Apache-2.0
// paths/machine/shared_region.hpp — memory that the hosts of one group on one machine share
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/descriptor.hpp"

namespace paths {

/// Processes of one machine can fold values where they lie, without messages. A SharedRegion is the
/// memory for that: a seat for each member, one gate, and slots for broadcasts. It has no name in
/// any file system. The kernel frees it when the last member has unmapped it or has ended.
///
/// Each cache line is written by one member at a time. Any member may write wrong values anywhere
/// in the region at any time. Readers therefore take only values and digests from it, and never a
/// length, a position or a member's number without a check.
///
/// Owns: the mapping.
class SharedRegion {
 public:
  static constexpr std::uint32_t members_max = 64;
  /// Largest value of a member. Small values are in the cache line
  /// of the words that announce them.
  static constexpr std::size_t value_bytes_max = std::size_t{16} << 10, near_bytes = 48;
  static constexpr std::uint32_t slots = 64;
  static constexpr std::size_t text_bytes = 256;

  /// The gate that all members pass in each round. The last member to arrive opens it.
  struct Gate {
    alignas(64) std::atomic<std::uint32_t> arrived;  ///< members that have arrived in this round
    alignas(64) std::atomic<std::uint32_t> round;    ///< rounds that have ended
    std::atomic<std::uint32_t> last;                 ///< member that arrived last in that round
    alignas(16) std::array<std::byte, near_bytes> result;
  };
  /// A value, with the words that announce it.
  struct Announced {
    alignas(64) std::atomic<std::uint64_t> digest;  ///< digest of the operation
    std::atomic<std::uint32_t> number;  ///< number of the round or broadcast + 1; 0 = none yet
    alignas(16) std::array<std::byte, near_bytes> near;
  };
  /// Words of one member. Values of successive rounds alternate between two places, because others
  /// may still read the value of the last round when this member arrives in the next one.
  struct Seat {
    std::array<Announced, 2> given;
    /// Number of broadcasts that this member has taken or given.
    alignas(64) std::atomic<std::uint32_t> taken;
    /// Text of this member's call, for error messages; ends with a zero.
    alignas(64) std::array<std::atomic<char>, text_bytes> text;
  };

  /// Makes a region for that many members. Throws std::system_error.
  static SharedRegion make(std::uint32_t members);
  /// Maps memory that another member made. Throws std::system_error, also if the memory is not a
  /// region of that many members, or could shrink.
  static SharedRegion map(base::Descriptor descriptor, std::uint32_t members);
  SharedRegion() = default;
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  std::uint32_t members() const { return members_; }
  const base::Descriptor& descriptor() const { return descriptor_; }
  void close_descriptor() { descriptor_.close(); }  ///< the mapping stays

  Gate& gate() const;
  /// Members that sleep, as bits.
  std::atomic<std::uint64_t>& sleepers() const;
  /// 1 if an operation has failed. No operation begins afterwards.
  std::atomic<std::uint32_t>& failed() const;
  Seat& seat(std::uint32_t member) const;
  Announced& slot(std::uint32_t broadcast) const;
  /// Return the memory of the values that are larger than near_bytes: value_bytes_max bytes each.
  std::byte* far_result() const;
  std::byte* far_given(std::uint32_t member, std::uint32_t round) const;
  std::byte* far_slot(std::uint32_t broadcast) const;

 private:
  struct Head;
  SharedRegion(base::Descriptor descriptor, std::uint32_t members);
  static std::size_t bytes_of(std::uint32_t members);
  Head& head() const;
  base::Descriptor descriptor_;
  std::uint32_t members_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace paths
