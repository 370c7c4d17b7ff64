// SPDX-License-Identifier: Apache-2.0
// paths/machine/shared_region.hpp — memory that the hosts of one group on one machine share
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/sealed_memory.hpp"

namespace paths {

/// Memory in which processes of one machine fold values without messages. The region has a Seat for
/// each member, one Gate, and slots for broadcasts. Large values pass through the region in chunks.
/// A value that only one member reads is posted: the member that gives the value leaves it in its
/// own part of the region until the reader has read it. The region has no name in any file system.
/// The kernel frees the region when the last member has unmapped it or has ended.
///
/// A faulty member may write wrong values anywhere in the region at any time. Readers therefore
/// take only values and digests from the region, but no length and no position, and they check each
/// member number.
///
/// Owns: the mapping.
class SharedRegion {
 public:
  static constexpr std::uint32_t members_max = 64;
  /// Maximum size in bytes of a near value: a value in the same cache line as the digest and number
  /// that announce it.
  static constexpr std::size_t near_bytes = 48;
  /// Maximum size in bytes of a value in a round (chunk_bytes), and of a value in a broadcast or
  /// post (slot_bytes).
  static constexpr std::size_t chunk_bytes = std::size_t{128} << 10,
                               slot_bytes = std::size_t{16} << 10;
  /// Number of slots for broadcasts. The root of a broadcast may be this number of broadcasts ahead
  /// of the slowest member.
  static constexpr std::uint32_t slots = 64;
  /// Maximum number of values that one member has posted and that were not read yet.
  static constexpr std::uint32_t posts = 16;
  static constexpr std::size_t text_bytes = 256;

  /// Gate of a round: every member arrives at the gate, then waits until the gate opens. The last
  /// member to arrive opens the gate.
  struct Gate {
    alignas(64) std::atomic<std::uint32_t> arrived;  ///< number of members that have arrived
    alignas(64) std::atomic<std::uint32_t> round;    ///< number of rounds that have ended
    std::atomic<std::uint32_t> last;  ///< member that arrived last in the latest round
    alignas(16) std::array<std::byte, near_bytes> near;  ///< result of the round, if it fits here
  };
  /// A value, with the digest and number that announce it to other members.
  struct Announced {
    alignas(64) std::atomic<std::uint64_t> digest;  ///< digest of this and all earlier operations
    std::atomic<std::uint32_t> number;  ///< index of the round, broadcast or post, plus 1; 0 = none
    alignas(16) std::array<std::byte, near_bytes> near;
  };
  /// Memory to which one member writes. Values of successive rounds alternate between two places,
  /// because other members may still read the member's value of a round when the member arrives in
  /// the next round.
  struct Seat {
    std::array<Announced, 2> given;
    /// Number of broadcasts that this member has sent (as root) or copied.
    alignas(64) std::atomic<std::uint32_t> taken;
    /// Values that this member has posted.
    std::array<Announced, posts> posted;
    /// For each item of `posted`: number of the last value that its reader has read there. The
    /// reader writes this number.
    alignas(64) std::array<std::atomic<std::uint32_t>, posts> collected;
    /// Text of this member's latest call, for error messages; ends with a zero.
    alignas(64) std::array<std::atomic<char>, text_bytes> text;
  };

  /// Makes a region for `members` members.
  /// Throws: std::system_error if the system refuses the memory.
  static SharedRegion make(std::uint32_t members);
  /// Maps memory that another member made.
  /// Throws: std::system_error if the memory cannot be mapped, if it is not a region of `members`
  ///         members, or if another process could shrink it.
  static SharedRegion map(base::Descriptor descriptor, std::uint32_t members);
  SharedRegion() = default;

  std::uint32_t members() const { return members_; }
  const base::Descriptor& descriptor() const { return memory_.descriptor(); }
  void close_descriptor() { memory_.close_descriptor(); }  ///< the region stays mapped

  Gate& gate() const;
  /// Returns the set of sleeping members: bit n is set if member n sleeps.
  std::atomic<std::uint64_t>& sleepers() const;
  /// Returns the number of the first operation that has failed; 0 if no operation has failed.
  /// Members begin neither this operation nor any later operation.
  std::atomic<std::uint64_t>& first_failed() const;
  Seat& seat(std::uint32_t member) const;
  Announced& slot(std::uint32_t broadcast) const;
  /// Return the memory for a value larger than near_bytes: for the result of a round, or for the
  /// value in a seat, slot or post. Results and values of successive rounds alternate between two
  /// places.
  std::byte* far_result(std::uint32_t round) const;
  std::byte* far_given(std::uint32_t member, std::uint32_t round) const;
  std::byte* far_slot(std::uint32_t broadcast) const;
  std::byte* far_post(std::uint32_t member, std::uint64_t post) const;

 private:
  struct Head;
  SharedRegion(base::MappedSealedMemory memory, std::uint32_t members)
      : memory_(std::move(memory)), members_(members) {}
  static std::size_t bytes_of(std::uint32_t members);
  std::byte* chunk(std::size_t number) const;
  Head& head() const;
  std::byte* begin() const { return memory_.bytes().data(); }
  base::MappedSealedMemory memory_;
  std::uint32_t members_ = 0;
};

}  // namespace paths
